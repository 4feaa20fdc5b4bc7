"""Rows that were trained on two devices: both means beside each other, and their difference."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workflow.definitions.paper import Paper
from workflow.reporting.cells import read_table, records
from workflow.reporting.measures import CPU
from workflow.reporting.page.headline import Counts
from workflow.reporting.prose import symbols
from workflow.reporting.publication.places import page_of, title_of
from workflow.reporting.tables.names import number_of

QUALITY = "%"
"""The unit of how well a model does (BLEU too); a row shows such a number if it has one."""
COLUMNS = ("row", "CPU (runs)", "GPU (runs)", "GPU - CPU [95 %]")


def of_two_devices(folder: Path) -> Counts:
    """Return the rows below a scale's folder that runs of two devices have.

    Several tables may show the same runs; they are shown once, by their first number of quality.
    """
    found: dict[frozenset[str], dict[str, Any]] = {}
    for row in sorted(_rows(folder), key=lambda row: not row["quality"]):
        found.setdefault(row["runs"], row)
    rows = sorted(found.values(), key=lambda row: str(row["link"]))
    higher, lower = (sum(it["apart"] * sign > 0 for it in rows) for sign in (1, -1))
    ends = [it["ends"] for it in rows if it["ends"]]
    sure = sum(low > 0 or high < 0 for low, high in ends)
    about = (
        f"No cell and no claim is over both. The GPU is above the CPU in {higher} rows and below "
        f"it in {lower}; {sure} of {len(ends)} intervals leave out 0. An interval is Student's "
        "over seeds, which are others on each device, with one spread for both; none is corrected "
        "for their number."
    )
    return Counts(about, COLUMNS, tuple(tuple(_line(row)) for row in rows))


def _rows(folder: Path) -> Iterator[dict[str, Any]]:
    defined = {paper.name: paper.tables["metrics"] for paper in Paper.all()}
    for path in sorted(folder.glob("tables/*/*.csv")):
        table, metrics = read_table(path), defined[path.parent.name]
        title = symbols(number_of(title_of(path)) or title_of(path))
        for cell in records(table.cells):
            for other in cell["other_devices"]:
                own = {"mean": cell["mean"], "n": len(cell["runs"])}
                device = table.about["runs"][cell["runs"][0]]["device"]
                sides = [{**own, "device": device}, other]
                sign = -1 if other["device"] == CPU else 1
                yield {
                    "link": f"[{title}]({page_of(path)}): {symbols(cell['row'])}",
                    "quality": cell["unit"] == QUALITY,
                    "metric": metrics[cell["metric"]],
                    "sides": sorted(sides, key=lambda side: side["device"] != CPU),
                    "apart": sign * other["difference"],
                    "ends": sorted(sign * end for end in other["interval"] or ()),
                    "runs": frozenset([*cell["runs"], *other["runs"]]),
                }


def _line(row: dict[str, Any]) -> Iterator[str]:
    digits = row["metric"]["digits"]
    yield f"{row['link']}, {row['metric']['label']}"
    for side in row["sides"]:
        yield f"{side['mean']:.{digits}f} ({side['n']})"
    low, high = (f"{end:+.{digits}f}" for end in row["ends"]) if row["ends"] else ("", "")
    yield f"{row['apart']:+.{digits}f}" + (f" [{low}, {high}]" if low else "")
