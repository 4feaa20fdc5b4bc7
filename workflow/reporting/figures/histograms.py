"""Histograms of a per-example measure, one panel a dataset."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow.reporting.figures.panels import Panel, Series, seeds
from workflow.reporting.figures.style import SMALL, Look, footnote, grid, looks, nothing
from workflow.reporting.statistics.intervals import numbers, pooled


def draw(panels: Sequence[Panel], measure: str, label: str, low: float, high: float) -> Figure:
    """Draw for each dataset that was run the histograms of `measure` over its test examples.

    Args:
        panels: one a dataset; a histogram is of the examples of all seeds.
        measure: `evaluator.array` of per-example values, and `evaluator.metric` of their mean.
        label: of the horizontal axis, with its unit.
        low: left end of the axis; what lies beyond counts in the outermost bar.
        high: right end of the axis, likewise.
    """
    drawn = [panel for panel in panels if panel.drawn]
    if not drawn:
        return nothing(panels)
    columns = 2
    figure, places = grid(len(drawn), columns, 2.7, sharey=True)
    look_of = looks(series.label for panel in panels for series in panel.series)
    for axes, panel in zip(places, drawn, strict=True):
        _histograms(axes, panel, measure, np.linspace(low, high, 41), look_of)
    places[0].set_ylim(top=1.45 * max(axes.dataLim.ymax for axes in places))
    for axes in places[-columns:]:
        axes.set_xlabel(label)
    for axes in places[::columns]:
        axes.set_ylabel("test examples (%)")
    about = "Examples of all seeds; mean±standard deviation within a seed; ▼: the paper's mean."
    footnote(figure, panels, about)
    return figure


def _histograms(
    axes: Axes, panel: Panel, measure: str, edges: np.ndarray, look_of: Mapping[str, Look]
) -> None:
    """Draw a panel's histograms as outlines with light fills, and the papers' means as marks."""
    bins = edges.tolist()
    shown = [(series, values) for series in panel.drawn if len(values := _values(series, measure))]
    for at, (series, values) in enumerate(shown):
        color = look_of[series.label]["color"]
        weights = np.full(len(values), 100.0 / len(values))
        style = {"color": color, "linestyle": look_of[series.label]["linestyle"], "linewidth": 1.5}
        values = np.clip(values, bins[0], bins[-1])
        axes.hist(values, bins, weights=weights, histtype="step", label=series.label, **style)
        axes.hist(values, bins, weights=weights, color=color, alpha=0.12)
        stroke = "━" if style["linestyle"] == "-" else "╍"
        name = f"{stroke} {series.label} {_summary(series, measure)}"
        if series.printed and series.printed.printed.value is not None:
            name += f" ▼{series.printed.printed.text}"
            mark: Any = {"marker": "v", "color": color, "clip_on": False, "linestyle": "none"}
            place = axes.get_xaxis_transform()
            axes.plot(series.printed.printed.value, 0.72, transform=place, **mark)
        where: Any = {"transform": axes.transAxes, "va": "top", "fontsize": SMALL}
        axes.text(0.01, 0.99 - 0.085 * at, name, color=color, **where)
    axes.set_title(f"{panel.label} ({seeds(panel.drawn)})")
    axes.set_xlim(bins[0], bins[-1])
    axes.locator_params(axis="x", nbins=6)


def _summary(series: Series, measure: str) -> str:
    """Return mean±standard deviation as tables have them: over runs, and pooled over them."""
    known = [scalar for one in series.behind if (scalar := one.scalar(measure))]
    mean = sum(float(scalar.value) for scalar in known) / len(known)
    return f"{mean:.2f}±{pooled([scalar.std for scalar in known]) or 0:.2f}"


def _values(series: Series, measure: str) -> np.ndarray:
    arrays = [numbers(one.array(measure) or ()) for one in series.behind]
    values = np.concatenate([np.zeros(0), *arrays])
    return values[~np.isnan(values)]
