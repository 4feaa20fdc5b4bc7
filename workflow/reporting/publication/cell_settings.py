"""Of a printed number: whether the run beside it was trained for less, or why there is no run."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from workflow.definitions.cells import behind_cell, cells, row_name
from workflow.definitions.corpora import CorpusRow
from workflow.definitions.paper import PAPERS, Paper
from workflow.files import read_sidecar
from workflow.planning.departures import AtHand, Departures
from workflow.reporting.cells import Cell, TableAbout
from workflow.reporting.statistics.comparability import base_scale

GPU, UNDONE = "needs a GPU", "not done"
BY_DATA: Mapping[AtHand, str] = {
    "absent": "its data is not here",
    "part": "only a part of its data is here",
    "whole": UNDONE,
}
REASONS = (BY_DATA["absent"], BY_DATA["part"], GPU, UNDONE)
"""Why a printed number was not run, in the order in which they are counted."""


class CellSettings:
    """How the cells of tables at one scale depart from the paper's setting."""

    def __init__(self, scale: str, tables: Iterable[Path]) -> None:
        """Take a scale and its tables (`.csv`), of which some describe the data that are here."""
        self.departures = Departures(PAPERS, base_scale(scale))
        facts = [one for path in tables for one in read_sidecar(path).get("corpora", {}).values()]
        self.described = [one["recipe"] for one in facts if "missing" not in one]

    def shorter(self, about: TableAbout, cell: Cell) -> bool:
        """Return whether a cell's run was trained for less than the paper's."""
        if "corpora" in about:
            return False
        experiment, variant = _behind(about, cell)
        return self.departures.of(experiment, [variant]) == "shorter"

    def lacking(self, about: TableAbout, cell: Cell) -> str:
        """Return why a cell was not run, one of `REASONS`."""
        if cell["unit"].endswith("/s"):  # Speeds are of the paper's hardware.
            return GPU
        if "corpora" in about:
            row = _corpora(about["paper"], about["table"])[cell["row"]]
            return BY_DATA[self._of_corpus(row)]
        experiment, variant = _behind(about, cell)
        return BY_DATA[self.departures.at_hand(experiment, variant, self.described)]

    def _of_corpus(self, row: CorpusRow) -> AtHand:
        if "like" in row:
            like = row["like"]
            return self.departures.at_hand(like["experiment"], like["variant"], self.described)
        known = {one["dataset"] for one in self.described}
        return "whole" if row["data"]["dataset"] in known else "absent"


def _behind(about: TableAbout, cell: Cell) -> tuple[str, str]:
    """Return experiment and variant behind a cell of a table."""
    return _variants(about["paper"], about["table"])[cell["row"], cell["column"]]


@cache
def _variants(paper: str, table: str) -> dict[tuple[str, str], tuple[str, str]]:
    """Return experiment and variant of each cell, by its row and column as tables have them."""
    definition = Paper(paper).definition("tables", table)
    return {
        (row_name(row), str(column["label"])): behind_cell(definition, row, column)
        for row, column in cells(definition)
    }


@cache
def _corpora(paper: str, table: str) -> dict[str, CorpusRow]:
    """Return what a table says of each corpus, by its row's label."""
    rows = Paper(paper).definition("corpora", table)["rows"]
    return {str(row["label"]): row for row in rows}
