"""Maps of embeddings, coloured by part of speech (kinley2020 figure 6.2)."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from workflow.reporting.figures.panels import Panel, Series, of_first
from workflow.reporting.figures.style import footnote, grid, nothing, say
from workflow.runtime.errors import ReportingError

EVALUATOR = "embedding_map"
LOOKS: tuple[Mapping[str, Any], ...] = tuple(
    {"color": color, "marker": marker}
    for color, marker in zip(
        ("#000000", "#e69f00", "#56b4e9", "#009e73", "#b8ab00", "#0072b2", "#d55e00", "#cc79a7"),
        ("o", "s", "^", "D", "v", "P", "X", "*"),
        strict=True,
    )
)
"""Okabe and Ito's colours, yellow darkened, each with a mark of its own."""

INK, SMALLEST, LARGEST = 10_000, 3, 18
"""Area of all marks of a map in square points, shared by its words, and bounds of one mark's."""


def draw(panels: Sequence[Panel], legend: Sequence[str]) -> Figure:
    """Draw a map a panel, of the lowest seed of its first series, with its purity above it.

    Panels without a run are left out.

    Args:
        panels: `array` of a series is the stream, `model` or `controller`.
        legend: the parts of speech, at most eight.
    """
    if len(legend) > len(LOOKS):
        raise ReportingError(f"{len(legend)} parts of speech; name at most {len(LOOKS)}.")
    shown = [panel for panel in panels if panel.drawn]
    if not shown:
        return nothing(panels)
    figure, all_axes = grid(len(shown), 2, 3.4)
    for axes, panel in zip(all_axes, shown, strict=True):
        say(axes, "")
        _map(axes, panel, panel.drawn[0], legend)
    marks: dict[str, Any] = {}
    for axes in all_axes:
        handles, labels = axes.get_legend_handles_labels()
        marks |= zip(labels, handles, strict=True)
    tags = [tag for tag in legend if tag in marks]
    drawn = [marks[tag] for tag in tags]
    beside = figure.legend(drawn, tags, loc="outside right center", fontsize=7)
    for mark in beside.legend_handles:
        if isinstance(mark, PathCollection):
            mark.set_sizes([27])
    footnote(figure, panels, of_first(shown))
    return figure


def _map(axes: Axes, panel: Panel, series: Series, legend: Sequence[str]) -> None:
    measure, stream = series.behind[0], str(series.options["array"])
    names = (f"{EVALUATOR}.{name}" for name in ("tag", f"{stream}_x", f"{stream}_y"))
    tags, across, up = series.arrays(*names)
    size = min(max(INK / max(len(tags), 1), SMALLEST), LARGEST)
    for look, tag in zip(LOOKS, legend, strict=False):
        chosen = [place for place, one in enumerate(tags) if one == tag]
        points = [across[place] for place in chosen], [up[place] for place in chosen]
        if chosen:
            axes.scatter(*points, s=size, linewidths=0, label=tag, **look)
    purity, chance = (
        measure.number(f"{EVALUATOR}.{name}") for name in (f"{stream}_purity", "chance")
    )
    number = ""
    if purity is not None and chance is not None:
        number = f"\npurity {purity:.2f} (chance {chance:.2f})"
    axes.set_title(f"{panel.label}{number}")
