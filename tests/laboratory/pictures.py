"""Make the pictures of the guides from an explorer of scale lite and a report of the demo.

    python -m tests.laboratory.pictures RESULTS

`make pictures` makes both pages first. Each picture of docs/explorer.md is the graph of the address
below it; those in docs/pictures are parts of the pages, light and dark.
"""

import hashlib
import io
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from tests.reporting.conftest import PATIENCE, chromium_path
from workflow import ROOT

GUIDE = ROOT / "docs/explorer.md"
PICTURES = ROOT / "docs/pictures"
SHOWN = re.compile(r'<img src="(explorer/\w+\.svg)".*?```text\n(#\S+)\n```', re.DOTALL)
"""A picture of the guide, and its address."""
DIGEST = "data-made-of"
"""The attribute of a picture with the digest of what it is made of."""
PAINTS = ("fill", "stroke")
GRAPH = "(at) => alone([...document.querySelectorAll('svg.graph')].at(at))"
HIDE = "document.querySelectorAll('.bar, .panel > .small').forEach((it) => it.remove())"
WIDTHS, TALL = {"explorer": 1040, "report": 1140}, 700
"""Pixels across the pages, by their names, and of what is seen of them."""
COLOURS = 96
"""Of a picture of points, which takes a quarter of the room so."""


def shown() -> Mapping[str, str]:
    """Return the address of each picture of the guide, by the picture's place in docs."""
    return dict(SHOWN.findall(GUIDE.read_text(encoding="utf-8")))


def made_of(address: str) -> str:
    """Return the digest of what draws a picture: the page's scripts and styles, and the address."""
    explorer = ROOT / "workflow/explorer"
    files = [*sorted(explorer.glob("page/*.js")), explorer / "style.css"]
    files.append(ROOT / "workflow/report/colours.css")
    content = b"".join(file.read_bytes() for file in files) + address.encode()
    return hashlib.sha256(content).hexdigest()[:16]


def main() -> None:
    """Run from the command line."""
    results = Path(sys.argv[1]).resolve()
    explorer, report = results / "lite/explorer.html", results / "demo/report.html"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox"])
        for place, address in shown().items():
            light, dark = (
                graph(opened(browser, scheme, explorer, address), address)
                for scheme in ("light", "dark")
            )
            text = themed(light, dark).replace("<svg ", f'<svg {DIGEST}="{made_of(address)}" ', 1)
            (GUIDE.parent / place).write_text(text, encoding="utf-8")
        for scheme, end in (("light", ""), ("dark", "-dark")):
            page = opened(browser, scheme, explorer, next(iter(shown().values())))
            page.wait_for_selector(".verdict")
            page.evaluate(HIDE)
            save(page.locator(".panel").first.screenshot(), f"explorer{end}.png")
            page = opened(browser, scheme, report, "")
            page.get_by_role("link", name="this one").click()
            page.wait_for_selector("#panel[open]")
            save(page.screenshot(), f"report{end}.png")
        browser.close()


def save(points: bytes, name: str) -> None:
    """Write a picture of points among those of the guides."""
    Image.open(io.BytesIO(points)).quantize(COLOURS).save(PICTURES / name, optimize=True)


def opened(browser: Browser, scheme: Any, file: Path, address: str) -> Page:
    """Return a page in light or dark."""
    view: Any = {
        "viewport": {"width": WIDTHS[file.stem], "height": TALL},
        "device_scale_factor": 1.5,
    }
    page = browser.new_page(color_scheme=scheme, **view)
    page.set_default_timeout(PATIENCE)
    page.goto(file.as_uri() + address)
    return page


def graph(page: Page, address: str) -> str:
    """Return the graph of the first model as SVG, after the word was replaced if one was."""
    replaced = "&word=&" not in address
    page.wait_for_selector(".side >> nth=1" if replaced else ".panel")
    return str(page.evaluate(GRAPH, 1 if replaced else 0))


def themed(light: str, dark: str) -> str:
    """Return a picture whose colours follow the reader's, without a ground of its own.

    The two are the same picture but for their colours.
    """
    light, dark = (re.sub(r'<rect width="100%"[^>]*/>', "", one, count=1) for one in (light, dark))
    colours: dict[tuple[str, str], str] = {}
    for name in PAINTS:
        pairs = zip(
            *(re.findall(rf'\b{name}="(rgb[^"]*)"', one) for one in (light, dark)), strict=True
        )
        for here, there in pairs:
            if colours.setdefault((name, here), there) != there:
                raise ValueError(f"{here} is {colours[name, here]} and {there} on a dark page.")
    rules = "".join(
        f'[{name}="{here}"]{{{name}:{there}}}'
        for (name, here), there in colours.items()
        if here != there
    )
    style = f"<style>@media(prefers-color-scheme:dark){{{rules}}}</style>"
    return re.sub(r"(<svg [^>]*>)", rf"\1{style}", light, count=1)


if __name__ == "__main__":
    main()
