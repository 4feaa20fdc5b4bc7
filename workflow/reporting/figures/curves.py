"""Curves over training: every run as a thin line, and the median over runs where it tells."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from workflow.reporting.figures.panels import Panel, Series, arrays, seeds, series_of
from workflow.reporting.figures.style import (
    INK,
    Look,
    footnote,
    grid,
    looks,
    name_ends,
    nothing,
    say,
)
from workflow.reporting.measures import EvaluatedRun, numbers_of
from workflow.runtime.errors import ReportingError

Curve = Mapping[float, float]
"""The values of one run, by the point (step or epoch) at which each was measured."""
POINTS = 200
"""At most so many points of a single run are drawn."""
APART = 0.05
"""Of an axis: lines whose ends are closer than this cannot be named there."""
MARKS = 6
"""At most so many marks tell a line from the others without its colour."""


def draw(
    panels: Sequence[Panel],
    x: str,
    axis: str,
    label: str | Mapping[str, str],
    columns: int = 2,
    median: bool = True,
    doubling: bool = False,
    low: float | None = None,
    high: float | Mapping[str, float] | None = None,
    baseline: Mapping[str, str] | None = None,
) -> Figure:
    """Draw all runs of each series and, bold, their median at the points that all of them have.

    Panels of one `label` have the same vertical axis, and panels of the same variants the same
    horizontal one. Names are written at the ends of lines, once in a row of panels that have the
    same; if the lines end together there, in the first of these panels. Where only some of the
    panels' arrays exist at a scale, the others count as not run. A row and a column of panels that
    were not run are left out.

    Args:
        panels: one a pair of axes; `array` of a series is the `evaluator.array` of its values.
        x: `evaluator.array` of the points at which the values were measured.
        axis: label of the horizontal axis, with its unit.
        label: label of the vertical axis, with its unit; by panel, where panels differ.
        columns: number of panels side by side.
        median: whether the median is drawn; not where runs end in one of two ways.
        doubling: whether points double, so that the horizontal axis is logarithmic.
        low: lower end of the vertical axis, moved further where a line lies beyond it.
        high: upper end, likewise; by panel, where panels differ.
        baseline: `evaluator.array`, or where there is none `evaluator.metric`, of what an array's
            values are compared with, drawn as a thin dashed line where all runs have it; the
            caption says what it is.

    Raises ReportingError for a panel without a label, more labels than looks, an array that is
    missing or of another length than `x`, and runs of a series that have no point in common.
    """
    labels = _labels(panels, label)
    look_of = looks(series.label for panel in panels for series in panel.series)
    panels = _measured(panels)
    if not any(panel.drawn for panel in panels):
        return nothing(panels)
    shown, columns = _shown(panels, columns)
    figure, places = grid(len(shown), columns, 2.5)
    ends: list[list[tuple[float, str, str]]] = []
    for axes, panel in zip(places, shown, strict=True):
        axes.set_title(panel.label)
        ends.append([])
        if not panel.drawn:
            say(axes, "not run")
            continue
        if doubling:
            axes.set_xscale("log", base=2)
        for series in panel.drawn:
            last = _series(axes, look_of[series.label], panel, series, x, median)
            ends[-1].append((last, series.label, look_of[series.label]["color"]))
            _baseline(axes, look_of[series.label], series, x, baseline or {})
        if doubling:
            ticks = sorted(
                {at for one in panel.drawn for run in one.behind for at in arrays(run, x)[0]}
            )
            axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
            axes.xaxis.set_minor_locator(NullLocator())
        else:
            axes.locator_params(axis="x", integer=True)
        _stretch(axes, low, high.get(panel.label) if isinstance(high, Mapping) else high)
        axes.set_xlabel(axis)
    _same_width(places, shown, doubling)
    _same_height(places, shown, labels, columns)
    for at, (axes, names) in enumerate(zip(places, ends, strict=True)):
        beside = ends[at + 1] if (at + 1) % columns and at + 1 < len(ends) else []
        if median and _names(names) != _names(beside):
            alike = [it for it in range(at - at % columns, at) if _names(ends[it]) == _names(names)]
            if alike and _coincide(axes, names):
                places[alike[0]].legend()
            else:
                name_ends(axes, names)
    footnote(figure, panels, _about(panels, median, bool(baseline)))
    return figure


def _names(ends: Sequence[tuple[float, str, str]]) -> set[str]:
    return {name for _, name, _ in ends}


def _coincide(axes: Axes, ends: Sequence[tuple[float, str, str]]) -> bool:
    """Say whether lines end where no name could be beside its own."""
    low, high = axes.get_ylim()
    last = [end for end, _, _ in ends]
    return len(last) > 1 and max(last) - min(last) < APART * (high - low)


def _measured(panels: Sequence[Panel]) -> Sequence[Panel]:
    """Return the panels without series whose array no run has, unless it is so everywhere."""

    def known(series: Series) -> bool:
        array = series.definition.get("array", "")
        return any(measure.array(array) is not None for measure in series.behind)

    if not any(known(series) for panel in panels for series in panel.series):
        return panels
    return [
        replace(panel, series=[s if known(s) else replace(s, behind=[]) for s in panel.series])
        for panel in panels
    ]


def _shown(panels: Sequence[Panel], columns: int) -> tuple[Sequence[Panel], int]:
    """Return the panels of the rows and columns of which some panel was run, and their columns."""
    places = [(panel, *divmod(at, columns)) for at, panel in enumerate(panels)]
    across = {row for panel, row, _ in places if panel.drawn}
    down = {column for panel, _, column in places if panel.drawn}
    return [panel for panel, row, column in places if row in across and column in down], len(down)


def _labels(panels: Sequence[Panel], label: str | Mapping[str, str]) -> Mapping[str, str]:
    """Return the label of each panel's vertical axis."""
    names = [panel.label for panel in panels]
    if isinstance(label, str):
        return dict.fromkeys(names, label)
    for name in (*names, *label):
        if name not in label or name not in names:
            raise ReportingError(
                f'options.label: "{name}" is {"a panel" if name in names else "the label"} of '
                f"no {'label' if name in names else 'panel'}; give every panel's label once."
            )
    return label


