"""What is behind a cell: the runs that it shows, those left out, and notes on both."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from workflow.definitions import cells as needs
from workflow.definitions.paper import Paper
from workflow.definitions.tables import Column, Metric, Table, TableRow
from workflow.reporting.cells import OtherDevice
from workflow.reporting.measures import (
    EvaluatedRun,
    MetricValue,
    by_usual_device,
    device_of,
    partners,
)
from workflow.reporting.overlaid import Changes, Overlaid, changes_behind, exchanged
from workflow.reporting.statistics import intervals
from workflow.reporting.statistics.verdict import Ours
from workflow.reporting.tables.footnotes import on_device


@dataclass(frozen=True)
class Context:
    """What the cells of one table share."""

    paper: Paper
    name: str
    scale: str
    base: Mapping[tuple[str, ...], float | str | None]
    """For an overlay: the values of the scale it stands on, by `key_of` their cells."""
    overlaid: Overlaid
    """What an overlay changes."""
    failed: Mapping[str, str]
    """Why runs failed, by `<experiment>/<variant>`."""

    @property
    def table(self) -> Table:
        """The table's own definition."""
        return cast(Table, self.paper.definition("tables", self.name))


@dataclass(frozen=True)
class CellMetric:
    """A row and a column of a table, and one of the metrics that are shown there."""

    context: Context
    row: TableRow
    column: Column
    called: str
    """The metric's name."""
    metric: Metric
    measured: Sequence[EvaluatedRun]
    """The runs of the variant."""
    most: int | None = None
    """Of the runs, by seed, that the cell shows at most; all without it."""

    @cached_property
    def timed(self) -> Sequence[EvaluatedRun]:
        """The runs but those whose timings are of another kind of machine, or of other code."""
        return [run for run in self.measured if not run.left_out(self.metric["measure"])]

    @cached_property
    def behind(self) -> Sequence[EvaluatedRun]:
        """The runs that the cell shows: of a number those of one device, of a text the first.

        Texts have no mean.
        """
        known = [run for run in self.timed if run.of_metric(self.metric)]
        first = known[0].of_metric(self.metric) if known else None
        if first and isinstance(first.value, str):
            return known[:1]
        return (by_usual_device(self.timed, known)[0] if known else self.timed)[: self.most]

    @property
    def statistic(self) -> str:
        """What the cell shows of several runs."""
        return self.metric.get("statistic", self.context.table.get("statistic", "mean"))

    @cached_property
    def data(self) -> str:
        """The dataset that an overlay puts in the place of the paper's, if it does."""
        return exchanged(self.context.overlaid, self.behind)


class BehindCell(Changes):
    """The columns of a cell that say what is behind it, see `workflow.reporting.cells.Cell`."""

    seeds: list[int]
    runs: list[str]
    measures: list[str]
    partners: list[str]
    between: list[float]
    impossible: list[str]
    diverged: list[str]
    failed: str
    other_devices: list[OtherDevice]


def columns_of(place: CellMetric, ours: Ours) -> BehindCell:
    """Return the columns that say which runs are behind a cell, and what is to be said of them."""
    runs = place.behind
    return {
        "seeds": [run.seed for run in runs],
        "runs": [run.identity for run in runs],
        "measures": [run.path.as_posix() for run in runs],
        "partners": partners((run, place.metric["measure"]) for run in runs),
        "between": list(ours.between or ()),
        "impossible": [why for run in runs if (why := run.impossible(place.metric["measure"]))],
        "diverged": [run.diverged for run in runs if run.diverged],
        "failed": "" if runs else _failed(place),
        "other_devices": _on_other_devices(place),
        **changes_behind(place.context.overlaid, runs),
    }


def notes_on(place: CellMetric, scalars: Sequence[MetricValue], columns: BehindCell) -> list[str]:
    """Return notes on the runs behind a cell: how they count, which are left out, which failed."""
    share = bool(place.metric.get("proportion")) and bool(scalars)
    return [
        "fraction of runs, with its exact interval" if share else "",
        *_lacking(place),
        *columns["impossible"],
        *columns["diverged"],
        _left_out(place),
        *map(on_device, columns["other_devices"]),
        f"failed: {columns['failed']}" if columns["failed"] else "",
        "" if place.data else str(place.row.get("note", "")),
    ]


def _on_other_devices(place: CellMetric) -> list[OtherDevice]:
    """Return what runs of other devices than the cell's have, a device each.

    Nothing where all have one value, as a count of parameters has.
    """
    found: list[OtherDevice] = []
    values = _numbers(place.metric, place.behind)
    for device in dict.fromkeys(map(device_of, place.measured)):
        others = [run for run in place.timed if device_of(run) == device]
        others = [run for run in others if run not in place.behind]
        theirs = _numbers(place.metric, others)
        if values and theirs and len({*values, *theirs}) > 1:
            mean = sum(theirs) / len(theirs)
            found.append(
                {
                    "device": device,
                    "mean": mean,
                    "n": len(theirs),
                    "difference": mean - sum(values) / len(values),
                    "interval": intervals.apart(theirs, values),
                    "runs": [run.identity for run in others],
                    "measures": [run.path.as_posix() for run in others],
                }
            )
    return found


def _numbers(metric: Metric, runs: Sequence[EvaluatedRun]) -> list[float]:
    scalars = (run.of_metric(metric) for run in runs)
    return [one.value for one in scalars if one and isinstance(one.value, float | int)]


def _lacking(place: CellMetric) -> list[str]:
    """Say in how many runs the metric has no value, and in how many it was not measured."""
    runs = place.behind
    undefined = sum(run.undefined(place.metric["measure"]) for run in runs)
    known = sum(run.of_metric(place.metric) is not None for run in runs)
    counts = {"is undefined in": undefined, "is missing in": len(runs) - known - undefined}
    return [
        f"the measure {what} {count} of {len(runs)} runs" for what, count in counts.items() if count
    ]


def _left_out(place: CellMetric) -> str:
    """Say of timings on which kind of machine they are, and which others are left out, if any."""
    here = " or ".join(dict.fromkeys(str(run.provenance.get("device")) for run in place.timed))
    why = (run.left_out(place.metric["measure"]) for run in place.measured)
    counts = Counter(filter(None, why))
    runs = [f"{count} run{'s' * (count != 1)} {why}" for why, count in sorted(counts.items())]
    return f"timed on {here}; {', '.join(runs)} left out" if counts else ""


def _failed(place: CellMetric) -> str:
    pair = needs.behind_cell(place.context.table, place.row, place.column)
    return place.context.failed.get("/".join(pair), "")
