"""Curves over training: every run, the median over runs, and the middle half of them if many."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow.reporting.figures.panels import Panel, Series, arrays, seeds, series_of
from workflow.reporting.figures.style import (
    Look,
    footnote,
    grid,
    legend_below,
    looks_by_label,
    nothing,
    refuse_many,
    say,
)
from workflow.reporting.measures import EvaluatedRun, numbers_of
from workflow.runtime.errors import ReportingError

Curve = Mapping[float, float]
"""The values of one run, by the point (step or epoch) at which each was measured."""
FEW = 5
"""Fewer runs than these have no quartiles worth a band: each is drawn instead."""
MARKS = 8
"""At most so many marks tell a line from the others without its colour."""
LEGEND = 46
"""So many characters have room side by side below a panel."""


def draw(
    panels: Sequence[Panel],
    x: str,
    axis: str,
    label: str | Mapping[str, str],
    columns: int = 2,
    runs: bool = True,
    low: float | Mapping[str, float] | None = None,
    high: float | Mapping[str, float] | None = None,
    baseline: Mapping[str, str] | None = None,
) -> Figure:
    """Draw each series as the median over its runs, in a band from quartile to quartile.

    Both are taken at the points that all runs of the series have; a few runs are drawn in the place
    of the band, and a single run has its line only.
    A label looks the same in all panels. Panels of one column that draw the same arrays have the
    same vertical axis, and panels of the same variants the same horizontal one. Where only some of
    the panels' arrays exist at a scale, the others count as not run. A row and a column of panels
    that were not run are left out.

    Args:
        panels: one a pair of axes; `array` of a series is the `evaluator.array` of its values.
        x: `evaluator.array` of the points at which the values were measured.
        axis: label of the horizontal axis, with its unit.
        label: label of the vertical axis, with its unit; by panel, where panels differ.
        columns: number of panels side by side.
        runs: whether every run is drawn beside a band too, as a thin line.
        low: lower end of the vertical axis, moved further where a line lies beyond it; by panel,
            where panels differ.
        high: upper end, likewise.
        baseline: `evaluator.array`, or where there is none `evaluator.metric`, of what an array's
            values are held against, drawn as a thin line where all runs have it; the caption says
            what it is.

    Raises ReportingError for a panel without a label, more labels than looks, an array that is
    missing or of another length than `x`, and runs of a series that have no point in common.
    """
    labels = _labels(panels, label)
    looks = looks_by_label(series.label for panel in panels for series in panel.series)
    panels = _measured(panels)
    if not any(panel.drawn for panel in panels):
        return nothing(panels)
    shown, columns = _shown(panels, columns)
    figure, places = grid(len(shown), columns, 3.2)
    shortened = False
    for axes, panel in zip(places, shown, strict=True):
        axes.set_title(panel.label)
        refuse_many(panel.series, f"panel {panel.label}")
        if not panel.drawn:
            say(axes, "not run")
            continue
        for series in panel.drawn:
            look = looks[series.label]
            shortened |= _series(axes, look, panel, series, x, runs)
            _baseline(axes, look, series, x, baseline or {})
        _stretch(axes, _of(panel, low), _of(panel, high))
        axes.set_xlabel(axis)
        axes.set_ylabel(labels[panel.label])
        _legend(axes)
    _same_width(places, shown)
    _same_height(places, shown, columns)
    footnote(figure, panels, _about(panels, runs, bool(baseline), shortened))
    return figure


def _measured(panels: Sequence[Panel]) -> Sequence[Panel]:
    """Return the panels without series whose array no run has, unless it is so everywhere."""

    def known(series: Series) -> bool:
        array = series.options.get("array", "")
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


def _legend(axes: Axes) -> None:
    """Write the legend below the axes, in two columns where its labels have room side by side."""
    names = axes.get_legend_handles_labels()[1]
    half = -(-len(names) // 2)
    wide = sum(max(map(len, part), default=0) for part in (names[:half], names[half:]))
    legend_below(axes, ncols=1 if wide > LEGEND else 2, handlelength=2.6)


def _series(axes: Axes, look: Look, panel: Panel, series: Series, x: str, runs: bool) -> bool:
    """Draw one series; return whether some run has points that others of the series lack."""
    if "array" not in series.options:
        raise ReportingError(f"series {series.label} names no array; add one to draw.")
    curves = [_curve(measure, series.options["array"], x) for measure in series.behind]
    points = _common(curves)
    if not points:
        raise ReportingError(
            f"{panel.label}, {series.label}: no value of {x} is common to all its runs; measure "
            "them at the same points."
        )
    values = np.array([[curve[point] for point in points] for curve in curves])
    color, many, banded = look["color"], len(curves) > 1, len(curves) >= FEW
    if many and (runs or not banded):
        thin: Any = {"linewidth": 0.5, "alpha": 0.3} if banded else {"linewidth": 0.8, "alpha": 0.6}
        for curve in curves:
            axes.plot(list(curve), list(curve.values()), color=color, **thin)
    if banded:
        low, high = np.percentile(values, [25, 75], axis=0)
        axes.fill_between(points, low, high, color=color, alpha=0.18, linewidth=0)
    name = f"{series.label} ({len(curves)} seed{'s' if many else ''})"
    style = {**look, "linewidth": 2.0, "markersize": 4.5, "markevery": -(-len(points) // MARKS)}
    axes.plot(points, np.median(values, axis=0), label=name, zorder=3, **style)
    return any(len(curve) > len(points) for curve in curves)


def _baseline(axes: Axes, look: Look, series: Series, x: str, baseline: Mapping[str, str]) -> None:
    """Draw the median of what a series is held against, if all its runs have it."""
    name, array = baseline.get(series.options["array"], ""), series.options["array"]
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


def _of(panel: Panel, end: float | Mapping[str, float] | None) -> float | None:
    """Return a panel's own end of the axis, or the one of all panels."""
    return end.get(panel.label) if isinstance(end, Mapping) else end