def _series(axes: Axes, look: Look, panel: Panel, series: Series, x: str, median: bool) -> float:
    """Draw one series; return the last value of its median."""
    if "array" not in series.definition:
        raise ReportingError(f"series {series.label} names no array; add one to draw.")
    curves = [_curve(measure, series.definition["array"], x) for measure in series.behind]
    points = _common(curves)
    if not points:
        raise ReportingError(
            f"{panel.label}, {series.label}: no value of {x} is common to all its runs; measure "
            "them at the same points."
        )
    middle = np.median([[curve[point] for point in points] for curve in curves], axis=0)
    if len(curves) > 1 or not median:
        thin: Any = {"color": look["color"] if median else INK, "linewidth": 0.8}
        for curve in curves:
            every = slice(None, None, -(-len(curve) // POINTS))
            over = list(curve)[every], list(curve.values())[every]
            axes.plot(*over, **thin, alpha=0.3 if median else 0.5)
    if median:
        style = {**look, "linewidth": 2, "markersize": 4.5, "markevery": -(-len(points) // MARKS)}
        axes.plot(points, middle, label=series.label, zorder=3, **style)
    return float(middle[-1])


def _baseline(axes: Axes, look: Look, series: Series, x: str, baseline: Mapping[str, str]) -> None:
    """Draw the median of what a series is held against, if all its runs have it."""
    name, array = baseline.get(series.definition["array"], ""), series.definition["array"]
    held = numbers_of(series.behind, name)
    if all(measure.array(name) is not None for measure in series.behind):
        curves = [_curve(measure, name, x) for measure in series.behind]
        points = _common(curves)
        middle = [np.median([curve[point] for curve in curves]) for point in points]
    elif len(held) == len(series.behind):
        points = _common([_curve(measure, array, x) for measure in series.behind])
        middle = [np.median(held)] * len(points)
    else:
        return
    axes.plot(points, middle, color=look["color"], linestyle="--", linewidth=0.8)


def _common(curves: Sequence[Curve]) -> list[float]:
    """Return the points that all curves have, from left to right."""
    return sorted(set(curves[0]).intersection(*curves))


def _curve(measure: EvaluatedRun, array: str, x: str) -> Curve:
    """Return one run's curve in the order of its points; missing values (null) are left out."""
    across, up = (values for name in (x, array) for values in arrays(measure, name))
    if len(across) != len(up):
        raise ReportingError(
            f"{measure.path}: {x} and {array} have {len(across)} and {len(up)} values; "
            "measure the run again."
        )
    known = [pair for pair in zip(across, up, strict=True) if None not in pair]
    return dict(sorted((float(point), float(value)) for point, value in known))


def _stretch(axes: Axes, low: float | None, high: float | None) -> None:
    """Set the vertical axis from `low` to `high` or to what is drawn, with a little room beyond."""
    lowest, highest = axes.dataLim.intervaly
    bottom = lowest if low is None else min(low, lowest)
    top = highest if high is None else max(high, highest)
    room = 0.04 * (top - bottom) or 0.5
    axes.set_ylim(bottom - room, top + room)


def _same_width(places: Sequence[Axes], shown: Sequence[Panel], doubling: bool) -> None:
    """Set the same horizontal axis in panels of the same variants."""
    groups: dict[frozenset[str], list[Axes]] = {}
    for axes, panel in zip(places, shown, strict=True):
        if panel.drawn:
            variants = frozenset(series.variant for series in panel.drawn)
            groups.setdefault(variants, []).append(axes)
    for group in groups.values():
        first = min(axes.dataLim.xmin for axes in group)
        last = max(axes.dataLim.xmax for axes in group)
        room = 0.02 * (last - first) or 0.5
        for axes in group:
            axes.set_xlim(first * 0.9, last * 1.1) if doubling else axes.set_xlim(
                first - room, last + room
            )


def _same_height(
    places: Sequence[Axes], shown: Sequence[Panel], labels: Mapping[str, str], columns: int
) -> None:
    """Set the same vertical axis in panels of one label, and write it once where they adjoin."""
    groups: dict[str, list[Axes]] = {}
    for at, (axes, panel) in enumerate(zip(places, shown, strict=True)):
        if panel.drawn:
            before = shown[at - 1] if at % columns else None
            if before is None or not before.drawn or labels[before.label] != labels[panel.label]:
                axes.set_ylabel(labels[panel.label])
            groups.setdefault(labels[panel.label], []).append(axes)
    for group in groups.values():
        ends = [end for axes in group for end in axes.get_ylim()]
        for axes in group:
            axes.set_ylim(min(ends), max(ends))


def _about(panels: Sequence[Panel], median: bool, baseline: bool) -> str:
    """Say what the lines are, and which seeds are behind them."""
    drawn = series_of(panels)
    several = any(len(series.behind) > 1 for series in drawn)
    said = {
        "Bold: median over runs; thin: single runs": median and several,
        "Lines: single runs": not (median and several),
        "dashed: the baseline": baseline,
        f"{seeds(drawn)}.": True,
    }
    return "; ".join(text for text, holds in said.items() if holds)
