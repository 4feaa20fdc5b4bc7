"""A figure as the page shows it: a vector drawing, and its data as CSV."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from workflow.files import csv_text, read_sidecar

SAFE = " /:;=,()'*+-._~!@$?[]{}|^`\n"
"""What a data address of an SVG needs not escape."""
COLUMNS = ("panel", "series", "x", "y")


@dataclass(frozen=True)
class ShownFigure:
    """A drawing with what is said of it."""

    name: str
    address: str
    title: str
    caption: str
    image: Markup
    width: int
    height: int
    """In pixels."""
    data: str
    """The numbers that it shows, as CSV."""
    not_run: Sequence[str]
    identities: Collection[str]
    """Of all runs behind it."""


def shown(paper: str, name: str, file: Path) -> ShownFigure:
    """Return what the page shows of a figure, from its `.svg` and the sidecar beside it."""
    sidecar = read_sidecar(file)
    svg = file.read_text(encoding="utf-8")
    svg = svg[svg.index("<svg") :]
    width, height = (_pixels(svg, side) for side in ("width", "height"))
    lines = [dict(zip(COLUMNS, row, strict=True)) for row in sidecar["data"]]
    return ShownFigure(
        name=name,
        address=f"{paper}/{name}",
        title=sidecar["title"],
        caption=sidecar["caption"],
        image=Markup("data:image/svg+xml,") + quote(svg, safe=SAFE),
        width=width,
        height=height,
        data=csv_text(COLUMNS, lines),
        not_run=sidecar["not_run"],
        identities=set(sidecar["runs"]),
    )


def _pixels(svg: str, side: str) -> int:
    """Return a side of an SVG, which is stated in points."""
    found = re.search(rf' {side}="([\d.]+)pt"', svg)
    return round(float(found[1]) * 96 / 72) if found else 0
