"""The numbers of ours that differ from printed ones, each with its cause."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import cast

import pandas as pd

from workflow.reporting.cells import records, value_of
from workflow.reporting.prose import shortened, symbols, thousands
from workflow.reporting.publication.cell_settings import CellSettings
from workflow.reporting.publication.counting import Comparison, comparisons, once
from workflow.reporting.publication.places import page_of, title_of

WORDS = 40
"""Of a cause, as far as its first sentences allow."""


class Difference(Comparison):
    """What a page shows of a number that differs."""

    apart: str
    """How far it is off in its unit, and as a multiple of the tolerance as `far`."""
    far: float
    tolerances: str
    title: str
    """Of its table, as `page` is the table's page."""
    page: str
    why: str
    ours: str


def differing(folder: Path) -> pd.DataFrame:
    """Return the numbers that differ below a scale's folder, each once, table by table."""
    tables = sorted(folder.glob("tables/*/*.csv"))
    compared = once(comparisons(tables, CellSettings(folder.name, tables)))
    return compared[compared["verdict"] == "differs"].sort_values("path", kind="stable")


def numbers(folder: Path) -> list[Difference]:
    """Return what a scale's page shows of each number that differs, those furthest off first.

    Numbers of one cause are together, and the first has it. Counts that nobody trains have no
    tolerance; they come last.
    """
    shown = [_shown(number) for number in cast(list[Comparison], records(differing(folder)))]
    furthest: dict[str, float] = {}
    for one in shown:
        furthest[one["why"]] = max(one["far"], furthest.get(one["why"], 0))
    shown.sort(key=lambda one: (-furthest[one["why"]], one["why"], -one["far"]))
    return [
        {**one, "why": "as above"} if at else one
        for _, ones in groupby(shown, key=lambda one: one["why"])
        for at, one in enumerate(ones)
    ]


def furthest(differ: Sequence[Difference]) -> str:
    """Return which of `numbers` is furthest off, in Markdown, if any has a tolerance."""
    if not differ or not differ[0]["far"]:
        return ""
    worst = differ[0]
    place = symbols(f"[{worst['title']}]({worst['page']}), {worst['row']}, {worst['column']}")
    return (
        f"Furthest from a paper's: {place}. Ours is {worst['ours']}, the paper's "
        f"{worst['expected']}, {worst['tolerances']} tolerances away. "
        "[All that differ, and why](#numbers-that-differ)."
    )


def _shown(number: Comparison) -> Difference:
    """Return what is shown of a number: how far it is off, in its unit and in tolerances."""
    ours, printed = number["mean"], value_of(number["expected"])
    apart, far = "", 0.0
    if isinstance(ours, float) and isinstance(printed, float):
        apart = f"{ours - printed:+.{len(number['expected'].partition('.')[2])}f}"
        if number["trained"] and number["tolerance"]:
            ends = number["between"] or [ours]
            far = max(min(ends) - printed, printed - max(ends), 0) / number["tolerance"]
    return {
        **number,
        "apart": thousands(apart),
        "far": far,
        "tolerances": "exact" if not number["trained"] else f"{far:.1f}" if far else "",
        "title": title_of(number["path"]).partition(":")[0],
        "page": page_of(number["path"]),
        "why": shortened(number["because"] or "No cause is known.", WORDS)[0],
        "ours": _ours(number["mean"], number["std"], number["expected"]),
    }


def _ours(mean: float | str | None, std: float | None, expected: str) -> str:
    """Return our number and its deviation over runs, with the digits of the printed one."""
    if not isinstance(mean, float):
        return str(mean)
    digits = len(expected.partition(".")[2])
    return f"{mean:.{digits}f}" + (f" ± {std:.{digits}f}" if std else "")
