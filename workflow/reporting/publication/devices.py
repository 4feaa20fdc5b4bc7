"""Rows that were trained on two devices: both means beside each other, and their difference."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from workflow.definitions.paper import Paper
from workflow.definitions.tables import Metric
from workflow.reporting.cells import read_table, records
from workflow.reporting.measures import CPU
from workflow.reporting.page.headline import Counts
from workflow.reporting.prose import symbols
from workflow.reporting.publication.places import page_of, title_of
from workflow.reporting.tables.names import number_of

QUALITY = "%"
"""The unit of how well a model does (BLEU too); a row shows such a number if it has one."""
COLUMNS = ("row", "CPU (runs)", "GPU (runs)", "GPU - CPU [95 %]")


class Row(NamedTuple):
    """A number of a row on a CPU, on a GPU, and how far the GPU's is above."""

    link: str
    quality: bool
    metric: Metric
    cpu: tuple[float, int]
    """The mean and the number of runs."""
    gpu: tuple[float, int]
    difference: float
    ends: Sequence[float]
    """Of its interval; nothing where there is one run each, or where those of each are equal."""
    runs: frozenset[str]


def of_two_devices(folder: Path) -> Counts:
    """Return the rows below a scale's folder that runs of two devices have.

    Several tables may show the same runs; they are shown once, by their first number of quality.
    """
    found: dict[frozenset[str], Row] = {}
    for row in sorted(_rows(folder), key=lambda row: not row.quality):
        found.setdefault(row.runs, row)
    rows = sorted(found.values(), key=lambda row: row.link)
    higher, lower = (sum(row.difference * sign > 0 for row in rows) for sign in (1, -1))
    ends = [row.ends for row in rows if row.ends]
    sure = sum(low > 0 or high < 0 for low, high in ends)
    bare = len(rows) - len(ends)
    about = (
        "No cell, claim or difference in a figure is over both. The GPU is above the CPU in "
        f"{higher} rows and below it in {lower}; {sure} of {len(ends)} intervals leave out 0"
        + f", and {bare} row{'s have' if bare > 1 else ' has'} none"
        * (bare > 0)
        + ". An interval is Student's over seeds, which are others on each device, with one spread "
        "for both; none is corrected for their number. So few runs do not show that devices are "
        "equal."
    )
    return Counts(about, COLUMNS, tuple(tuple(_line(row)) for row in rows))


def _rows(folder: Path) -> Iterator[Row]:
    defined = {paper.name: paper.tables["metrics"] for paper in Paper.all()}
    for path in sorted(folder.glob("tables/*/*.csv")):
        table, metrics = read_table(path), defined[path.parent.name]
        title = symbols(number_of(title_of(path)) or title_of(path))
        for cell in records(table.cells):
            for other in cell["other_devices"]:
                theirs = other["mean"], other["n"]
                ours = other["mean"] - other["difference"], len(cell["runs"])
                here = other["device"] != CPU
                sign = 1 if here else -1
                yield Row(
                    link=f"[{title}]({page_of(path)}): {symbols(cell['row'])}",
                    quality=cell["unit"] == QUALITY,
                    metric=metrics[cell["metric"]],
                    cpu=ours if here else theirs,
                    gpu=theirs if here else ours,
                    difference=sign * other["difference"],
                    ends=sorted(sign * end for end in other["interval"] or ()),
                    runs=frozenset([*cell["runs"], *other["runs"]]),
                )


def _line(row: Row) -> Iterator[str]:
    digits = row.metric["digits"]
    yield f"{row.link}, {row.metric['label']}"
    for mean, runs in (row.cpu, row.gpu):
        yield f"{mean:.{digits}f} ({runs})"
    ends = ", ".join(f"{end:+.{digits}f}" for end in row.ends)
    none = "one run each" if row.cpu[1] == row.gpu[1] == 1 else "each device's runs are equal"
    yield f"{row.difference:+.{digits}f} [{ends or f'none: {none}'}]"
