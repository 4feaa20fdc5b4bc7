"""The numbers of ours that differ from printed ones, each with its cause."""

from pathlib import Path
from typing import Any, cast

import pandas as pd

from workflow.reporting.cells import records
from workflow.reporting.prose import shortened
from workflow.reporting.publication.cell_settings import CellSettings
from workflow.reporting.publication.counting import Comparison, comparisons, once
from workflow.reporting.publication.places import page_of, title_of

WORDS = 40
"""Of a cause, as far as its first sentences allow."""


def differing(folder: Path) -> pd.DataFrame:
    """Return the numbers that differ below a scale's folder, each once, table by table."""
    tables = sorted(folder.glob("tables/*/*.csv"))
    compared = once(comparisons(tables, CellSettings(folder.name, tables)))
    return compared[compared["verdict"] == "differs"].sort_values("path", kind="stable")


def numbers(folder: Path) -> list[dict[str, Any]]:
    """Return what a scale's page shows of each number that differs."""
    return [
        {
            **number,
            "title": title_of(number["path"]).partition(":")[0],
            "page": page_of(number["path"]),
            "why": shortened(number["because"] or "No cause is known.", WORDS)[0],
            "ours": _ours(number["mean"], number["std"], number["expected"]),
        }
        for number in cast(list[Comparison], records(differing(folder)))
    ]


def _ours(mean: float | str | None, std: float | None, expected: str) -> str:
    """Return our number and its deviation over runs, with the digits of the printed one."""
    if not isinstance(mean, float):
        return str(mean)
    digits = len(expected.partition(".")[2])
    return f"{mean:.{digits}f}" + (f" ± {std:.{digits}f}" if std else "")
