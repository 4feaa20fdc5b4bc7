"""Pages over invented results, one with everything that those of scale lite give."""

from pathlib import Path

import pytest

from tests.reporting.synthetic import Results
from workflow.definitions.paper import Paper
from workflow.files import write_json
from workflow.reporting.claims.judging import judge
from workflow.reporting.figures import drawing
from workflow.reporting.page.page import render
from workflow.reporting.page.runs import recorded
from workflow.reporting.publication.headline import headline
from workflow.reporting.tables.tabulating import tabulate


def fill(results: Results, paper: Paper, scale: str = "lite", figures: bool = False) -> str:
    """Make tables and claims (and figures, which take longest) and return the page over them."""
    read = results.read()
    for name in paper.tables["tables"]:
        tabulate(paper, name, scale, read, results.folder / "tables" / paper.name / name)
    for name in paper.figures["figures"] if figures else ():
        drawing.plot(paper, name, scale, read, results.folder / "figures" / paper.name / name)
    claims = results.folder / "claims" / f"{paper.name}.json"
    write_json(claims, judge(paper, scale, read))
    return show(results, scale)


def show(results: Results, scale: str = "lite") -> str:
    """Return the page over everything that lies in a results folder."""
    kinds = {"tables": "*/*.csv", "figures": "*/*.svg", "claims": "*.json"}
    files = {kind: sorted((results.folder / kind).glob(names)) for kind, names in kinds.items()}
    first = headline(scale, files["tables"], files["claims"])
    return render(scale, recorded(results.runs), **files, headline=first)


@pytest.fixture(scope="session")
def text(lite: Results, paper: Paper) -> str:
    """Return the page of scale lite with tables, figures and claims of one paper."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "KINDS", ("svg",))  # the page shows no other
        return fill(lite, paper, figures=True)


@pytest.fixture(scope="session")
def file(text: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return that page as a file."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(text, encoding="utf-8")
    return path
