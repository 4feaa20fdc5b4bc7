"""The history of claims: one that was reworded or asks for something else is shown as changed."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from workflow.files import read_json

NAME = "claims_history.json"
PARTS = ("claim", "direction", "margin", "interest", "over")
"""What decides a claim, of what is published of it, and its sentence."""
AFTER, BEFORE = "after", "before"
Change = Mapping[str, Any]
"""`claim`, the `part` of it with `old` and `new`, and whether its `results` were known."""


def read_history(published: Path) -> list[dict[str, Any]]:
    """Return the history below a published scale's folder, empty before the first publication."""
    path = published / NAME
    return list(read_json(path)["history"]) if path.is_file() else []


def claims_of(published: Path) -> list[dict[str, Any]]:
    """Return the claims published below a scale's folder, as their JSON has them."""
    paths = sorted((published / "claims").glob("*.json"))
    return [claim for path in paths for claim in read_json(path)["claims"]]


def changes(before: Iterable[Mapping[str, Any]], after: Iterable[Mapping[str, Any]]) -> list[Change]:
    """Return what changed from some published claims to others.

    A claim that was not there, or is gone, has `part` `added` or `removed`. Results were known
    where the runs behind a claim had been published before the change.
    """
    old, new = ({str(one["id"]): one for one in claims} for claims in (before, after))
    known = {run for one in old.values() for run in one["runs"]}
    found = []
    for name in dict.fromkeys([*old, *new]):
        one, other = old.get(name), new.get(name)
        if one is None or other is None:
            here = one or other or {}
            parts = [("removed", here["claim"], None) if one else ("added", None, here["claim"])]
        else:
            here = one
            parts = [
                (part, one[part], other[part])
                for part in PARTS
                if part in one and part in other and one[part] != other[part]
            ]
        results = AFTER if known.intersection(here["runs"]) else BEFORE
        found += [
            {"claim": name, "part": part, "old": was, "new": becomes, "results": results}
            for part, was, becomes in parts
        ]
    return found


def extended(
    history: Sequence[Mapping[str, Any]], found: Sequence[Change], date: str
) -> list[dict[str, Any]]:
    """Return the history with an entry for what was found, if anything was."""
    entries = [dict(entry) for entry in history]
    return [*entries, {"date": date, "changes": list(found)}] if found else entries


def after_results(history: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a line for each change that was made when results were known, oldest first."""
    return [
        f"{entry['date']}, `{one['claim']}`: {_written(one)}"
        for entry in history
        for one in entry["changes"]
        if one["results"] == AFTER
    ]


def _written(change: Change) -> str:
    part, old, new = change["part"], change["old"], change["new"]
    if part in ("added", "removed"):
        return f"{part}, “{old or new}”"
    if part == "claim":
        return f"from “{old}” to “{new}”"
    return f"{part} from {_value(old)} to {_value(new)}"


def _value(value: Any) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
