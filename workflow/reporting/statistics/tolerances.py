"""The history of tolerances: a rule that changed after a publication is shown as changed."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TypedDict, cast

from workflow.definitions.paper import Paper
from workflow.definitions.tables import Rule

NAME = "tolerances.json"
Rules = dict[str, Rule]
"""By `<paper> <metric>`, the rule of `tables.yaml`."""


class DatedRules(TypedDict):
    """The rules of a publication."""

    date: str
    rules: Rules


def current() -> Rules:
    """Return the rules that stand in the papers' `tables.yaml` now, without those before them."""
    return {
        f"{paper.name} {name}": cast(
            Rule, {key: value for key, value in metric["tolerance"].items() if key != "formerly"}
        )
        for paper in Paper.all()
        for name, metric in paper.tables["metrics"].items()
        if "tolerance" in metric
    }


def extended(history: Sequence[DatedRules], rules: Rules, date: str) -> list[DatedRules]:
    """Return the history with `rules` added, unless they are those of its last entry."""
    same = history and history[-1]["rules"] == rules
    return [*history] if same else [*history, {"date": date, "rules": rules}]


def changes(history: Sequence[DatedRules], rules: Rules) -> list[str]:
    """Return a sentence for each rule that differs from the one before it, oldest first."""
    if not history:
        return []
    said = []
    entries: list[DatedRules] = [*history, {"date": "not yet published", "rules": rules}]
    for before, after in pairwise(entries):
        for name, rule in after["rules"].items():
            old = before["rules"].get(name)
            if old is not None and old != rule:
                said.append(f"{name} ({after['date']}): from {_written(old)} to {_written(rule)}")
    return said


def _written(rule: Rule) -> str:
    rows = ", ".join(f"{row} {std}" for row, std in rule.get("by_row", {}).items())
    parts = [f"{key} {value}" for key, value in rule.items() if key != "by_row"]
    return ", ".join([*parts, *([f"by row ({rows})"] if rows else [])])
