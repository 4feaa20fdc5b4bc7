"""How often runs reach an outcome, against a setting: fractions with their exact intervals."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow.reporting.figures.panels import Panel, Series, seeds, series_of
from workflow.reporting.figures.style import Look, footnote, grid, looks, nothing, say
from workflow.reporting.statistics.intervals import exact
from workflow.runtime.errors import ReportingError


def draw(panels: Sequence[Panel], axis: str, measures: Mapping[str, str], label: str) -> Figure:
    """Draw the fraction of runs whose measure is 1, one line a measure, at the series' settings.

    Below a setting stands its number of runs.

    Args:
        panels: one a pair of axes, whose series are the variants of a sweep, each at its `x`.
        axis: label of the horizontal axis (logarithmic), with its unit.
        measures: label of each `evaluator.metric`, whose values are 0 and 1.
        label: label of the vertical axis, with its unit.

    Raises ReportingError for a setting that is missing, double or not above 0, and for a run that
    has no such measure.
    """
    drawn = series_of(panels)
    if not drawn:
        return nothing(panels)
    figure, places = grid(len(panels), 2, 3.0)
    for axes, panel in zip(places, panels, strict=True):
        axes.set_title(panel.label)
        settings, lines = _settings(panel), looks(measures.items(), "options.measures")
        if not panel.drawn:
            say(axes, "not run")
            continue
        shifts = _shifts(list(settings), len(measures))
        for (look, (measure, name)), shift in zip(lines, shifts, strict=True):
            at = {x * shift: series for x, series in settings.items() if series.behind}
            _line(axes, look, at, measure, name)
        axes.set_xscale("log")
        ticks = [f"{x:g}\nn = {len(series.behind)}" for x, series in settings.items()]
        axes.set_xticks(list(settings), ticks)
        axes.minorticks_off()
        room = (max(settings) / min(settings)) ** 0.08 if len(settings) > 1 else 2
        axes.set_xlim(min(settings) / room, max(settings) * room)
        axes.set_ylim(-0.04, 1.04)
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1])
        axes.set_xlabel(axis)
        axes.set_ylabel(label)
    about = f"Fractions of n runs with their exact 95 % intervals; {seeds(drawn)}."
    handles, names = next(one for one in places if one.lines).get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(names), fontsize=8)
    footnote(figure, panels, about)
    return figure


def _settings(panel: Panel) -> Mapping[float, Series]:
    """Return the series of a panel by their setting, from low to high."""
    settings: dict[float, Series] = {}
    for series in panel.series:
        x = series.options.get("x", 0)
        if x <= 0 or x in settings:
            wrong = "twice in its panel" if x in settings else "missing or not above 0"
            raise ReportingError(
                f"{panel.label}, {series.label}: x is {wrong}; give each series its own setting "
                "for the logarithmic axis."
            )
        settings[float(x)] = series
    return dict(sorted(settings.items()))


def _shifts(settings: Sequence[float], count: int) -> list[float]:
    """Return the factor by which each of `count` lines moves sideways, so that no bar hides one.

    Together they take at most a quarter of the way between the two nearest settings, and a
    twenty-fifth of the whole axis.
    """
    steps = np.diff(np.log(settings))
    room = min(steps.min() / 4, steps.sum() / 25) if len(steps) else 0.1
    places = np.linspace(-0.5, 0.5, count) if count > 1 else np.zeros(1)
    shifts: list[float] = np.exp(room * places).tolist()
    return shifts


def _line(axes: Axes, look: Look, at: Mapping[float, Series], measure: str, name: str) -> None:
    """Draw the fractions of one measure at each place, with their intervals as bars."""
    counts = [_count(series, measure) for series in at.values()]
    shares = np.array([ones / n for ones, n in counts])
    low, high = np.array([exact(*count) for count in counts]).T
    style: Any = {"linewidth": 1.4, "markersize": 4.5, "elinewidth": 0.9, "capsize": 2.5, **look}
    axes.errorbar(list(at), shares, yerr=[shares - low, high - shares], label=name, **style)


def _count(series: Series, measure: str) -> tuple[int, int]:
    """Return in how many runs the measure is 1, and the number of runs."""
    outcomes = []
    for one in series.behind:
        outcome = one.outcome(measure)
        if outcome is None:
            raise ReportingError(
                f"{one.path}: there is no value of {measure}; correct the name, or measure the run "
                "again."
            )
        outcomes.append(outcome)
    return sum(outcomes), len(outcomes)
