"""What no measure can be: a share above 1, a loss below the entropy of what it is measured on."""

import math
from collections.abc import Collection, Mapping

from workflow.planning.run_files import ScalarRecord

BOUNDS: Mapping[str, tuple[float, float]] = {
    "%": (0, 100),
    "BLEU": (0, 100),
    "fraction": (0, 1),
    "probability": (-1, 1),
    "tau": (-1, 1),
    "tau x100": (-100, 100),
    **dict.fromkeys(("K tokens/s", "ms", "tokens", "updates", "x100"), (0, math.inf)),
}
"""The least and the largest value of a unit; a `probability` may be a difference of two."""
WEIGHTS = ("attention", "best_head", "last_bottom", "last_top", "threshold")
"""Metrics that are weights of attention: those of some mechanisms don't sum to 1."""
ROUNDING = 1e-6
"""Of the distance between two bounds: so much beyond them is no fault."""
ERRORS = 4
"""Standard errors of the test sample that a loss may be below its floor."""


def bounds_of(unit: str | None, metric: str, values: Collection[float] = ()) -> tuple[float, float]:
    """Return the least and the largest value of a metric of a unit, infinite where it has none.

    Weights have those of their unit where all `values`, of one mechanism, are within.
    """
    low, high = BOUNDS.get(str(unit), (-math.inf, math.inf))
    within = values and low <= min(values) and max(values) <= high
    return (low, high) if within or metric not in WEIGHTS else (-math.inf, math.inf)


def beyond(scalars: Mapping[str, ScalarRecord], metric: str) -> str:
    """Say which bound a metric of an evaluator is beyond; empty where it is within, or has none.

    An evaluator that returns `floor` and `excess` knows the entropy of its text. A token's loss is
    taken to spread as much as its mean, which is more than it does: the standard error is never
    too small.

    Args:
        scalars: all that the evaluator returned.
        metric: the name of one.
    """
    told = scalars.get(metric, {})
    value, unit = told.get("value"), told.get("unit")
    if isinstance(value, str) or value is None:
        return ""
    low, high = bounds_of(unit, metric)
    slack = ROUNDING * (high - low)
    if high < math.inf and not low - slack <= value <= high + slack:
        return f"is {value:.6g}, and can only be between {low} and {high}"
    floor = scalars.get("floor", {}).get("value")
    if (
        not isinstance(floor, float | int)
        or "excess" not in scalars
        or unit != scalars["floor"].get("unit")
    ):
        return ""
    tokens = max((one.get("n") or 0 for one in scalars.values()), default=0)
    least = floor - ERRORS * floor / math.sqrt(tokens or math.inf)
    loss = value + floor if metric == "excess" else value
    if loss >= least or metric == "floor":
        return ""
    return (
        f"is {value:.4g}, so that the loss is {floor - loss:.3g} below the entropy of the text "
        f"({floor:.4g}), more than {ERRORS} standard errors: the model sees what it has to predict"
    )
