"""A cell: our value with its spread over runs, outcomes or examples, beside the printed one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from workflow.definitions.tables import Metric
from workflow.files import csv_text, read_csv
from workflow.reporting.measures import Measure, Scalar
from workflow.reporting.statistics import intervals
from workflow.reporting.statistics.verdict import Ours

UNDEFINED = "undefined"
IDENTITY = ("source", "row", "column", "metric", "spread_over")
"""What tells a cell from all others of its table."""
NUMBERS = ("expected_std", "std", "ci_low", "ci_high")


class Statistics(NamedTuple):
    """Our value over the runs of a cell, and how far it spreads."""

    statistic: str
    spread_over: str
    mean: float | str | None = None
    std: float | None = None
    n: int | None = None
    ci_low: float | None = None
    ci_high: float | None = None

    def within(self, low: float, high: float) -> "Statistics":
        """Return the same with an interval that ends where the value's bounds are."""
        if self.ci_low is None or self.ci_high is None:
            return self
        return self._replace(ci_low=max(self.ci_low, low), ci_high=min(self.ci_high, high))


@dataclass(frozen=True)
class Cell:
    """One line of a table's long form; the fields are the columns of its CSV.

    Numbers are rounded where a cell is made, as `text` writes them: it is equal to what is read of
    its CSV.
    """

    paper: str = ""
    source: str = ""
    table: str = ""
    row: str = ""
    column: str = ""
    metric: str = ""
    unit: str = ""
    statistic: str = ""
    spread_over: str = ""
    expected: str = ""
    """As printed."""
    expected_std: float | None = None
    flag: str = ""
    mean: float | str | None = None
    """A text, such as a list of words, is shown and not scored."""
    std: float | None = None
    n: int | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    verdict: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", value_of(text(self.mean)))
        for name in NUMBERS:
            object.__setattr__(self, name, _number(text(getattr(self, name))))

    @property
    def place(self) -> tuple[str, str, str]:
        """Row, column and metric."""
        return self.row, self.column, self.metric

    @property
    def key(self) -> tuple[str, ...]:
        """What tells the cell from all others of its table: the fields of IDENTITY."""
        return tuple(getattr(self, name) for name in IDENTITY)

    @property
    def runs(self) -> int:
        """How many runs its spread is over; 0 where it is over examples, or nothing was run."""
        return self.n or 0 if self.spread_over == "runs" else 0


def write_cells(cells: Iterable[Cell]) -> str:
    """Return cells as CSV text, a value that is missing as an empty one."""
    columns = [field.name for field in fields(Cell)]
    return csv_text(columns, ({name: text(getattr(it, name)) for name in columns} for it in cells))


def read_cells(path: Path) -> list[Cell]:
    """Read the CSV of a table; ReportingError when it is missing."""
    return [
        Cell(**{name: _READ.get(name, str)(value) for name, value in line.items()})
        for line in read_csv(path)
    ]


def value_of(written: str) -> float | str | None:
    """Return the number that a text is, else the text; None for an empty one."""
    try:
        return float(written)
    except ValueError:
        return written or None


def _number(written: str) -> float | None:
    return float(written) if written else None


_READ: Mapping[str, Any] = {
    "mean": value_of,
    "n": lambda written: int(written) if written else None,
    **dict.fromkeys(NUMBERS, _number),
}


def ours_of(metric: Metric, statistic: str, behind: Sequence[Measure]) -> tuple[Ours, list[Scalar]]:
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


def over_runs(ours: Ours) -> Statistics:
    """Return the statistics of a cell whose spread is over runs."""
    runs = ours.runs or None
    if not isinstance(ours.mean, float) or ours.statistic != "mean":
        return Statistics(ours.statistic, "runs", ours.mean, n=runs)
    bounds = intervals.interval(ours.mean, ours.std, ours.runs) or (None, None)
    return Statistics(ours.statistic, "runs", ours.mean, ours.std, runs, *bounds)


def over_outcomes(metric: Mapping[str, Any], ours: Ours, behind: Sequence[Measure]) -> Statistics:
    """Return the statistics of a proportion: no deviation, and its exact interval from one run on.

    Raises ReportingError when the measure of a run is neither 0 nor 1.
    """
    known = [measure.outcome(metric["measure"]) for measure in behind]
    outcomes = [outcome for outcome in known if outcome is not None]
    bounds = intervals.exact(sum(outcomes), len(outcomes)) if outcomes else (None, None)
    return Statistics(ours.statistic, "runs", ours.mean, None, ours.runs or None, *bounds)


def over_examples(
    metric: Mapping[str, Any],
    ours: Ours,
    scalars: Sequence[Scalar],
    behind: Sequence[Measure],
) -> Statistics | None:
    """Return the statistics of a metric whose spread is over examples, or None for other metrics.

    The standard deviation is pooled over runs; the interval is of the per-example values averaged
    over runs, or from the pooled deviation where the per-example values were not kept.
    """
    if metric.get("spread_over", "runs") != "examples":
        return None
    if not isinstance(ours.mean, float):
        return Statistics(ours.statistic, "examples", ours.mean)
    std = intervals.pooled([scalar.std for scalar in scalars])
    arrays = [measure.array(metric["measure"]) for measure in behind]
    bounds = intervals.interval(ours.mean, std, ours.examples or 0)
    if arrays and all(arrays):
        means = intervals.over_seeds(arrays)
        bounds = intervals.interval(ours.mean, intervals.spread(means.tolist()), len(means))
    low, high = bounds or (None, None)
    return Statistics(ours.statistic, "examples", ours.mean, std, ours.examples, low, high)


def text(value: float | str | None) -> str:
    """Return a value of a cell as text: whole numbers exactly, else six significant digits."""
    if value is None or isinstance(value, str):
        return value or ""
    return str(int(value)) if float(value).is_integer() else f"{value:.6g}"
