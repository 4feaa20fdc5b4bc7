"""A table in long form: a line for each cell, metric and source, with the verdict on each.

Tables are defined in `tables.yaml` of their paper: rows, columns, and per column the metrics it
shows.  The variant behind a cell is a template of the row's and the column's id.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from workflow.definitions import cells as needs
from workflow.definitions.expected import Expected, Printed
from workflow.definitions.paper import Paper
from workflow.definitions.tables import Column, Metric, Row, Rule, Table
from workflow.errors import ReportingError
from workflow.reporting.bounds import bounds_of
from workflow.reporting.measures import (
    Measure,
    Measures,
    Scalar,
    device_of,
    numbers_of,
    partners,
    provenance,
    usual_device,
)
from workflow.reporting.overlaid import NOTHING, Overlaid, changes_behind, exchanged
from workflow.reporting.statistics.cells import (
    IDENTITY,
    UNDEFINED,
    Cell,
    ours_of,
    over_examples,
    over_outcomes,
    over_runs,
)
from workflow.reporting.statistics.comparability import base_scale, hindrances
from workflow.reporting.statistics.crossing import Crossing, crossing
from workflow.reporting.statistics.verdict import Between, Ours, Tolerance, Verdict, judge
from workflow.reporting.tables.footnotes import on_device

QUOTED = "quoted"
"""In the place of a verdict, for what the paper itself quotes from others and nobody runs."""


@dataclass(frozen=True)
class LongForm:
    """A table's cells and the sidecar that names the runs behind each of them."""

    cells: list[Cell]
    sidecar: dict[str, Any]


@dataclass(frozen=True)
class Context:
    """What the cells of one table share."""

    paper: Paper
    name: str
    scale: str
    base: Mapping[tuple[str, ...], Cell]
    """For an overlay: the cells of the scale it stands on, by `key`."""
    overlaid: Overlaid
    """What an overlay changes."""
    failed: Mapping[str, str]
    """Why runs failed, by `<experiment>/<variant>`."""

    @property
    def table(self) -> Table:
        """The table's own definition."""
        return cast(Table, self.paper.definition("tables", self.name))


def build(
    paper: Paper,
    name: str,
    scale: str,
    measures: Measures,
    base: Sequence[Cell] = (),
    overlaid: Overlaid = NOTHING,
    failed: Mapping[str, str] = NOTHING,
) -> LongForm:
    """Return a table over the given measures; cells without a measure are `not run`.

    For an overlay, `base` are the cells of the scale it stands on, and `overlaid` what it changes.
    `failed` says why runs failed, by `<experiment>/<variant>`.

    Raises ReportingError when there is no such table, or its definition points to a number that
    the paper does not print.
    """
    context = Context(paper, name, scale, {cell.key: cell for cell in base}, overlaid, failed)
    table, metrics, runs = context.table, paper.tables["metrics"], {}
    cells: list[Cell] = []
    told: list[dict[str, Any]] = []
    for row, column in needs.cells(table):
        behind = [] if row.get("quoted") else measures.of(*needs.behind_cell(table, row, column))
        for called, metric in needs.cell_metrics(paper.tables, row, column):
            shown = _shown(metric, behind)
            runs.update({measure.identity: provenance(measure) for measure in shown})
            left_out = _left_out(metric, behind)
            changed = changes_behind(context.overlaid, shown)
            other = _on_other_devices(metric, behind, shown)
            for cell, beside in _cells(
                context, row, column, called, metric, shown, left_out, other
            ):
                cells.append(cell)
                told.append({**_told(context, cell, metric, shown), **beside, **changed, **other})
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
        "cells": told,
    }
    return LongForm(cells, sidecar)


def _shown(metric: Metric, behind: Sequence[Measure]) -> Sequence[Measure]:
    """Return the runs that a cell shows: of a number those of one device, of a text the first.

    Texts have no mean. Timings are those of one kind of machine, by one code.
    """
    behind = [measure for measure in behind if not measure.left_out(metric["measure"])]
    known = [measure for measure in behind if measure.of_metric(metric)]
    first = known[0].of_metric(metric) if known else None
    if first and isinstance(first.value, str):
        return known[:1]
    device = usual_device([one] for one in known)
    return [one for one in behind if device_of(one) == device] if known else behind


def _on_other_devices(
    metric: Metric, behind: Sequence[Measure], shown: Sequence[Measure]
) -> dict[str, Any]:
    """Return what runs of other devices than the cell's have, as its entry in the sidecar."""
    found = []
    values = _numbers(metric, shown)
    for device in dict.fromkeys(map(device_of, behind)):
        others = [one for one in behind if device_of(one) == device and one not in shown]
        others = [one for one in others if not one.left_out(metric["measure"])]
        if values and (theirs := _numbers(metric, others)):
            mean = sum(theirs) / len(theirs)
            found.append(
                {
                    "device": device,
                    "mean": mean,
                    "n": len(theirs),
                    "difference": mean - sum(values) / len(values),
                    "runs": [one.identity for one in others],
                    "measures": [one.path.as_posix() for one in others],
                }
            )
    return {"other_devices": found} if found else {}


