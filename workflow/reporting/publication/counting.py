"""Comparisons with printed numbers, each counted once.

Comparisons of trained models are counted apart from those of data and baselines. Several cells may
show one measurement: it counts once, by its worst verdict.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from workflow.files import read_sidecar
from workflow.reporting.publication.settings import CellSettings
from workflow.reporting.statistics.cells import Cell, read_cells
from workflow.reporting.statistics.verdict import COMPARED, WORDS

RANKED = ("not run", "not comparable", "second reading", "wide tolerance", *COMPARED)
COLUMNS = (
    *("source", "trained", "verdict", "measurement", "shorter", "lacking", "because", "path"),
    *("row", "column", "metric", "expected", "mean", "std", "n"),
)
"""Of `comparisons`: the last line is of the cell.

source: which number of which paper.
trained: whether it depends on a training; sizes and untrained baselines do not.
measurement: what was measured, see `measurement`; of data and what was not run None.
shorter: whether it was trained for less than the paper's.
lacking: why it was not run, one of `settings.REASONS`.
because: why it differs.
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
        sidecar = read_sidecar(path)
        if sidecar.get("repeats"):
            continue
        compared += [
            {
                **asdict(cell),
                "trained": trained(sidecar, cell.metric),
                "measurement": measurement(sidecar, behind, cell),
                "shorter": False,
                "lacking": "",
                "because": behind.get("because", ""),
                "path": path,
                **(_setting(settings, sidecar, cell) if settings else {}),
            }
            for cell, behind in zip(read_cells(path), sidecar["cells"], strict=True)
            if cell.expected and cell.verdict in WORDS and not _repeated(cell)
        ]
    return pd.DataFrame(compared, columns=[*COLUMNS], dtype=object)


def _repeated(cell: Cell) -> bool:
    """Say whether a number was not run in the reading that is compared, and so in no other."""
    return cell.flag == "reading" and cell.verdict == "not run"


def _setting(settings: CellSettings, sidecar: Mapping[str, Any], cell: Cell) -> dict[str, Any]:
    if cell.verdict == "not run":
        return {"lacking": settings.lacking(sidecar, cell)}
    return {"shorter": settings.shorter(sidecar, cell)}


def measurement(sidecar: Mapping[str, Any], behind: Mapping[str, Any], cell: Cell) -> Hashable:
    """Return what tells a cell's measurement from others: runs, quantity and value; None of data.

    One quantity may be measured by several evaluators, in one table as a fraction and in percent in
    another.
    """
    if not behind.get("runs"):
        return None
    full, value = sidecar["tolerances"].get(cell.metric, {}).get("full", 1), cell.mean
    shown = f"{value / full:.5g}" if isinstance(value, float) else value
    return (*behind["runs"], behind["measure"].partition(".")[2], shown)


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


def trained(sidecar: Mapping[str, Any], metric: str) -> bool:
    """Return whether a table's metric depends on a training, as its tolerance says."""
    rule = sidecar["tolerances"].get(metric, {})
    return "corpora" not in sidecar and rule.get("seed_std") != 0
