"""Comparisons with printed numbers, each counted once.

Comparisons of trained models are counted apart from those of data and baselines. Several cells may
show one measurement: it counts once, by its worst verdict.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from workflow.reporting.cells import SCHEMA, Cell, read_table, records
from workflow.reporting.publication.cell_settings import CellSettings
from workflow.reporting.statistics.verdict import COMPARED, WORDS

RANKED = ("not run", "not comparable", "second reading", "wide tolerance", *COMPARED)
COLUMNS = (*SCHEMA, "trained", "measurement", "shorter", "lacking", "path")
"""Of `comparisons`: those of a cell, and more.

trained: whether it depends on a training; sizes and untrained baselines do not.
measurement: what was measured, see `measurement`; of data and what was not run None.
shorter: whether it was trained for less than the paper's.
lacking: why it was not run, one of `settings.REASONS`.
path: of the table.
"""


def comparisons(tables: Iterable[Path], settings: CellSettings | None = None) -> pd.DataFrame:
    """Return the comparisons in some tables (`.csv`), without tables that repeat another.

    `settings` tells of each how it was trained, or why it was not.

    Returns:
        A row a number of ours beside a printed one, with the columns `COLUMNS`.
    """
    compared: list[dict[str, Any]] = []
    for path in tables:
        table = read_table(path)
        if table.about.get("repeats"):
            continue
        compared += [
            {
                **cell,
                "trained": trained(table.about, cell["metric"]),
                "measurement": measurement(table.about, cell),
                "shorter": False,
                "lacking": "",
                "path": path,
                **(_setting(settings, table.about, cell) if settings else {}),
            }
            for cell in records(_compared(table.cells))
        ]
    return pd.DataFrame(compared, columns=[*COLUMNS], dtype=object)


def _compared(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells beside a printed number.

    A number that was not run in the reading that is compared was not run in any other.
    """
    again = (cells["flag"] == "reading") & (cells["verdict"] == "not run")
    return cells[(cells["expected"] != "") & cells["verdict"].isin(WORDS) & ~again]


def _setting(settings: CellSettings, about: Mapping[str, Any], cell: Cell) -> dict[str, Any]:
    if cell["verdict"] == "not run":
        return {"lacking": settings.lacking(about, cell)}
    return {"shorter": settings.shorter(about, cell)}


def measurement(about: Mapping[str, Any], cell: Cell) -> Hashable:
    """Return what tells a cell's measurement from others: runs, quantity and value; None of data.

    One quantity may be measured by several evaluators, in one table as a fraction and in percent in
    another.
    """
    if not cell["runs"]:
        return None
    full, value = about["tolerances"].get(cell["metric"], {}).get("full", 1), cell["mean"]
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


def trained(about: Mapping[str, Any], metric: str) -> bool:
    """Return whether a table's metric depends on a training, as its tolerance says."""
    rule = about["tolerances"].get(metric, {})
    return "corpora" not in about and rule.get("seed_std") != 0