def _numbers(metric: Metric, runs: Sequence[Measure]) -> list[float]:
    """Return the numbers that runs have for a metric."""
    scalars = (run.of_metric(metric) for run in runs)
    return [one.value for one in scalars if one and isinstance(one.value, float | int)]


def _cells(
    context: Context,
    row: Row,
    column: Column,
    called: str,
    metric: Metric,
    behind: Sequence[Measure],
    left_out: str,
    other: Mapping[str, Any],
) -> list[tuple[Cell, dict[str, Any]]]:
    """Return a place's cells for one metric: one a source, and one more for the other spread.

    With each, where they exist, the verdict `formerly`, what our value lies `between`, `because` of
    what it differs, which runs have no value as theirs is `impossible`, and which `diverged`.
    """
    paper, table = context.paper, context.table
    share = bool(metric.get("proportion"))
    statistic = metric.get("statistic", table.get("statistic", "mean"))
    ours, scalars = ours_of(metric, statistic, behind)
    places = needs.printed_places(table, row, column) if "printed" in metric else []
    unprinted = Expected(table["source"], Printed(""), "", "", "")
    printed = paper.expected.all_at(places, metric.get("printed", "")) or [unprinted]
    why = hindrances(context.scale, paper.tables.get("not_comparable", []), behind)
    why += ["our value is undefined"] if ours.mean == UNDEFINED else []
    by_runs = over_outcomes(metric, ours, behind) if share else over_runs(ours)
    unit = _unit(metric, scalars)
    bounds = bounds_of(unit, metric["measure"].rpartition(".")[2])
    by_runs = by_runs.within(*bounds)
    by_examples = over_examples(metric, ours, scalars, behind)
    statistics = by_examples.within(*bounds) if by_examples else by_runs
    ours, blind, unknown = _crossed(metric, ours, behind)
    blind = blind or _chance(metric, behind)
    rule = metric.get("tolerance")
    former = rule.get("formerly") if rule else None
    impossible = [fault for one in behind if (fault := one.impossible(metric["measure"]))]
    diverged = [one.diverged for one in behind if one.diverged]
    cells: list[tuple[Cell, dict[str, Any]]] = []
    for number in printed:
        misprint = ["the printed number is a misprint"] if number.flag == "misprint" else []
        against = [*why, *misprint, *(_one_star(metric, number, behind) or unknown)]
        given = (row, ours, number, against, blind)
        verdict = _by(rule, *given)
        before = _by(former, *given) if former else verdict
        changed = before.word != verdict.word
        seeds = ", ".join(str(measure.seed) for measure in behind)
        because = needs.why_different(table, row["id"], column["id"], verdict.word)
        notes = [
            "" if row.get("quoted") else verdict.reason,
            *because.values(),
            f"{before.word} until {former['until']}: {before.reason}" if former and changed else "",
            f"seeds {seeds}" if behind else "",
            number.note,
        ]
        notes += ["fraction of runs, with its exact interval"] if share and scalars else []
        notes += [*_lacking(metric, behind), *impossible, *diverged, left_out]
        notes += map(on_device, other.get("other_devices", ()))
        failed = "" if behind else _failed(context, row, column)
        notes.append(f"failed: {failed}" if failed else "")
        if not (data := exchanged(context.overlaid, behind)):
            notes.append(str(row.get("note", "")))
        cell = Cell(
            **statistics._asdict(),
            paper=paper.name,
            source=number.source,
            table=context.name,
            row=needs.row_name(row),
            column=str(column["label"]),
            metric=called,
            unit=unit or number.unit,
            expected=number.printed.text,
            expected_std=number.printed.std,
            flag=number.flag or str(row.get("flag", "")),
            verdict=QUOTED if row.get("quoted") else verdict.word,
        )
        if data:
            notes.append(f"on other data ({data})")
        elif difference := _difference(context, cell):
            notes.append(f"{base_scale(context.scale)}: difference {difference}")
        note = "; ".join(note for note in notes if note)
        beside: dict[str, Any] = {"formerly": before.word} if changed else {}
        beside |= {"between": ours.between} if ours.between else {}
        beside |= {"impossible": impossible} if impossible else {}
        beside |= {"diverged": diverged} if diverged else {}
        beside |= because
        beside |= {"failed": failed} if failed else {}
        cells.append((replace(cell, note=note), beside))
    if statistics is not by_runs and ours.runs:
        over_seeds = replace(
            cells[0][0],
            **by_runs._asdict(),
            source=table["source"],
            expected="",
            expected_std=None,
            flag="",
            verdict="not comparable",
            note="spread over runs; the paper's is over examples",
        )
        cells.append((over_seeds, {}))
    return cells


