"""Our value over the runs of a cell, and its spread over runs, outcomes or examples."""

from collections.abc import Sequence
from typing import Any, TypedDict

from workflow.definitions.tables import Metric
from workflow.reporting.measures import EvaluatedRun, MetricValue
from workflow.reporting.statistics import intervals
from workflow.reporting.statistics.verdict import Ours

UNDEFINED = "undefined"


class Spread(TypedDict):
    """The columns of a cell from `statistic` to `ci_high`, but for the printed ones."""

    statistic: str
    spread_over: str
    mean: float | str | None
    std: float | None
    n: int | None
    ci_low: float | None
    ci_high: float | None


def ours_of(
    metric: Metric, statistic: str, behind: Sequence[EvaluatedRun]
) -> tuple[Ours, list[MetricValue]]:
    """Return our value over the runs that have the metric, and their scalars.

    The value is `UNDEFINED` where the metric was measured, but has a value in no run.  That of a
    proportion is the fraction of runs, in a table of best runs too, and its sample are the runs.
    """
    share = bool(metric.get("proportion"))
    scalars = [scalar for measure in behind if (scalar := measure.of_metric(metric))]
    if not scalars:
        undefined = sum(measure.undefined(metric["measure"]) for measure in behind)
        return (Ours(undefined, UNDEFINED, statistic="single") if undefined else Ours(0)), []
    if isinstance(scalars[0].value, str):
        return Ours(1, scalars[0].value, statistic="single"), scalars
    values = [float(scalar.value) for scalar in scalars]
    statistic = "mean" if share else statistic
    mean = max(values) if statistic == "max" else sum(values) / len(values)
    sizes = [scalar.n for scalar in scalars if scalar.n]
    sizes = [len(values)] if share else sizes
    shown = statistic if len(values) > 1 else "single"
    examples = min(sizes) if sizes else None
    return Ours(len(values), mean, intervals.spread(values), shown, examples), scalars


def over_runs(ours: Ours) -> Spread:
    """Return the spread of a cell over runs."""
    if not isinstance(ours.mean, float) or ours.statistic != "mean":
        return _spread(ours, "runs", n=ours.runs)
    ends = intervals.interval(ours.mean, ours.std, ours.runs)
    return _spread(ours, "runs", ours.std, ours.runs, ends)


def over_outcomes(metric: Metric, ours: Ours, behind: Sequence[EvaluatedRun]) -> Spread:
    """Return the spread of a proportion: no deviation, and its exact interval from one run on.

    Raises ReportingError when the measure of a run is neither 0 nor 1.
    """
    known = [measure.outcome(metric["measure"]) for measure in behind]
    outcomes = [outcome for outcome in known if outcome is not None]
    ends = intervals.exact(sum(outcomes), len(outcomes)) if outcomes else None
    return _spread(ours, "runs", n=ours.runs, ends=ends)


def over_examples(ours: Ours, arrays: Sequence[Any], scalars: Sequence[MetricValue]) -> Spread:
    """Return the spread of a cell over examples; `arrays` are per-example values of each run.

    The standard deviation is pooled over runs; the interval is of the per-example values averaged
    over runs, or from the pooled deviation where the per-example values were not kept.
    """
    if not isinstance(ours.mean, float):
        return _spread(ours, "examples")
    std = intervals.pooled([scalar.std for scalar in scalars])
    ends = intervals.interval(ours.mean, std, ours.examples or 0)
    if arrays and all(arrays):
        means = intervals.over_seeds(arrays)
        ends = intervals.interval(ours.mean, intervals.spread(means.tolist()), len(means))
    return _spread(ours, "examples", std, ours.examples, ends)


def within(spread: Spread, low: float, high: float) -> Spread:
    """Return the same with an interval that ends where the value's bounds are."""
    if spread["ci_low"] is None or spread["ci_high"] is None:
        return spread
    low, high = max(spread["ci_low"], low), min(spread["ci_high"], high)
    return {**spread, "ci_low": low, "ci_high": high}


def _spread(
    ours: Ours,
    over: str,
    std: float | None = None,
    n: int | None = None,
    ends: tuple[float, float] | None = None,
) -> Spread:
    low, high = ends or (None, None)
    return {
        "statistic": ours.statistic,
        "spread_over": over,
        "mean": ours.mean,
        "std": std,
        "n": n or None,
        "ci_low": low,
        "ci_high": high,
    }
