"""What results of an overlay say of it: what it changes, and which data it puts in.

What is told of a cell, or of a figure's series, has the changes as `overlaid`: before and after by
setting.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import pandas as pd

from workflow.reporting.measures import EvaluatedRun

Overlaid = Mapping[str, Mapping[str, Sequence[Any]]]
"""Before and after by setting, of runs as `<experiment>/<variant>`."""
CellProvenance = Mapping[str, Any]
"""A cell of a table's frame, or a series of a figure."""
SAME = "other data"


class Changes(TypedDict, total=False):
    """What an overlay changes, if anything."""

    overlaid: Mapping[str, Sequence[Any]]


EXCHANGED = (
    "The overlay puts other data in the place of those that this is about in its paper. "
    "Title and labels are the paper's"
)
CAPTION = f"{EXCHANGED}; what is on other data has their name in brackets."
"""Of a table."""


def changes_behind(changed: Overlaid, behind: Sequence[EvaluatedRun]) -> Changes:
    """Return what an overlay changes of the runs of measures."""
    runs = dict.fromkeys(f"{one.run.get('experiment')}/{one.run.get('variant')}" for one in behind)
    found = {key: pair for run in runs for key, pair in changed.get(run, {}).items()}
    return {"overlaid": found} if found else {}


def other_data(overlaid: Mapping[str, Sequence[Any]]) -> str:
    """Return the name of the dataset that an overlay puts in, nothing where data are the same."""
    found = ""
    for key, (_, after) in overlaid.items():
        if "data" in key.split(".") or (isinstance(after, Mapping) and "dataset" in after):
            named = isinstance(after, Mapping) and key == "data"
            found = after["dataset"] if named else found or SAME
    return found


def on_other_data(cells: pd.DataFrame) -> tuple[dict[str, str], ...]:
    """Return the other data of rows, and of columns, of which every cell that was run has them.

    Columns are named only where their rows don't say so.
    """
    run = cells[cells["verdict"] != "not run"]
    names = run["overlaid"].map(other_data)
    rows, columns = (
        {
            str(label): " and ".join(sorted({*data}))
            for label, data in names.groupby(run[side], sort=False)
            if all(data)
        }
        for side in ("row", "column")
    )
    return rows, {} if len(rows) == run["row"].nunique() else columns


def exchanged(changed: Overlaid, behind: Sequence[EvaluatedRun]) -> str:
    """Return the name of the dataset that measures are on in the place of the paper's, if any."""
    return other_data(changes_behind(changed, behind).get("overlaid", {}))


def caption_of_figure(
    caption: str, series: Mapping[str, Sequence[EvaluatedRun]], changed: Overlaid
) -> str:
    """Return the caption of a figure, with what an overlay changes of its series, by label."""
    other = {label: exchanged(changed, behind) for label, behind in series.items()}
    if named := [f"“{label}” ({data})" for label, data in other.items() if data]:
        caption = f"{EXCHANGED}; on other data: {', '.join(named)}."
    told = [
        {"row": label, "runs": True, **changes_behind(changed, behind)}
        for label, behind in series.items()
        if behind
    ]
    return " ".join([caption, *overlaid(told)])


def overlaid(told: Sequence[CellProvenance]) -> list[str]:
    """Say what an overlay changes, a line a setting, with the rows where it is not all of them."""
    rows = {entry["row"] for entry in told if entry.get("runs") or entry.get("overlaid")}
    changed: dict[tuple[str, str, str], list[str]] = {}
    for entry in told:
        for key, (before, after) in entry.get("overlaid", {}).items():
            changed.setdefault((key, _text(before), _text(after)), []).append(entry["row"])
    return [
        f"The overlay changes {key} from {before} to {after}{_of(where, rows)}."
        for (key, before, after), where in changed.items()
    ]


def _of(where: Sequence[str], rows: set[str]) -> str:
    named = ", ".join(f"“{row}”" for row in dict.fromkeys(where))
    return "" if rows <= {*where} else f" in {named}"


def _text(value: Any) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)
