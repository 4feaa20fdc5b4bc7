"""Methods on lines, and on each its rank by the truth and its ranks by other measures."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from matplotlib.figure import Figure

from workflow.reporting.figures.dots import lines
from workflow.reporting.figures.panels import Panel, Series, ShownMeasure, seeds, series_of
from workflow.reporting.figures.style import MUTED, OTHERS, footnote, grid, nothing
from workflow.reporting.measures import numbers_of

FILLS = ("full", "none", "none")


def draw(
    panels: Sequence[Panel],
    methods: Mapping[str, str],
    measures: Sequence[ShownMeasure],
    columns: int = 4,
) -> Figure:
    """Draw of each panel's first series the rank of every method by each measure, 1 the best.

    Methods are in one order in all panels, and a line joins a method's ranks, so that a long line
    is a measure that ranks the method otherwise than the truth.

    Args:
        panels: one a pair of axes; those without a run are left out.
        methods: their labels by name.
        measures: the truth first.
        columns: number of panels side by side.
    """
    shown = [panel for panel in panels if panel.drawn]
    if not shown:
        return nothing(panels)
    height = 0.17 * len(methods) + 0.8
    figure, places = grid(len(shown), columns, height, sharex=True, sharey=True)
    for axes, panel in zip(places, shown, strict=True):
        found = [ranks(panel.drawn[0], one, methods) for one in measures]
        lines(axes, list(methods.values()))
        for at, method in enumerate(methods):
            of_method = [rank[method] for rank in found if method in rank]
            if of_method:
                axes.plot([min(of_method), max(of_method)], [at, at], color=MUTED, linewidth=1)
        for one, rank, (color, marker), fill in zip(measures, found, OTHERS, FILLS, strict=False):
            heights = [list(methods).index(method) for method in rank]
            mark: Any = {"color": color, "marker": marker}
            axes.plot(list(rank.values()), heights, linestyle="none", markersize=5.5,
                      label=one["label"], fillstyle=fill, **mark)  # fmt: skip
        axes.set_title(panel.label.replace(": ", "\n"))
        axes.set_xticks(range(1, len(methods) + 1))
        axes.set_xlim(0.5, len(methods) + 0.5)
    for axes in places[-columns:]:
        axes.set_xlabel("rank (1: best)")
    handles = places[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=len(measures))
    footnote(figure, panels, f"Ranks of means over runs, {seeds(series_of(shown))}.")
    return figure


def ranks(series: Series, measure: ShownMeasure, methods: Mapping[str, str]) -> Mapping[str, int]:
    """Return the rank of each method that has values, by its mean over runs, 1 the best."""
    names = {method: measure["measure"].format(method=method) for method in methods}
    found = {method: numbers_of(series.behind, name) for method, name in names.items()}
    means = {method: fmean(values) for method, values in found.items() if values}
    ordered = sorted(means, key=lambda method: means[method], reverse=not measure.get("less"))
    return {method: at + 1 for at, method in enumerate(ordered)}
