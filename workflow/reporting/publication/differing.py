"""The numbers of ours that differ from printed ones, each with its cause."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from workflow.reporting.publication.counting import comparisons, once
from workflow.reporting.publication.following import page_of
from workflow.reporting.publication.settings import CellSettings

ABOUT = """\
Ours that lie more than two tolerances from what a paper prints, and why, as far as that is known. \
A number that stands in several tables is listed once. –: nothing was trained."""
COLUMNS = ("number", "ours", "the paper's", "runs", "trained", "why")


def differing(folder: Path) -> pd.DataFrame:
    """Return the numbers that differ below a scale's folder, each once, table by table."""
    tables = sorted(folder.glob("tables/*/*.csv"))
    compared = once(comparisons(tables, CellSettings(folder.name, tables)))
    return compared[compared["verdict"] == "differs"].sort_values("path", kind="stable")


def section(folder: Path, titles: Mapping[str, str]) -> str:
    """Return the section of a scale's page; `titles` are by `<paper>/<table>`."""
    lines = [COLUMNS, ("---",) * len(COLUMNS)]
    for number in differing(folder).to_dict("records"):
        table = number["path"]
        title = titles.get(f"{table.parent.name}/{table.stem}", table.stem).partition(":")[0]
        link = page_of(table.relative_to(folder))
        metric = f" (`{number['metric']}`)" if number["trained"] else ""
        length = "for less than the paper's" if number["shorter"] else "as long as the paper's"
        lines.append(
            (
                f"[{title}]({link}): {number['row']}, {number['column']}{metric}",
                _ours(number["mean"], number["std"], number["expected"]),
                number["expected"],
                str(number["n"]) if number["trained"] else "–",
                length if number["trained"] else "–",
                number["because"] or "No cause is known.",
            )
        )
    shown = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{ABOUT}\n\n{shown}" if len(lines) > 2 else "None."


def _ours(mean: float | str, std: float | None, expected: str) -> str:
    """Return our number and its deviation over runs, with the digits of the printed one."""
    if not isinstance(mean, float):
        return str(mean)
    digits = len(expected.partition(".")[2])
    return f"{mean:.{digits}f}" + (f" ± {std:.{digits}f}" if std else "")
