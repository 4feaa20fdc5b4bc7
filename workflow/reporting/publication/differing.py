"""The numbers of ours that differ from printed ones, each with its cause."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from workflow.reporting.cells import records
from workflow.reporting.page.templates import markdown
from workflow.reporting.publication.counting import comparisons, once
from workflow.reporting.publication.following import page_of
from workflow.reporting.publication.settings import CellSettings


def differing(folder: Path) -> pd.DataFrame:
    """Return the numbers that differ below a scale's folder, each once, table by table."""
    tables = sorted(folder.glob("tables/*/*.csv"))
    compared = once(comparisons(tables, CellSettings(folder.name, tables)))
    return compared[compared["verdict"] == "differs"].sort_values("path", kind="stable")


def section(folder: Path, titles: Mapping[str, str]) -> str:
    """Return the section of a scale's page; `titles` are by `<paper>/<table>`."""
    numbers = [
        {
            **number,
            "title": _title(number["path"], titles),
            "page": page_of(number["path"].relative_to(folder)),
            "ours": _ours(number["mean"], number["std"], number["expected"]),
        }
        for number in records(differing(folder))
    ]
    return markdown("differing", numbers=numbers)


def _title(table: Path, titles: Mapping[str, str]) -> str:
    """Return the title of a table up to its colon."""
    return titles.get(f"{table.parent.name}/{table.stem}", table.stem).partition(":")[0]


def _ours(mean: float | str, std: float | None, expected: str) -> str:
    """Return our number and its deviation over runs, with the digits of the printed one."""
    if not isinstance(mean, float):
        return str(mean)
    digits = len(expected.partition(".")[2])
    return f"{mean:.{digits}f}" + (f" ± {std:.{digits}f}" if std else "")
