"""One page with everything that invented results of scale lite give."""

from pathlib import Path

import pytest

from tests.reporting.page.pages import fill
from tests.reporting.synthetic import Results
from workflow.definitions.paper import Paper


@pytest.fixture(scope="session")
def text(lite: Results, paper: Paper) -> str:
    """Return the page of scale lite with tables, figures and claims of one paper."""
    return fill(lite, paper, figures=True)


@pytest.fixture(scope="session")
def file(text: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return that page as a file."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(text, encoding="utf-8")
    return path
