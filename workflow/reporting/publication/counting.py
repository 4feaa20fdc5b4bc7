"""Comparisons with printed numbers, each counted once.

Comparisons of trained models are counted apart from those of data and baselines. Several cells may
show one measurement: it counts once, by its worst verdict.
"""

from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import get_type_hints

import pandas as pd

from workflow.reporting.cells import Cell, TableAbout, read_table, records
from workflow.reporting.publication.cell_settings import CellSettings
from workflow.reporting.statistics.verdict import RANKED, WORDS


class Comparison(Cell):
    """A row of `comparisons`: a cell beside a printed number."""

    trained: bool
    """Whether it depends on a training; sizes and untrained baselines do not."""
    measurement: Hashable
    """What was measured, see `measurement`; of data and what was not run None."""
    shorter: bool
    """Whether it was trained for less than the paper's."""
    lacking: str
    """Why it was not run, one of `cell_settings.REASONS`."""
    path: Path
    """Of the table."""


def comparisons(tables: Iterable[Path], settings: CellSettings | None = None) -> pd.DataFrame:
    """Return the comparisons in some tables (`.csv`), without tables that repeat another.

    `settings` tells of each how it was trained, or why it was not.

    Returns:
        A row a `Comparison`.
    """
    compared: list[Comparison] = []
    for path in tables:
        table = read_table(path)
        if table.about.get("repeats"):
            continue
        compared += [
            {
                **cell,
                "trained": trained(table.about, cell["metric"]),
                "measurement": measurement(table.about, cell),
                "shorter": bool(settings and run and settings.shorter(table.about, cell)),
                "lacking": "" if run or not settings else settings.lacking(table.about, cell),
                "path": path,
            }
            for cell in records(_compared(table.cells))
            for run in [cell["verdict"] != "not run"]
        ]
    return pd.DataFrame(compared, columns=[*get_type_hints(Comparison)], dtype=object)


def _compared(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells beside a printed number.

    A number that was not run in the reading that is compared was not run in any other.
    """
    again = (cells["flag"] == "reading") & (cells["verdict"] == "not run")
    return cells[(cells["expected"] != "") & cells["verdict"].isin(WORDS) & ~again]


def measurement(about: TableAbout, cell: Cell) -> Hashable:
    """Return what tells a cell's measurement from others: runs, quantity and value; None of data.

    One quantity may be measured by several evaluators, in one table as a fraction and in percent in
    another.
    """
    if not cell["runs"]:
        return None
    rule, value = about["tolerances"].get(cell["metric"]), cell["mean"]
    full = rule.get("full", 1) if rule else 1
    shown = f"{value / full:.5g}" if isinstance(value, float) else value
    return (*cell["runs"], cell["measure"].partition(".")[2], shown)


def once(compared: pd.DataFrame) -> pd.DataFrame:
    """Return every measurement once, the first of its worst verdict, and all else."""
    worst_first = compared.sort_values(
        "verdict", key=lambda words: -words.map(RANKED.index), kind="stable"
    )
    measured = worst_first["measurement"].notna()
    return worst_first[~(measured & worst_first["measurement"].duplicated())]


def counts(words: pd.Series, columns: Sequence[str]) -> tuple[str, ...]:
    """Return how many words there are, and how many of each of `columns`, as texts."""
    each = words.value_counts().reindex(list(columns), fill_value=0)
    return tuple(map(str, (len(words), *each)))


def trained(about: TableAbout, metric: str) -> bool:
    """Return whether a table's metric depends on a training, as its tolerance says."""
    rule = about["tolerances"].get(metric)
    return "corpora" not in about and not (rule and rule["seed_std"] == 0)
