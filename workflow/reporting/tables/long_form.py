"""A table in long form: one record a cell, metric and source, with the verdict on each.

Tables are defined in `tables.yaml` of their paper: rows, columns, and per column the metrics it
shows.  The variant behind a cell is a template of the row's and the column's id.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workflow.definitions import cells as needs
from workflow.definitions.expected import Expected, Printed
from workflow.definitions.paper import Paper
from workflow.reporting.measures import Measure, Measures
from workflow.reporting.provenance import partners, provenance
from workflow.reporting.statistics.cells import (
    UNDEFINED,
    Record,
    ours_of,
    over_examples,
    over_outcomes,
    over_runs,
    text,
)
from workflow.reporting.statistics.comparability import base_scale, hindrances
from workflow.reporting.statistics.verdict import Tolerance, judge

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
QUOTED = "quoted"
"""In the place of a verdict, for what the paper itself quotes from others and nobody runs."""


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
        for metric in (_metric(metrics, one, row) for one in needs.metrics_of(row, column)):
            shown = _shown(metric, behind)
            runs.update({measure.identity: provenance(measure) for measure in shown})
            for record, wide in _records(context, row, column, metric, shown):
                records.append(record)
                cells.append({**_cell(context, record, metric, shown), "wide": wide})
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


def _metric(metrics: Mapping[str, Any], name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a metric with its `name`, and with the word of the row where it is the list of one."""
    metric = {**metrics[name], "name": name}
    if "of" in metric:
        metric["of"] = str(metric["of"]).format(row=row["id"])
    return metric


def _shown(metric: Mapping[str, Any], behind: Sequence[Measure]) -> Sequence[Measure]:
    """Return the runs that a cell shows: of a number all of them, of a text the first that has it.

    Texts have no mean.
    """
    for measure in behind:
        found = measure.of_metric(metric)
        if found is not None:
            return [measure] if isinstance(found["value"], str) else behind
    return behind


def _records(
    context: Context,
    row: Mapping[str, Any],
    column: Mapping[str, Any],
    metric: Mapping[str, Any],
    behind: Sequence[Measure],
) -> list[tuple[Record, bool]]:
    """Return a cell's records for one metric: one a source, and one more for the other spread.

    With each, whether its tolerance is so wide that nearly any run meets it, or chance does.
    """
    paper, table = context.paper, context.table
    share = bool(metric.get("proportion"))
    statistic = metric.get("statistic", table.get("statistic", "mean"))
    ours, scalars = ours_of(metric, statistic, behind)
    places = needs.printed_places(table, row, column) if "printed" in metric else []
    unprinted = Expected(table["source"], Printed(""), metric["unit"], "", "")
    printed = paper.expected.all_at(places, metric.get("printed", "")) or [unprinted]
    why = hindrances(context.scale, paper.tables.get("not_comparable", []), behind)
    why += ["our value is undefined"] if ours.mean == UNDEFINED else []
    by_runs = over_outcomes(metric, ours, behind) if share else over_runs(ours)
    statistics = over_examples(metric, ours, scalars, behind) or by_runs
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
            "metric": metric["name"],
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


def _difference(context: Context, record: Record) -> str:
    """Return an overlay's difference to the scale it stands on, or nothing."""
    base = context.base.get(key(record))
    try:
        return f"{float(record['mean']) - float(base['mean']):+.3g}" if base else ""
    except ValueError:
        return ""


def _cell(
    context: Context, record: Record, metric: Mapping[str, Any], behind: Sequence[Measure]
) -> dict[str, Any]:
    """Return a record's entry in the sidecar: what was measured, and on which runs."""
    return {
        **{name: record[name] for name in IDENTITY},
        "measure": metric["measure"],
        "difference": _difference(context, record) or None,
        "seeds": [measure.seed for measure in behind],
        "runs": [measure.identity for measure in behind],
        "measures": [measure.path.as_posix() for measure in behind],
        "partners": partners((measure, metric["measure"]) for measure in behind),
    }
