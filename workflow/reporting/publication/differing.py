"""The numbers of ours that differ from printed ones, each with its cause."""

from collections.abc import Mapping
from pathlib import Path

from workflow.reporting.publication.counting import Comparison, comparisons, once
from workflow.reporting.publication.following import page_of
from workflow.reporting.publication.settings import CellSettings
from workflow.reporting.statistics.cells import Cell

ABOUT = """\
Ours that lie more than two tolerances from what a paper prints, and why, as far as that is known. \
A number that stands in several tables is listed once. –: nothing was trained."""
COLUMNS = ("number", "ours", "the paper's", "runs", "trained", "why")


def differing(folder: Path) -> list[Comparison]:
    """Return the numbers that differ below a scale's folder, each once, table by table."""
    tables = sorted(folder.glob("tables/*/*.csv"))
    found = once(comparisons(tables, CellSettings(folder.name, tables)))
    return sorted((one for one in found if one.verdict == "differs"), key=lambda one: one.table)


def section(folder: Path, titles: Mapping[str, str]) -> str:
    """Return the section of a scale's page; `titles` are by `<paper>/<table>`."""
    lines = [COLUMNS, ("---",) * len(COLUMNS)]
    for one in differing(folder):
        cell, table = one.cell, one.table
        title = titles.get(f"{table.parent.name}/{table.stem}", table.stem).partition(":")[0]
        link = page_of(table.relative_to(folder))
        metric = f" (`{cell.metric}`)" if one.trained else ""
        length = "for less than the paper's" if one.shorter else "as long as the paper's"
        lines.append(
            (
                f"[{title}]({link}): {cell.row}, {cell.column}{metric}",
                _ours(cell),
                cell.expected,
                str(cell.n) if one.trained else "–",
                length if one.trained else "–",
                one.because or "No cause is known.",
            )
        )
    shown = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{ABOUT}\n\n{shown}" if len(lines) > 2 else "None."


def _ours(cell: Cell) -> str:
    """Return our number and its deviation over runs, with the digits of the printed one."""
    if not isinstance(cell.mean, float):
        return str(cell.mean)
    digits = len(cell.expected.partition(".")[2])
    return f"{cell.mean:.{digits}f}" + (f" ± {cell.std:.{digits}f}" if cell.std else "")
