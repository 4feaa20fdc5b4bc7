"""A table in long form: a line for each cell, metric and source, with the verdict on each.

Tables are defined in `tables.yaml` of their paper: rows, columns, and per column the metrics it
shows.  The variant behind a cell is a template of the row's and the column's id.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from workflow.definitions import cells as needs
from workflow.definitions.expected import Expected, Printed
from workflow.definitions.paper import NOTHING, Paper
from workflow.definitions.tables import Column, Metric, TableRow
from workflow.reporting.bounds import bounds_of
from workflow.reporting.cells import Cell, LongForm, TableAbout, frame, key_of, record, records
from workflow.reporting.measures import EvaluatedRun, Measures, MetricValue, numbers_of, provenance
from workflow.reporting.overlaid import Overlaid
from workflow.reporting.statistics.aggregates import (
    UNDEFINED,
    Spread,
    ours_of,
    over_examples,
    over_outcomes,
    over_runs,
    within,
)
from workflow.reporting.statistics.comparability import base_scale, hindrances
from workflow.reporting.statistics.crossing import Crossing, crossing
from workflow.reporting.statistics.verdict import Between, Ours, Tolerance, judge
from workflow.reporting.tables.behind import CellMetric, Context, columns_of, notes_on
from workflow.runtime.errors import ReportingError

QUOTED = "quoted"
"""In the place of a verdict, for what the paper itself quotes from others and nobody runs."""


def build(
    paper: Paper,
    name: str,
    scale: str,
    measures: Measures,
    base: pd.DataFrame | None = None,
    overlaid: Overlaid = NOTHING,
    failed: Mapping[str, str] = NOTHING,
) -> LongForm:
    """Return a table over the given measures; cells without a measure are `not run`.

    For an overlay, `base` are the cells of the scale it stands on, and `overlaid` what it changes.
    `failed` says why runs failed, by `<experiment>/<variant>`.

    Raises ReportingError when there is no such table, or its definition points to a number that
    the paper does not print.
    """
    before = {} if base is None else {key_of(cell): cell["mean"] for cell in records(base)}
    context = Context(paper, name, scale, before, overlaid, failed)
    places = [
        CellMetric(context, row, column, called, metric, _measured(context, row, column, measures))
        for row, column in needs.cells(context.table)
        for called, metric in needs.cell_metrics(paper.tables, row, column)
    ]
    places = _best_of_equally_many(places)
    runs = {run.identity: run for place in places for run in place.behind}
    metrics = paper.tables["metrics"]
    about: TableAbout = {
        "schema": 1,
        "paper": paper.name,
        "table": name,
        "scale": scale,
        "base": base_scale(scale) if before else None,
        "repeats": context.table.get("repeats"),
        "tolerances": {
            metric: rule["tolerance"] for metric, rule in metrics.items() if "tolerance" in rule
        },
        "runs": {identity: provenance(run) for identity, run in runs.items()},
    }
    return LongForm(frame(cell for place in places for cell in _cells(place)), about)


def _measured(
    context: Context, row: TableRow, column: Column, measures: Measures
) -> list[EvaluatedRun]:
    """Return the runs of the variant behind a row and a column; none of what a paper quotes."""
    return [] if row.get("quoted") else measures.of(*needs.behind_cell(context.table, row, column))


def _best_of_equally_many(places: Iterable[CellMetric]) -> list[CellMetric]:
    """Return the places, the best runs of a column of as many runs each: of the first by seed.

    The best of more runs is higher by chance alone.
    """
    places = list(places)
    fewest: dict[str, int] = {}
    for place in places:
        if place.statistic == "max" and place.behind:
            runs, column = len(place.behind), place.column["id"]
            fewest[column] = min(runs, fewest.get(column, runs))
    return [
        replace(it, most=fewest.get(it.column["id"])) if it.statistic == "max" else it
        for it in places
    ]


def _cells(place: CellMetric) -> list[Cell]:
    """Return a place's cells: one a printed number, and one more for the other spread."""
    ours, scalars = ours_of(place.metric, place.statistic, place.behind)
    own, *other = _spreads(place, ours, scalars)
    ours, blind, unknown = _crossed(place, ours)
    behind, why = columns_of(place, ours), _hindrances(place, ours)
    about = notes_on(place, scalars, behind)
    cells = []
    for number in _printed(place):
        misprint = ["the printed number is a misprint"] if number.flag == "misprint" else []
        against = [*why, *misprint, *(_one_star(place, number) or unknown)]
        compared, notes = _compared(place, ours, number, against, blind)
        cell = record(**_of_place(place, number, scalars), **own, **behind, **compared)
        cells.append(_with_note(place, cell, [*notes, number.note, *about]))
    return cells + [_of_seeds(place, cells[0], spread) for spread in other if ours.runs]


def _spreads(place: CellMetric, ours: Ours, scalars: Sequence[MetricValue]) -> list[Spread]:
    """Return the spread of a place's cells, and that over runs where it is over examples."""
    metric, measure = place.metric, place.metric["measure"]
    share = bool(metric.get("proportion"))
    spreads = [over_outcomes(metric, ours, place.behind) if share else over_runs(ours)]
    if metric.get("two_peaked"):
        spreads = [{**spreads[0], "ci_low": None, "ci_high": None}]
    if metric.get("spread_over") == "examples":
        arrays = [run.array(measure) for run in place.behind]
        spreads.insert(0, over_examples(ours, arrays, scalars))
    values = numbers_of(place.behind, measure)
    bounds = bounds_of(_unit(metric, scalars), measure.rpartition(".")[2], values)
    return [within(spread, *bounds) for spread in spreads]


