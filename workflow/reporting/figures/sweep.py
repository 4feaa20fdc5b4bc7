"""Measures against a setting: one panel a group of measures, one line a measure."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from matplotlib.figure import Figure

from workflow.reporting.figures.panels import Panel, seeds
from workflow.reporting.figures.style import footnote, grid, looks, nothing
from workflow.reporting.measures import numbers_of


def draw(panels: Sequence[Panel], axis: str, groups: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw the measures of the variants of the first panel against their `x`.

    Args:
        panels: one panel, whose series are the variants of the sweep.
        axis: label of the horizontal axis, with its unit.
        groups: one a pair of axes: {label, measures: {`evaluator.metric`: label}}.
    """
    series = sorted(panels[0].drawn, key=lambda one: float(one.options["x"]))
    if not series:
        return nothing(panels)
    figure, places = grid(len(groups), len(groups), 2.9, 3.7)
    for axes, group in zip(places, groups, strict=True):
        for look, (measure, label) in looks(group["measures"].items(), f"group {group['label']}"):
            points = [
                (float(one.options["x"]), value)
                for one in series
                for value in numbers_of(one.behind, measure)
            ]
            settings = sorted({x for x, _ in points})
            means = [fmean(value for at, value in points if at == x) for x in settings]
            axes.plot(settings, means, label=label, linewidth=1.4, markersize=5, **look)
            axes.plot(
                [x for x, _ in points],
                [value for _, value in points],
                color=look["color"],
                marker=look["marker"],
                linestyle="none",
                markersize=3,
                alpha=0.5,
            )
        axes.set_xscale("log", base=2)
        ticks = [float(one.options["x"]) for one in series]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.margins(x=0.12, y=0.15)
        axes.set_xlabel(axis)
        axes.set_ylabel(group["label"])
        axes.legend(fontsize=7)
    about = f"Lines: means; small marks: {seeds(series)}."
    footnote(figure, panels, about)
    return figure
