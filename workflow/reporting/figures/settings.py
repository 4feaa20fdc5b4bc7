"""A measure against a setting whose values have names: one pair of axes a panel."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from workflow.reporting.figures.panels import Panel, seeds, series_of
from workflow.reporting.figures.style import LOOKS, footnote, grid, nothing
from workflow.reporting.measures import numbers_of

FEW = 2
"""So many settings are no curve: between them no line is drawn."""


def draw(panels: Sequence[Panel], axis: str, measure: str, label: str, least: float) -> Figure:
    """Draw the mean over runs at each setting, and a small mark for every run.

    A line joins the means of more than two settings.  Panels and settings without a run are left
    out.

    Args:
        panels: their series are the settings, from left to right; labels are the values.
        axis: label of the horizontal axis, with its unit.
        measure: `evaluator.metric`.
        label: label of the vertical axis, with its unit.
        least: the vertical axis spans at least so much, so that small differences look small.
    """
    shown = [panel for panel in panels if panel.drawn]
    if not shown:
        return nothing(panels)
    figure, all_axes = grid(len(shown), 3, 2.9)
    look = LOOKS[0]
    for axes, panel in zip(all_axes, shown, strict=True):
        names = [series.label for series in panel.drawn]
        reached = [numbers_of(series.behind, measure) for series in panel.drawn]
        places = [place for place, values in enumerate(reached) if values]
        means = [sum(reached[place]) / len(reached[place]) for place in places]
        style = look["linestyle"] if len(places) > FEW else "none"
        mark = {"color": look["color"], "marker": look["marker"], "linestyle": style}
        axes.plot(places, means, linewidth=1.4, **mark)
        axes.plot(
            [place for place in places for _ in reached[place]],
            [value for place in places for value in reached[place]],
            color=look["color"],
            marker="_",
            linestyle="none",
            alpha=0.6,
        )
        axes.set_xticks(range(len(names)), names)
        axes.margins(x=0.12, y=0.15)
        bottom, top = axes.get_ylim()
        beyond = max(least - (top - bottom), 0) / 2
        axes.set_ylim(bottom - beyond, top + beyond)
        axes.set_xlabel(axis)
        axes.set_ylabel(label)
        axes.set_title(panel.label)
    drawn = series_of(shown)
    about = f"Large marks: means; small marks: {seeds(drawn)}."
    if all(len(series.behind) == 1 for series in drawn):
        about = f"Marks: single runs of {seeds(drawn)}."
    footnote(figure, panels, about)
    return figure
