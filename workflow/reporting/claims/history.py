"""The history of claims: one that was reworded or asks for something else is shown as changed."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from workflow.files import read_json
from workflow.reporting.claims.judging import CHECK

NAME = "claims_history.json"
PARTS = ("claim", "direction", "margin", "interest", "over")
"""What decides a claim, of what is published of it, and its sentence."""
AFTER, BEFORE = "after", "before"
KINDS = {"added": "added", "removed": "removed", "claim": "reworded"}
ASKED = "asked otherwise"
"""What became of a claim, by the `part` of it that changed; of any other part, the latter."""
ClaimChange = Mapping[str, Any]
"""`claim`, the `part` of it with `old` and `new`, and whether its `results` were known."""


def claims_of(published: Path) -> list[dict[str, Any]]:
    """Return the claims published below a scale's folder, as their JSON has them."""
    paths = sorted((published / "claims").glob("*.json"))
    return [claim for path in paths for claim in read_json(path)["claims"]]


def changes(
    before: Iterable[Mapping[str, Any]],
    after: Iterable[Mapping[str, Any]],
    published: Collection[str],
) -> list[ClaimChange]:
    """Return what changed from some published claims to others.

    A claim that was not there, or is gone, has `part` `added` or `removed`. Results were known
    where a run behind it is among those `published` before. Claims that are the first ones to be
    published are no change.
    """
    old, new = ({str(one["id"]): one for one in claims} for claims in (before, after))
    found: list[ClaimChange] = []
    for name in dict.fromkeys([*old, *new]) if old else ():
        one, other = old.get(name), new.get(name)
        here = one or other or {}
        known = any(run in published for run in here["runs"])
        found += [
            {
                "claim": name,
                "part": part,
                "old": was,
                "new": becomes,
                "results": AFTER if known else BEFORE,
            }
            for part, was, becomes in _parts(one, other)
        ]
    return found


def _parts(
    one: Mapping[str, Any] | None, other: Mapping[str, Any] | None
) -> list[tuple[str, Any, Any]]:
    """Return part, old and new value of what a claim changed in."""
    if other is None:
        return [("removed", _said(one or {}), None)]
    if one is None:
        return [("added", None, _said(other))]
    both = [part for part in PARTS if part in one and part in other]
    values = [
        (part, *(_said(it) if part == "claim" else it[part] for it in (one, other)))
        for part in both
    ]
    return [(part, was, becomes) for part, was, becomes in values if was != becomes]


def _said(claim: Mapping[str, Any]) -> str:
    """Return the sentence of a claim, of a check as of any other."""
    said = str(claim["claim"]).removeprefix(CHECK)
    return said[:1].upper() + said[1:]


def extended(
    history: Sequence[Mapping[str, Any]], found: Sequence[ClaimChange], date: str
) -> list[dict[str, Any]]:
    """Return the history with an entry for what was found, if anything was."""
    entries = [dict(entry) for entry in history]
    return [*entries, {"date": date, "changes": list(found)}] if found else entries


def late(entries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the claims that were added, reworded or asked otherwise when results were known.

    Each with the first of these that became of it.
    """
    found: dict[str, str] = {}
    for entry in entries:
        for one in entry["changes"]:
            kind = KINDS.get(one["part"], ASKED)
            if one["results"] == AFTER and kind != "removed":
                found.setdefault(one["claim"], f"{kind} when results were known")
    return found


def after_results(history: Iterable[ClaimChange]) -> dict[str, int]:
    """Return how many changes of each kind were made when results were known."""
    parts = [
        one["part"] for entry in history for one in entry["changes"] if one["results"] == AFTER
    ]
    return Counter(KINDS.get(part, ASKED) for part in parts)