def _printed(place: CellMetric) -> Sequence[Expected]:
    """Return what each text prints there; one number without a value where none does."""
    table = place.context.table
    printed = place.metric.get("printed", "")
    places = needs.printed_places(table, place.row, place.column) if printed else []
    unprinted = Expected(table["source"], Printed(""), "", "", "")
    return place.context.paper.expected.all_at(places, printed) or [unprinted]


def _hindrances(place: CellMetric, ours: Ours) -> list[str]:
    conditions = place.context.paper.tables.get("not_comparable", [])
    why = hindrances(place.context.scale, conditions, place.behind)
    return why + (["our value is undefined"] if ours.mean == UNDEFINED else [])


def _of_place(
    place: CellMetric, number: Expected, scalars: Sequence[MetricValue]
) -> dict[str, Any]:
    return {
        "paper": place.context.paper.name,
        "source": number.source,
        "table": place.context.name,
        "row": needs.row_name(place.row),
        "column": str(place.column["label"]),
        "metric": place.called,
        "measure": place.metric["measure"],
        "unit": _unit(place.metric, scalars) or number.unit,
        "expected": number.printed.text,
        "expected_std": number.printed.std,
        "flag": number.flag or str(place.row.get("flag", "")),
    }


def _compared(
    place: CellMetric,
    ours: Ours,
    number: Expected,
    against: Sequence[str],
    blind: Sequence[Between],
) -> tuple[dict[str, Any], list[str]]:
    """Return the columns of a verdict, by today's rule and the former one, and notes on both."""
    row, rule = place.row, place.metric.get("tolerance")
    former = rule.get("formerly") if rule else None
    verdict, before = (
        judge(
            ours,
            number.printed,
            Tolerance.of(it, row["id"]) if it else None,
            against,
            blind,
            second_reading=row.get("flag") == "reading",
        )
        for it in (rule, former or rule)
    )
    because = needs.why_different(place.context.table, row["id"], place.column["id"], verdict.word)
    quoted, changed = bool(row.get("quoted")), before.word != verdict.word
    notes = ["" if quoted else verdict.reason, *because.values()]
    if former and changed:
        notes.append(f"{before.word} until {former['until']}: {before.reason}")
    if place.behind:
        notes.append(f"seeds {', '.join(str(run.seed) for run in place.behind)}")
    word = {"verdict": QUOTED if quoted else verdict.word, "tolerance": verdict.tolerance}
    return {**word, **because, "formerly": before.word if changed else ""}, notes


def _with_note(place: CellMetric, cell: Cell, notes: Iterable[str]) -> Cell:
    """Return a cell with its notes; the last is of what an overlay makes of it."""
    last, difference = "", _difference(place, cell)
    if place.data:
        last = f"on other data ({place.data})"
    elif difference:
        last = f"{base_scale(place.context.scale)}: difference {difference}"
    note = "; ".join(filter(None, [*notes, last]))
    return {**cell, "difference": difference, "note": note}


def _of_seeds(place: CellMetric, cell: Cell, spread: Spread) -> Cell:
    """Return a cell over examples as one over runs, which is compared with nothing."""
    place_of = ("paper", "table", "row", "column", "metric", "unit", "measure")
    runs_of = ("seeds", "runs", "measures", "partners", "overlaid", "other_devices")
    over_seeds = record(
        **{name: value for name, value in cell.items() if name in (*place_of, *runs_of)},
        **spread,
        source=place.context.table["source"],
        verdict="not comparable",
        note="spread over runs; the paper's is over examples",
    )
    return {**over_seeds, "difference": _difference(place, over_seeds)}


def _difference(place: CellMetric, cell: Cell) -> str | None:
    """Return an overlay's difference to the scale it stands on; none where data are others."""
    base = place.context.base.get(key_of(cell))
    if isinstance(base, float) and isinstance(cell["mean"], float) and not place.data:
        return f"{cell['mean'] - base:+.3g}"
    return None


def _unit(metric: Metric, scalars: Sequence[MetricValue]) -> str:
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


def _crossed(place: CellMetric, ours: Ours) -> tuple[Ours, Sequence[Between], list[str]]:
    """Return our value with what it lies between, if it is read at a crossing.

    And what says nothing of a model: the value at each checkpoint, or that of a random order; and
    why nothing is known of the crossing.
    """
    metric, behind = place.metric, place.behind
    if not metric.get("crossing") or not isinstance(ours.mean, float):
        return ours, _chance(metric, behind), []
    found = crossing(metric["measure"], behind)
    if not isinstance(found, Crossing):
        return ours, _chance(metric, behind), [found]
    ours = replace(ours, between=found.between, examples=found.examples)
    return ours, found.course or _chance(metric, behind), []


def _chance(metric: Metric, behind: Sequence[EvaluatedRun]) -> Sequence[Between]:
    """Return what a random order has in place of a metric: the measure with `_chance` behind.

    A fraction of runs has none.
    """
    name = f"{metric['measure']}_chance"
    values = [] if metric.get("proportion") else numbers_of(behind, name)
    return [(sum(values) / len(values),) * 2] if values else []


def _one_star(place: CellMetric, number: Expected) -> list[str]:
    """Say that only the printed number or only ours has the star of what is never exceeded."""
    if not place.metric.get("starred") or not number.printed.text:
        return []
    ours = any(run.number(f"{place.metric['measure']}_never") for run in place.behind)
    if ours == (number.flag == "starred"):
        return []
    return [f"only {'ours' if ours else 'the printed number'} was never exceeded (*)"]
