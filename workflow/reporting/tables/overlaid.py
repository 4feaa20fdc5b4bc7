"""What a table of an overlay says of itself: what the overlay changes, and which data it puts in.

An entry of the table's sidecar tells it of a cell as `overlaid`: before and after by setting.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from workflow.reporting.statistics.cells import Cell

Told = Mapping[str, Any]
"""A cell's entry in its table's sidecar."""
SAME = "other data"
CAPTION = (
    "The overlay puts other data in the place of those that this table is about in its paper. "
    "Title and labels are the paper's; what is on other data has their name in brackets."
)


def other_data(overlaid: Mapping[str, Sequence[Any]]) -> str:
    """Return the name of the dataset that an overlay puts in, nothing where data are the same."""
    found = ""
    for key, (_, after) in overlaid.items():
        if "data" in key.split(".") or (isinstance(after, Mapping) and "dataset" in after):
            named = isinstance(after, Mapping) and key == "data"
            found = after["dataset"] if named else found or SAME
    return found


def on_other_data(cells: Sequence[Cell], told: Sequence[Told]) -> tuple[dict[str, str], ...]:
    """Return the other data of rows, and of columns, of which every cell that was run has them.

    Columns are named only where their rows don't say so.
    """
    rows: dict[str, set[str]] = {}
    columns: dict[str, set[str]] = {}
    for cell, entry in zip(cells, told, strict=True):
        if cell.verdict != "not run":
            name = other_data(entry.get("overlaid", {}))
            rows.setdefault(cell.row, set()).add(name)
            columns.setdefault(cell.column, set()).add(name)
    by_row = {row: " and ".join(sorted(names)) for row, names in rows.items() if "" not in names}
    if len(by_row) == len(rows):
        return by_row, {}
    return by_row, {
        column: " and ".join(sorted(names)) for column, names in columns.items() if "" not in names
    }


def overlaid(told: Sequence[Told]) -> list[str]:
    """Say what an overlay changes, a line a setting, with the rows where it is not all of them."""
    rows = {entry["row"] for entry in told if entry.get("runs") or "overlaid" in entry}
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
