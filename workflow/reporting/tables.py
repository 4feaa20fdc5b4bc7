"""A table in long form: one record a cell, metric and source, with the verdict on each.

Tables are defined in `tables.yaml` of their paper: rows, columns, and per column the metrics it
shows.  The variant behind a cell is a template of the row's and the column's id.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workflow.reporting import intervals, needs
from workflow.reporting.comparability import base_scale, hindrances
from workflow.reporting.expected import Expected
from workflow.reporting.measures import Measure, Measures
from workflow.reporting.paper import Paper
from workflow.reporting.verdict import Ours, Printed, Tolerance, judge

COLUMNS = (
    "paper",
    "source",
    "table",
    "row",
    "column",
    "metric",
    "unit",
    "statistic",
    "spread_over",
    "expected",
    "expected_std",
    "flag",
    "mean",
    "std",
    "n",
    "ci_low",
    "ci_high",
    "verdict",
    "note",
)
IDENTITY = ("source", "row", "column", "metric", "spread_over")
"""What tells a record from all others of its table."""
UNDEFINED = "undefined"
QUOTED = "quoted"
"""In the place of a verdict, for what the paper itself quotes from others and nobody runs."""
Record = dict[str, str]
"""One line of the long form; every value as text, empty where there is none."""


@dataclass(frozen=True)
class Table:
    """A table's records and the sidecar that names the runs behind each of them."""

    records: list[Record]
    sidecar: dict[str, Any]


@dataclass(frozen=True)
class Context:
    """What the cells of one table share."""

    paper: Paper
    name: str
    scale: str
    base: Mapping[tuple[str, ...], Record]
    """For an overlay: the records of the scale it stands on, by `key`."""

    @property
    def table(self) -> Mapping[str, Any]:
        """The table's own definition."""
        return self.paper.definition("tables", self.name)


def key(record: Mapping[str, str]) -> tuple[str, ...]:
    """Return what identifies a record within its table."""
    return tuple(record[name] for name in IDENTITY)


def build(
    paper: Paper, name: str, scale: str, measures: Measures, base: Sequence[Record] = ()
) -> Table:
    """Return a table over the given measures; cells without a measure are `not run`.

    For an overlay, `base` are the records of the scale it stands on.

    Raises ReportingError when there is no such table, or its definition points to a number that
    the paper does not print.
    """
    context = Context(paper, name, scale, {key(record): record for record in base})
    table, metrics, runs = context.table, paper.tables["metrics"], {}
    records: list[Record] = []
    cells: list[dict[str, Any]] = []
    for row, column in needs.cells(table):
        variant = needs.cell_variant(table, row, column)
        experiment = needs.row_experiment(table, row)
        behind = [] if row.get("quoted") else measures.of(experiment, variant)
        runs.update({measure.identity: provenance(measure) for measure in behind})
        for metric in needs.metrics_of(row, column):
            for record, wide in _records(context, row, column, metric, behind):
                records.append(record)
                cells.append({**_cell(context, record, behind), "wide": wide})
    sidecar = {
        "schema": 1,
        "paper": paper.name,
        "table": name,
        "scale": scale,
        "base": base_scale(scale) if base else None,
        "repeats": table.get("repeats"),
        "tolerances": {
            metric: rule["tolerance"] for metric, rule in metrics.items() if "tolerance" in rule
        },
        "runs": runs,
        "cells": cells,
    }
    return Table(records, sidecar)


def provenance(measure: Measure) -> dict[str, Any]:
    """Return where a run comes from: its labels, code, data, commit and hardware."""
    run = measure.provenance
    known = ("code", "commit", "dirty", "torch", "cuda", "python", "cpu", "device", "finished")
    labels = {name: measure.run.get(name) for name in ("experiment", "variant", "seed", "scale")}
    spec = run.get("spec", {})
    settings = {
        "data": spec.get("data", {}).get("digest"),
        "precision": spec.get("training", {}).get("precision"),
    }
    return {**labels, **settings, **{name: run.get(name) for name in known}}


