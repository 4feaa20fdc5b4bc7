"""The history of claims: one that was reworded or asks for something else is shown as changed."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, TypedDict

from workflow.reporting.claims.judged import JudgedClaim, claims_in
from workflow.reporting.claims.judging import CHECK

NAME = "claims_history.json"
PARTS = ("claim", "direction", "margin", "interest", "over")
"""What decides a claim, of what is published of it, and its sentence."""
AFTER, BEFORE = "after", "before"
KINDS = {"added": "added", "removed": "removed", "claim": "reworded"}
ASKED = "asked otherwise"
"""What became of a claim, by the `part` of it that changed; of any other part, the latter."""


class ClaimChange(TypedDict):
    """What became of a claim."""

    claim: str
    part: str
    """What of it changed: `added`, `removed`, or one of `PARTS`."""
    old: Any
    new: Any
    results: str
    """Whether they were known: `AFTER` or `BEFORE`."""


class DatedChanges(TypedDict):
    """What a publication changed."""

    date: str
    changes: list[ClaimChange]


def claims_of(published: Path) -> list[JudgedClaim]:
    """Return the claims published below a scale's folder."""
    return claims_in((published / "claims").glob("*.json"))


def changes(
    before: Iterable[JudgedClaim], after: Iterable[JudgedClaim], published: Collection[str]
) -> list[ClaimChange]:
    """Return what changed from some published claims to others.

    A claim that was not there, or is gone, has `part` `added` or `removed`. Results were known
    where a run behind it is among those `published` before. Claims that are the first ones to be
    published are no change.
    """
    old, new = ({one.id: one for one in claims} for claims in (before, after))
    found: list[ClaimChange] = []
    for name in dict.fromkeys([*old, *new]) if old else ():
        one, other = old.get(name), new.get(name)
        known = any(run in published for run in (one or new[name]).runs)
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


def _parts(one: JudgedClaim | None, other: JudgedClaim | None) -> list[tuple[str, Any, Any]]:
    """Return part, old and new value of what a claim changed in."""
    if one is None or other is None:
        was, becomes = (it and _sentence(it) for it in (one, other))
        return [("removed" if one else "added", was, becomes)]
    values = [
        (part, *(_sentence(it) if part == "claim" else getattr(it, part) for it in (one, other)))
        for part in PARTS
    ]
    return [(part, was, becomes) for part, was, becomes in values if was != becomes]


def _sentence(claim: JudgedClaim) -> str:
    """Return the sentence of a claim, of a check as of any other."""
    sentence = claim.claim.removeprefix(CHECK)
    return sentence[:1].upper() + sentence[1:]


def extended(
    history: Sequence[DatedChanges], found: list[ClaimChange], date: str
) -> list[DatedChanges]:
    """Return the history with an entry for what was found, if anything was."""
    return [*history, {"date": date, "changes": found}] if found else [*history]


def late(entries: Iterable[DatedChanges]) -> dict[str, str]:
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


def after_results(history: Iterable[DatedChanges]) -> dict[str, int]:
    """Return how many changes of each kind were made when results were known."""
    parts = [
        one["part"] for entry in history for one in entry["changes"] if one["results"] == AFTER
    ]
    return Counter(KINDS.get(part, ASKED) for part in parts)
