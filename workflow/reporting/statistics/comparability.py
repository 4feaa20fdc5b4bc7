"""Why runs of ours can't stand beside a paper's number: demo scale, overlay, other data."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from workflow.definitions.experiments import ScaleName
from workflow.definitions.values import Condition
from workflow.reporting.measures import EvaluatedRun


def base_scale(scale: str) -> ScaleName:
    """Return the scale that an overlay's scale `<scale>+<name>` stands on, or the scale itself."""
    return cast(ScaleName, scale.partition("+")[0])


def hindrances_of_scale(scale: str) -> list[str]:
    """Return the reasons why nothing at this scale can be compared; empty if it may be."""
    reasons = []
    if base_scale(scale) == "demo":
        reasons.append("the demo scale is too small to compare")
    if "+" in scale:
        reasons.append(f"the overlay {scale.partition('+')[2]!r} changes the settings")
    return reasons


def hindrances(
    scale: str, conditions: Sequence[Condition], measures: Sequence[EvaluatedRun]
) -> list[str]:
    """Return the reasons why these measures can't be compared with the paper; empty if they can.

    A condition is {when: {dotted setting: value or {below: number}}, because: text} and applies
    when all its settings match in any of the runs.
    """
    reasons = hindrances_of_scale(scale)
    if any(not measure.provenance for measure in measures):
        reasons.append("a run's run.json is missing, so its settings are unknown")
    for condition in conditions:
        if any(_applies(condition, measure) for measure in measures):
            reasons.append(condition["because"])
    return reasons


def _applies(condition: Condition, measure: EvaluatedRun) -> bool:
    wanted = condition["when"].items()
    return all(_matches(value, measure.setting(key)) for key, value in wanted)


def _matches(wanted: Any, value: Any) -> bool:
    if isinstance(wanted, Mapping):
        return isinstance(value, int | float) and value < wanted["below"]
    return bool(value == wanted)