def _unit(metric: Metric, scalars: Sequence[Scalar]) -> str:
    """Return the unit of a cell, which the evaluator says, empty where nothing is measured.

    Raises ReportingError when runs differ in it.
    """
    units = sorted({scalar.unit for scalar in scalars} - {""})
    if len(units) > 1:
        raise ReportingError(
            f"{metric['measure']} is in {' and in '.join(units)} in the runs of one cell; measure "
            "them again (make forget RUN=<identity>)."
        )
    return "fraction of runs" if units and metric.get("proportion") else "".join(units)


def _by(
    rule: Rule | None,
    row: Row,
    ours: Ours,
    number: Expected,
    against: Sequence[str],
    blind: Sequence[Between],
) -> Verdict:
    """Return the verdict by a rule."""
    tolerance = Tolerance.of(rule, row["id"]) if rule else None
    second = row.get("flag") == "reading"
    return judge(ours, number.printed, tolerance, against, blind, second)


def _crossed(
    metric: Metric, ours: Ours, behind: Sequence[Measure]
) -> tuple[Ours, Sequence[Between], list[str]]:
    """Return our value with what it lies between, if it is read at a crossing.

    And what it would lie between at each checkpoint, or why nothing is known of the crossing.
    """
    if not metric.get("crossing") or not isinstance(ours.mean, float):
        return ours, (), []
    found = crossing(metric["measure"], behind)
    if isinstance(found, Crossing):
        known = replace(ours, between=found.between, examples=found.examples)
        return known, found.course, []
    return ours, (), [found]


def _chance(metric: Metric, behind: Sequence[Measure]) -> Sequence[Between]:
    """Return what a random order has in place of a metric: the measure with `_chance` behind."""
    values = numbers_of(behind, f"{metric['measure']}_chance")
    return [(sum(values) / len(values),) * 2] if values else []


def _one_star(metric: Metric, number: Expected, behind: Sequence[Measure]) -> list[str]:
    """Say that only the printed number or only ours has the star of what is never exceeded."""
    if not metric.get("starred") or not number.printed.text:
        return []
    ours = any(measure.number(f"{metric['measure']}_never") for measure in behind)
    if ours == (number.flag == "starred"):
        return []
    return [f"only {'ours' if ours else 'the printed number'} was never exceeded (*)"]


def _lacking(metric: Metric, behind: Sequence[Measure]) -> list[str]:
    """Say in how many runs the metric has no value, and in how many it was not measured."""
    undefined = sum(measure.undefined(metric["measure"]) for measure in behind)
    known = sum(measure.of_metric(metric) is not None for measure in behind)
    counts = {"is undefined in": undefined, "is missing in": len(behind) - known - undefined}
    return [
        f"the measure {what} {count} of {len(behind)} runs"
        for what, count in counts.items()
        if count
    ]


def _left_out(metric: Metric, behind: Sequence[Measure]) -> str:
    """Say of timings on which kind of machine they are, and which others are left out, if any."""
    kept = [measure for measure in behind if not measure.left_out(metric["measure"])]
    here = " or ".join(dict.fromkeys(str(measure.provenance.get("device")) for measure in kept))
    counts = Counter(filter(None, (measure.left_out(metric["measure"]) for measure in behind)))
    runs = [f"{count} run{'s' * (count != 1)} {why}" for why, count in sorted(counts.items())]
    return f"timed on {here}; {', '.join(runs)} left out" if counts else ""


def _failed(context: Context, row: Row, column: Column) -> str:
    """Return why the runs behind a cell failed, nothing where they did not."""
    return context.failed.get("/".join(needs.behind_cell(context.table, row, column)), "")


def _difference(context: Context, cell: Cell) -> str:
    """Return an overlay's difference to the scale it stands on, or nothing."""
    base = context.base.get(cell.key, Cell()).mean
    if isinstance(base, float) and isinstance(cell.mean, float):
        return f"{cell.mean - base:+.3g}"
    return ""


def _told(
    context: Context, cell: Cell, metric: Metric, behind: Sequence[Measure]
) -> dict[str, Any]:
    """Return a cell's entry in the sidecar: what was measured, and on which runs."""
    own = not exchanged(context.overlaid, behind)
    return {
        **dict(zip(IDENTITY, cell.key, strict=True)),
        "measure": metric["measure"],
        "difference": (_difference(context, cell) or None) if own else None,
        "seeds": [measure.seed for measure in behind],
        "runs": [measure.identity for measure in behind],
        "measures": [measure.path.as_posix() for measure in behind],
        "partners": partners((measure, metric["measure"]) for measure in behind),
    }
