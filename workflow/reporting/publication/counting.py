"""Comparisons with printed numbers, each counted once.

Comparisons of trained models are counted apart from those of data and baselines. Several cells may
show one measurement: it counts once, by its worst verdict.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workflow.files import read_sidecar
from workflow.reporting.publication.settings import CellSettings
from workflow.reporting.statistics.cells import Cell, read_cells
from workflow.reporting.statistics.verdict import COMPARED, WORDS

RANKED = ("not run", "not comparable", "second reading", "wide tolerance", *COMPARED)


@dataclass(frozen=True)
class Comparison:
    """A number of ours beside a printed one."""

    source: str
    trained: bool
    """Whether it depends on a training; sizes and untrained baselines do not."""
    verdict: str
    measurement: Hashable = None
    """What was measured, see `measurement`; of data and what was not run None."""
    shorter: bool = False
    """Whether it was trained for less than the paper's."""
    lacking: str = ""
    """Why it was not run, one of `settings.REASONS`."""
    because: str = field(default="", compare=False)
    """Why it differs."""
    table: Path = field(default=Path(), compare=False)
    cell: Cell = field(default=Cell(), compare=False)


def comparisons(tables: Iterable[Path], settings: CellSettings | None = None) -> list[Comparison]:
    """Return the comparisons in some tables (`.csv`), without tables that repeat another.

    `settings` tells of each how it was trained, or why it was not.
    """
    counted: list[Comparison] = []
    for path in tables:
        sidecar = read_sidecar(path)
        if sidecar.get("repeats"):
            continue
        counted += [
            Comparison(
                source=cell.source,
                trained=trained(sidecar, cell.metric),
                verdict=cell.verdict,
                measurement=measurement(sidecar, told, cell),
                because=told.get("because", ""),
                table=path,
                cell=cell,
                **(_setting(settings, sidecar, cell) if settings else {}),
            )
            for cell, told in zip(read_cells(path), sidecar["cells"], strict=True)
            if cell.expected and cell.verdict in WORDS and not _repeated(cell)
        ]
    return counted


def _repeated(cell: Cell) -> bool:
    """Say whether a number was not run in the reading that is compared, and so in no other."""
    return cell.flag == "reading" and cell.verdict == "not run"


def _setting(settings: CellSettings, sidecar: Mapping[str, Any], cell: Cell) -> dict[str, Any]:
    if cell.verdict == "not run":
        return {"lacking": settings.lacking(sidecar, cell)}
    return {"shorter": settings.shorter(sidecar, cell)}


def measurement(sidecar: Mapping[str, Any], told: Mapping[str, Any], cell: Cell) -> Hashable:
    """Return what tells a cell's measurement from others: runs, quantity and value; None of data.

    One quantity may be measured by several evaluators, in one table as a fraction and in percent in
    another.
    """
    if not told.get("runs"):
        return None
    full, value = sidecar["tolerances"].get(cell.metric, {}).get("full", 1), cell.mean
    shown = f"{value / full:.5g}" if isinstance(value, float) else value
    return (*told["runs"], told["measure"].partition(".")[2], shown)


def once(found: Iterable[Comparison]) -> list[Comparison]:
    """Return every measurement once, the first of its worst verdict, and all else."""
    kept: dict[Hashable, Comparison] = {}
    worst_first = sorted(found, key=lambda one: -RANKED.index(one.verdict))
    for place, one in enumerate(worst_first):
        kept.setdefault(one.measurement or place, one)
    return list(kept.values())


def trained(sidecar: Mapping[str, Any], metric: str) -> bool:
    """Return whether a table's metric depends on a training, as its tolerance says."""
    rule = sidecar["tolerances"].get(metric, {})
    return "corpora" not in sidecar and rule.get("seed_std") != 0
