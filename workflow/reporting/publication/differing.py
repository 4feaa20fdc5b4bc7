"""The numbers of ours that differ from printed ones, each with its cause."""

from collections.abc import Mapping
from pathlib import Path

from workflow.reporting.publication.counting import Comparison, comparisons, once
from workflow.reporting.publication.following import page_of
from workflow.reporting.publication.settings import CellSettings
from workflow.reporting.statistics.cells import text

COLUMNS = ("number", "ours", "the paper's", "trained", "why")


def differing(folder: Path) -> list[Comparison]:
    """Return the numbers that differ below a scale's folder, each once, table by table."""
    tables = sorted(folder.glob("tables/*/*.csv"))
    found = once(comparisons(tables, CellSettings(folder.name, tables)))
    return sorted((one for one in found if one.verdict == "differs"), key=lambda one: one.table)


def section(folder: Path, titles: Mapping[str, str]) -> str:
    """Return the list of a scale's page; `titles` are by `<paper>/<table>`."""
    lines = [COLUMNS, ("---",) * len(COLUMNS)]
    for one in differing(folder):
        cell, table = one.cell, one.table
        title = titles.get(f"{table.parent.name}/{table.stem}", table.stem)
        length = "for less than the paper's" if one.shorter else "as long as the paper's"
        lines.append(
            (
                f"[{title}]({page_of(table.relative_to(folder))}): {cell.row}, {cell.column}",
                text(cell.mean),
                cell.expected,
                length if one.trained else "–",
                one.because or "no cause is known",
            )
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) if len(lines) > 2 else "None."