def _stretch(axes: Axes, low: float | None, high: float | None) -> None:
    """Set the vertical axis from `low` to `high` or to what is drawn, with a little room beyond."""
    lowest, highest = axes.dataLim.intervaly
    bottom = lowest if low is None else min(low, lowest)
    top = highest if high is None else max(high, highest)
    room = 0.04 * (top - bottom) or 0.5
    axes.set_ylim(bottom - room, top + room)


def _same_width(places: Sequence[Axes], shown: Sequence[Panel]) -> None:
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
            axes.set_xlim(first - room, last + room)


def _same_height(places: Sequence[Axes], shown: Sequence[Panel], columns: int) -> None:
    """Set the same vertical axis in panels of one column that draw the same arrays."""
    groups: dict[tuple[int, frozenset[str]], list[Axes]] = {}
    for at, (axes, panel) in enumerate(zip(places, shown, strict=True)):
        if panel.drawn:
            arrays = frozenset(series.options["array"] for series in panel.drawn)
            groups.setdefault((at % columns, arrays), []).append(axes)
    for group in groups.values():
        ends = [end for axes in group for end in axes.get_ylim()]
        for axes in group:
            axes.set_ylim(min(ends), max(ends))


def _about(panels: Sequence[Panel], runs: bool, baseline: bool, shortened: bool) -> str:
    """Say what the lines and the band are, and which seeds are behind them."""
    drawn = series_of(panels)
    sizes = {len(series.behind) for series in drawn}
    if sizes == {1}:
        return f"Lines: single runs of {seeds(drawn)}."
    where = ", where all runs of a line were measured" if shortened else ""
    said = {
        f"Bold lines: median over runs{where}": True,
        "bands: quartiles (25 to 75 %)": max(sizes) >= FEW,
        "thin lines: single runs": runs or any(1 < size < FEW for size in sizes),
        "thin dashed lines: medians of the baseline": baseline,
        f"{seeds(drawn)}.": True,
    }
    return "; ".join(text for text, holds in said.items() if holds)
