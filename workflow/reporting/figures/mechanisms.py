"""All mechanisms by all tasks: differences from one of them, with their intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from matplotlib.figure import Figure

from workflow.reporting.figures.dots import lines
from workflow.reporting.figures.panels import Panel, Series, ShownMeasure, series_of
from workflow.reporting.figures.style import INK, SMALL, footnote, grid, looks, nothing
from workflow.reporting.measures import EvaluatedRun, device_of, usual_device
from workflow.reporting.statistics.intervals import LEVEL, Interval, interval, spread

ROOM = 1.6
"""How far an axis goes beyond the largest difference."""
SEEN = 0.03
"""Of half an axis: a smaller difference is drawn at 0, as far as an eye can tell."""


def draw(panels: Sequence[Panel], baseline: str, measures: Mapping[str, ShownMeasure]) -> Figure:
    """Draw a column a panel and a line a mechanism: the mean difference and its 95 % interval.

    Nothing is drawn where the mechanism or the baseline was not run. A full mark is a difference
    that is decided: its interval does not have 0 in it. One pair of runs has a mark alone.

    Args:
        panels: one a task, with a series a mechanism.
        baseline: label of the series that the others are compared with.
        measures: by panel; where less is better the difference is turned, so that right is better.
    """
    shown = [panel for panel in panels if panel.drawn]
    names = [name for name in _names(shown) if name != baseline]
    if not names:
        return nothing(panels)
    look_of, small = looks([baseline, *names]), []
    figure, places = grid(len(shown), len(shown), 0.24 * len(names) + 1.3, sharey=True)
    for axes, panel in zip(places, shown, strict=True):
        lines(axes, names)
        axes.axvline(0, color=INK, linewidth=0.8)
        found = differences(panel, baseline, measures[panel.label])
        for name, (mean, ends) in found.items():
            at, look = names.index(name), look_of[name]
            if ends:
                axes.plot(ends, [at, at], color=look["color"], linewidth=1.4)
            decided = ends and not ends[0] <= 0 <= ends[1]
            mark: Any = {"color": look["color"], "marker": look["marker"], "linestyle": "none"}
            axes.plot([mean], [at], label=name, fillstyle="full" if decided else "none", **mark)
        axes.set_title(panel.label, fontsize=SMALL)
        axes.set_xlabel(measures[panel.label]["axis"], fontsize=SMALL)
        axes.locator_params(axis="x", nbins=2)
        axes.xaxis.set_major_formatter("{x:g}")
        reach = ROOM * max((abs(mean) for mean, _ in found.values()), default=0) or 1
        axes.set_xlim(-reach, reach)
        small += [
            f"{name} {mean:+.2g} ({panel.label})"
            for name, (mean, ends) in found.items()
            if ends and not ends[0] <= 0 <= ends[1] and abs(mean) < SEEN * reach
        ]
        for name, (_, ends) in found.items():
            for edge, arrow in ((-reach, "<"), (reach, ">")):
                if ends and (ends[0] < edge if edge < 0 else ends[1] > edge):
                    look = {"color": look_of[name]["color"], "marker": arrow, "markersize": 4}
                    axes.plot([edge], [names.index(name)], **look, clip_on=False)
    about = f"Difference from {baseline} over the same seeds; right of 0 is better. Lines: 95 %"
    about += " intervals, an arrowhead where they leave the axis; full marks: without 0; no line: "
    about += "one pair, which decides nothing."
    if small:
        about += f" Full marks too close to 0 to be seen beside it: {', '.join(small)}."
    lined = [
        replace(panel, series=[one for one in panel.series if one.label in names])
        for panel in panels
    ]
    footnote(figure, lined, about)
    return figure


def _names(panels: Sequence[Panel]) -> list[str]:
    return list(dict.fromkeys(series.label for series in series_of(panels)))


def differences(
    panel: Panel, baseline: str, told: ShownMeasure, level: float = LEVEL
) -> Mapping[str, tuple[float, Interval | None]]:
    """Return each series' mean difference from the baseline, and its interval.

    It is over the seeds that both have on one device, the one with most such pairs.
    """
    of = {series.label: _by_training(series, told["measure"]) for series in panel.drawn}
    before, sign = of.pop(baseline, {}), -1 if told.get("less") else 1
    found = {}
    for name, values in of.items():
        pairs = [
            (run, sign * (value - before[one][1]))
            for one, (run, value) in values.items()
            if one in before
        ]
        device = usual_device([run] for run, _ in pairs)
        steps = [step for run, step in pairs if device_of(run) == device]
        if steps:
            mean = fmean(steps)
            found[name] = mean, interval(mean, spread(steps), len(steps), level)
    return found


def _by_training(
    series: Series, measure: str
) -> Mapping[tuple[int, str], tuple[EvaluatedRun, float]]:
    """Return each run that has the measure, and its value, by seed and device."""
    return {
        (run.seed, device_of(run)): (run, value)
        for run in series.behind
        if (value := run.number(measure)) is not None
    }
