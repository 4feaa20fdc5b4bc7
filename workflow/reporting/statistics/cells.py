"""The statistics of a cell: our value, and its spread over runs, outcomes or examples, as text."""

from collections.abc import Mapping, Sequence
from typing import Any

from workflow.reporting.measures import Measure
from workflow.reporting.statistics import intervals
from workflow.reporting.statistics.verdict import Ours

UNDEFINED = "undefined"
Record = dict[str, str]
"""One line of the long form; every value as text, empty where there is none."""


def ours_of(
    metric: Mapping[str, Any], statistic: str, behind: Sequence[Measure]
) -> tuple[Ours, list[Mapping[str, Any]]]:
    """Return our value over the runs that have the metric, and their scalars.

    The value is `UNDEFINED` where the metric was measured, but has a value in no run.  That of a
    proportion is the fraction of runs, in a table of best runs too, and its sample are the runs.
    """
    share = bool(metric.get("proportion"))
    found = [measure.of_metric(metric) for measure in behind]
    scalars = [scalar for scalar in found if scalar is not None]
    if not scalars:
        undefined = sum(measure.undefined(metric["measure"]) for measure in behind)
        return (Ours(undefined, UNDEFINED, statistic="single") if undefined else Ours(0)), []
    if isinstance(scalars[0]["value"], str):
        return Ours(1, scalars[0]["value"], statistic="single"), scalars
    values = [float(scalar["value"]) for scalar in scalars]
    statistic = "mean" if share else statistic
    mean = max(values) if statistic == "max" else sum(values) / len(values)
    sizes = [int(scalar["n"]) for scalar in scalars if scalar.get("n")]
    sizes = [len(values)] if share else sizes
    shown = statistic if len(values) > 1 else "single"
    examples = min(sizes) if sizes else None
    return Ours(len(values), mean, intervals.spread(values), shown, examples), scalars


def over_runs(ours: Ours) -> Record:
    """Return the statistics of a cell whose spread is over runs."""
    statistics = {"statistic": ours.statistic, "spread_over": "runs", "mean": text(ours.mean)}
    if isinstance(ours.mean, float) and ours.statistic == "mean":
        statistics["std"] = text(ours.std)
        low, high = intervals.interval(ours.mean, ours.std, ours.runs) or (None, None)
        statistics |= {"ci_low": text(low), "ci_high": text(high)}
    return {**statistics, "n": str(ours.runs) if ours.runs else ""}


def over_outcomes(metric: Mapping[str, Any], ours: Ours, behind: Sequence[Measure]) -> Record:
    """Return the statistics of a proportion: no deviation, and Wilson's interval from one run on.

    Raises ReportingError when the measure of a run is neither 0 nor 1.
    """
    found = [measure.outcome(metric["measure"]) for measure in behind]
    outcomes = [outcome for outcome in found if outcome is not None]
    low, high = intervals.wilson(sum(outcomes), len(outcomes)) if outcomes else (None, None)
    return {
        "statistic": ours.statistic,
        "spread_over": "runs",
        "mean": text(ours.mean),
        "n": str(ours.runs) if ours.runs else "",
        "ci_low": text(low),
        "ci_high": text(high),
    }


def over_examples(
    metric: Mapping[str, Any],
    ours: Ours,
    scalars: Sequence[Mapping[str, Any]],
    behind: Sequence[Measure],
) -> Record | None:
    """Return the statistics of a metric whose spread is over examples, or None for other metrics.

    The standard deviation is pooled over runs; the interval is of the per-example values averaged
    over runs, or from the pooled deviation where the per-example values were not kept.
    """
    if metric.get("spread_over", "runs") != "examples":
        return None
    if not isinstance(ours.mean, float):
        return {"statistic": ours.statistic, "spread_over": "examples", "mean": text(ours.mean)}
    std = intervals.pooled([scalar.get("std") for scalar in scalars])
    arrays = [measure.array(metric["measure"]) for measure in behind]
    bounds = intervals.interval(ours.mean, std, ours.examples or 0)
    if arrays and all(arrays):
        means = intervals.over_seeds(arrays)
        bounds = intervals.interval(ours.mean, intervals.spread(means.tolist()), len(means))
    low, high = bounds or (None, None)
    return {
        "statistic": ours.statistic,
        "spread_over": "examples",
        "mean": text(ours.mean),
        "std": text(std),
        "n": text(ours.examples),
        "ci_low": text(low),
        "ci_high": text(high),
    }


def text(value: float | str | None) -> str:
    """Return a value of a record as text: whole numbers exactly, else six significant digits."""
    if value is None or isinstance(value, str):
        return value or ""
    return str(int(value)) if float(value).is_integer() else f"{value:.6g}"
