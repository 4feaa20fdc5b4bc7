"""The history of tolerances: a rule that changed after a publication is shown as changed."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from workflow.definitions.paper import Paper

NAME = "tolerances.json"
Rules = Mapping[str, Mapping[str, Any]]
"""By `<paper> <metric>`, the rule of `tables.yaml`."""


def current() -> dict[str, dict[str, Any]]:
    """Return the rules that stand in the papers' `tables.yaml` now, without those before them."""
    return {
        f"{paper.name} {name}": {
            key: value for key, value in metric["tolerance"].items() if key != "formerly"
        }
        for paper in Paper.all()
        for name, metric in paper.tables["metrics"].items()
        if "tolerance" in metric
    }


def extended(history: Sequence[Mapping[str, Any]], rules: Rules, date: str) -> list[dict[str, Any]]:
    """Return the history with `rules` added, unless they are those of its last entry."""
    entries = [dict(entry) for entry in history]
    if not entries or entries[-1]["rules"] != rules:
        entries.append({"date": date, "rules": dict(rules)})
    return entries


def changes(history: Sequence[Mapping[str, Any]], rules: Rules) -> list[str]:
    """Return a sentence for each rule that differs from the one before it, oldest first."""
    if not history:
        return []
    said = []
    entries = [*history, {"date": "not yet published", "rules": rules}]
    for before, after in pairwise(entries):
        for name, rule in after["rules"].items():
            old = before["rules"].get(name)
            if old is not None and old != rule:
                said.append(f"{name} ({after['date']}): from {_written(old)} to {_written(rule)}")
    return said


def _written(rule: Mapping[str, Any]) -> str:
    parts = dict(rule)
    rows = ", ".join(f"{row} {std}" for row, std in parts.pop("by_row", {}).items())
    parts |= {"by row": f"({rows})"} if rows else {}
    return ", ".join(f"{key} {value}" for key, value in parts.items())
