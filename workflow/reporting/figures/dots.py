"""Measures of mechanisms as dots on lines: every run, and their means."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow.reporting.figures.panels import Panel, seeds, series_of
from workflow.reporting.figures.style import FAINT, footnote, grid, looks, nothing, say
from workflow.reporting.measures import numbers_of

MARKS = (("full", "o"), ("none", "s"), ("none", "^"))


def draw(panels: Sequence[Panel], axis: str, measures: Mapping[str, str]) -> Figure:
    """Draw a line a series and on it each measure: runs small, their mean large.

    Args:
        panels: side by side, with the same lines and the same axis.
        axis: its label, with its unit.
        measures: label of each `evaluator.metric`; the first has a full mark.
    """
    drawn = series_of(panels)
    if not drawn:
        return nothing(panels)
    names = list(dict.fromkeys(series.label for panel in panels for series in panel.series))
    look_of = looks(names)
    figure, places = grid(
        len(panels), len(panels), 0.25 * len(names) + 1.5, sharex=True, sharey=True
    )
    for axes, panel in zip(places, panels, strict=True):
        axes.set_title(panel.label)
        lines(axes, names)
        for series in panel.drawn:
            color, at = look_of[series.label]["color"], names.index(series.label)
            for (measure, name), (fill, marker) in zip(measures.items(), MARKS, strict=False):
                if values := numbers_of(series.behind, measure):
                    look: Any = {"color": color, "marker": marker, "linestyle": "none"}
                    axes.plot(values, [at] * len(values), markersize=3, alpha=0.5, **look)
                    label = name if series is panel.drawn[0] else None
                    axes.plot(
                        [fmean(values)], [at], markersize=7, label=label, fillstyle=fill, **look
                    )
        axes.set_xlabel(axis)
        if not panel.drawn:
            say(axes, "not run")
    legend = next(axes for axes, panel in zip(places, panels, strict=True) if panel.drawn)
    figure.legend(*legend.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    footnote(figure, panels, f"Large: means; small: single runs, {seeds(drawn)}.")
    return figure


def lines(axes: Axes, names: Sequence[str]) -> None:
    """Give each name a faint line across, the first on top."""
    axes.hlines(range(len(names)), 0, 1, transform=axes.get_yaxis_transform(), color=FAINT)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(names) - 0.5, -0.5)
