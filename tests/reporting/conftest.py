"""Results folders filled with invented measures, and a browser to open pages in."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.debian import Unavailable, need
from tests.reporting.synthetic import Results
from workflow.reporting.measures import Measures

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
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


def chromium_path() -> str:
    """Return where a Chromium is; Unavailable where there is none, in CI where none can be got."""
    path = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    if path is None:
        need("Chromium", PROGRAMS[:1], PROGRAMS[:1])
    return path or PROGRAMS[0]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Return a headless Chromium; skip where there is none."""
    try:
        path = chromium_path()
    except Unavailable as error:
        pytest.skip(str(error))
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