def _records(
    context: Context,
    row: Mapping[str, Any],
    column: Mapping[str, Any],
    name: str,
    behind: Sequence[Measure],
) -> list[tuple[Record, bool]]:
    """Return a cell's records for one metric: one a source, and one more for the other spread.

    With each, whether its tolerance is so wide that nearly any run meets it, or chance does.
    """
    paper, table = context.paper, context.table
    metric = paper.tables["metrics"][name]
    if "of" in metric:
        metric = {**metric, "of": str(metric["of"]).format(row=row["id"])}
    share = bool(metric.get("proportion"))
    statistic = metric.get("statistic", table.get("statistic", "mean"))
    ours, scalars = _ours(metric, statistic, behind)
    places = needs.printed_places(table, row, column) if "printed" in metric else []
    unprinted = Expected(table["source"], Printed(""), metric["unit"], "", "")
    printed = paper.expected.all_at(places, metric.get("printed", "")) or [unprinted]
    why = hindrances(context.scale, paper.tables.get("not_comparable", []), behind)
    why += ["our value is undefined"] if ours.mean == UNDEFINED else []
    by_runs = _over_outcomes(metric, ours, behind) if share else _over_runs(ours)
    statistics = _over_examples(metric, ours, scalars, behind) or by_runs
    chance = _chance(metric, behind)
    records = []
    for number in printed:
        tolerance = Tolerance.of(metric["tolerance"]) if "tolerance" in metric else None
        misprint = ["the printed number is a misprint"] if number.flag == "misprint" else []
        star = _one_star(metric, number, behind)
        verdict = judge(ours, number.printed, tolerance, [*why, *misprint, *star])
        by_chance = chance is not None and verdict.met_by(chance, number.printed)
        seeds = ", ".join(str(measure.seed) for measure in behind)
        notes = [
            "" if row.get("quoted") else verdict.reason,
            f"chance ({chance:.3g}) lies within the tolerance" if by_chance else "",
            f"seeds {seeds}" if behind else "",
            number.note,
        ]
        notes += ["fraction of runs, with its Wilson interval"] if share and scalars else []
        notes += _lacking(metric, behind)
        notes.append(str(row.get("note", "")))
        record = {
            **dict.fromkeys(COLUMNS, ""),
            **statistics,
            "paper": paper.name,
            "source": number.source,
            "table": context.name,
            "row": needs.row_name(row),
            "column": str(column["label"]),
            "metric": name,
            "unit": metric["unit"],
            "expected": number.printed.text,
            "expected_std": text(number.printed.std),
            "flag": number.flag or str(row.get("flag", "")),
            "verdict": QUOTED if row.get("quoted") else verdict.word,
        }
        difference = _difference(context, record)
        if difference:
            notes.append(f"{base_scale(context.scale)}: difference {difference}")
        record["note"] = "; ".join(note for note in notes if note)
        records.append((record, by_chance or "wide" in metric))
    if statistics is not by_runs and ours.runs:
        unknown = dict.fromkeys(("std", "ci_low", "ci_high"), "")
        other = {**records[0][0], **unknown, **by_runs, "verdict": "not comparable", "flag": ""}
        other |= {"expected": "", "expected_std": "", "source": table["source"]}
        other["note"] = "spread over runs; the paper's is over examples"
        records.append((other, False))
    return records


def _chance(metric: Mapping[str, Any], behind: Sequence[Measure]) -> float | None:
    """Return what chance has in place of a metric: its measure with `_chance` behind its name."""
    found = [measure.scalar(f"{metric['measure']}_chance") for measure in behind]
    values = [float(scalar["value"]) for scalar in found if scalar is not None]
    return sum(values) / len(values) if values else None


def _one_star(metric: Mapping[str, Any], number: Expected, behind: Sequence[Measure]) -> list[str]:
    """Say that only the printed number or only ours has the star of what is never exceeded."""
    if not metric.get("starred") or not number.printed.text:
        return []
    found = [measure.scalar(f"{metric['measure']}_never") for measure in behind]
    ours = any(scalar["value"] for scalar in found if scalar)
    if ours == (number.flag == "starred"):
        return []
    return [f"only {'ours' if ours else 'the printed number'} was never exceeded (*)"]


def _lacking(metric: Mapping[str, Any], behind: Sequence[Measure]) -> list[str]:
    """Say in how many runs the metric is undefined, and in how many it was not measured."""
    undefined = sum(measure.undefined(metric["measure"]) for measure in behind)
    known = sum(measure.of_metric(metric) is not None for measure in behind)
    counts = {"is undefined in": undefined, "is missing in": len(behind) - known - undefined}
    return [
        f"the measure {what} {count} of {len(behind)} runs"
        for what, count in counts.items()
        if count
    ]


def _ours(
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
        return Ours(len(scalars), scalars[0]["value"], statistic="single"), scalars
    values = [float(scalar["value"]) for scalar in scalars]
    statistic = "mean" if share else statistic
    mean = max(values) if statistic == "max" else sum(values) / len(values)
    sizes = [int(scalar["n"]) for scalar in scalars if scalar.get("n")]
    sizes = [len(values)] if share else sizes
    shown = statistic if len(values) > 1 else "single"
    examples = min(sizes) if sizes else None
    return Ours(len(values), mean, intervals.spread(values), shown, examples), scalars


def _over_runs(ours: Ours) -> Record:
    """Return the statistics of a cell whose spread is over runs."""
    statistics = {"statistic": ours.statistic, "spread_over": "runs", "mean": text(ours.mean)}
    if isinstance(ours.mean, float) and ours.statistic == "mean":
        statistics["std"] = text(ours.std)
        low, high = intervals.interval(ours.mean, ours.std, ours.runs) or (None, None)
        statistics |= {"ci_low": text(low), "ci_high": text(high)}
    return {**statistics, "n": str(ours.runs) if ours.runs else ""}


def _over_outcomes(metric: Mapping[str, Any], ours: Ours, behind: Sequence[Measure]) -> Record:
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


def _over_examples(
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


def _difference(context: Context, record: Record) -> str:
    """Return an overlay's difference to the scale it stands on, or nothing."""
    base = context.base.get(key(record))
    try:
        return f"{float(record['mean']) - float(base['mean']):+.3g}" if base else ""
    except ValueError:
        return ""


def _cell(context: Context, record: Record, behind: Sequence[Measure]) -> dict[str, Any]:
    return {
        **{name: record[name] for name in IDENTITY},
        "difference": _difference(context, record) or None,
        "seeds": [measure.seed for measure in behind],
        "runs": [measure.identity for measure in behind],
        "measures": [measure.path.as_posix() for measure in behind],
    }


def text(value: float | str | None) -> str:
    """Return a value of a record as text: whole numbers exactly, else six significant digits."""
    if value is None or isinstance(value, str):
        return value or ""
    return str(int(value)) if float(value).is_integer() else f"{value:.6g}"
