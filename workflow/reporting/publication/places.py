"""Where the published pages show a table, a claim or a figure: on the page of which paper."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from workflow.definitions.corpora import CorpusTable
from workflow.definitions.paper import Paper
from workflow.definitions.references import key_of
from workflow.definitions.tables import Table
from workflow.reporting.tables.names import number_of, papers_order

KINDS = ("Table", "Section", "Figure")
"""In the order in which a page has them."""


def page_of(table: Path) -> str:
    """Return the link to a published table, by its CSV, on the page of its paper."""
    return f"{key_of(definition(table)['source'])}.md#{table.stem}"


def title_of(table: Path) -> str:
    """Return the title of a published table, by its CSV."""
    return definition(table)["title"]


def definition(table: Path) -> Table | CorpusTable:
    """Return the definition of a published table, by its CSV."""
    return _definitions(table.parent.name)[table.stem]


@cache
def _definitions(paper: str) -> Mapping[str, Table | CorpusTable]:
    return {**Paper(paper).corpora["tables"], **Paper(paper).tables["tables"]}


def numbered(title: str) -> bool:
    """Return whether a title begins with a number of the paper, as `Table 6.1: ...`."""
    return bool(number_of(title))


def own_order(title: str) -> tuple[str, list[int]]:
    """Return what sorts titles as a page has them."""
    return papers_order(title, KINDS)
