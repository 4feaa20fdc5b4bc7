"""Results folders filled with invented measures, and a browser to open pages in."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.reporting.synthetic import Results
from workflow.reporting.measures import Measures

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
INSTALL = "apt-get install -y --no-install-recommends chromium"
Open = Callable[..., Page]
"""From an address within the page, and options of the browser, to the opened page."""


@pytest.fixture(scope="session")
def lite(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Return a results folder with every run of scale lite, three seeds each; read it only."""
    results = Results(tmp_path_factory.mktemp("results"), "lite")
    results.fill()
    return results


@pytest.fixture(scope="session")
def measures(lite: Results) -> Measures:
    """Return the measures of `lite` with their provenance."""
    return lite.read()


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """Return an empty results folder of scale lite."""
    return Results(tmp_path / "results", "lite")


PATIENCE = 300_000
"""Milliseconds until something counts as not happening, on a machine that others use too."""


def chromium_path() -> str | None:
    """Return where a Chromium is, None without one."""
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Return a headless Chromium; skip where there is none, in CI where none can be installed."""
    path = chromium_path()
    if path is None and os.environ.get("CI") and shutil.which("apt-get"):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        for command in ("apt-get update", INSTALL):
            subprocess.run(command.split(), timeout=600, check=False, **quiet)  # type: ignore[call-overload]
        path = chromium_path()
    if path is None:
        pytest.skip(f"no Chromium on this machine; on Debian: {INSTALL}")
    with sync_playwright() as driver:
        # As root, and in containers, Chromium has no sandbox; the page is our own.
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium: Browser, file: Path) -> Iterator[Open]:
    """Return what opens the page; when the test ends, nothing was fetched or complained of."""
    contexts, wrong = [], []

    def open_page(address: str = "", of: Path = file, **options: object) -> Page:
        context = chromium.new_context(**{"viewport": {"width": 1300, "height": 900}, **options})  # type: ignore[arg-type]
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda it: wrong.append(it.url) if _fetched(it.url, of) else None)
        page.on("console", lambda it: wrong.append(f"{it.type}: {it.text}"))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(of.as_uri() + address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


def _fetched(url: str, page: Path) -> bool:
    return not url.startswith(("data:", "blob:", page.as_uri()))
