"""Histograms of a per-example measure, one panel a dataset."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow.reporting.figures.panels import Panel, Series, seeds, series_of
from workflow.reporting.figures.style import footnote, grid, legend_below, looks, nothing
from workflow.reporting.statistics.intervals import numbers, pooled


def draw(panels: Sequence[Panel], measure: str, label: str, low: float, high: float) -> Figure:
    """Draw for each dataset that was run the histograms of `measure` over its test examples.

    Args:
        panels: one a dataset; a histogram is of the examples of all seeds.
        measure: `evaluator.array` of per-example values, and `evaluator.metric` of their mean.
        label: of the horizontal axis, with its unit.
        low: left end of the axis, moved further where values lie beyond it.
        high: right end of the axis, likewise.
    """
    drawn = [panel for panel in panels if panel.drawn]
    if not drawn:
        return nothing(panels)
    values = [_values(series, measure) for series in series_of(drawn)]
    reached = np.concatenate([np.array([low, high]), *values])
    low, high = (np.floor(reached.min() * 10) / 10, np.ceil(reached.max() * 10) / 10)
    figure, places = grid(len(drawn), 2, 3.6)
    for axes, panel in zip(places, drawn, strict=True):
        _histograms(axes, panel, measure, np.linspace(low, high, 41))
        axes.set_xlabel(label)
        axes.set_ylabel("test examples (%)")
    about = "All examples of all seeds; mean±standard deviation within a seed; "
    about += "vertical lines: the paper's means."
    footnote(figure, panels, about)
    return figure


def _histograms(axes: Axes, panel: Panel, measure: str, edges: np.ndarray) -> None:
    """Draw a panel's histograms as outlines with light fills, and the papers' means as lines."""
    bins = edges.tolist()
    for look, series in looks(panel.series, f"panel {panel.label}"):
        values = _values(series, measure)
        if not len(values):
            continue
        weights = np.full(len(values), 100.0 / len(values))
        style = {"color": look["color"], "linestyle": look["linestyle"], "linewidth": 1.5}
        name = f"{series.label}: {_summary(series, measure)}"
        if series.printed:
            name += f" (paper: {series.printed.printed.text})"
        axes.hist(values, bins, weights=weights, histtype="step", label=name, **style)
        axes.hist(values, bins, weights=weights, color=look["color"], alpha=0.12)
        if series.printed and series.printed.printed.value is not None:
            mean = series.printed.printed.value
            mark = {"color": look["color"], "linestyle": look["linestyle"], "linewidth": 0.9}
            axes.axvline(mean, ymax=0.94, **mark)
            axes.plot(
                mean,
                0.95,
                marker="v",
                color=look["color"],
                transform=axes.get_xaxis_transform(),
                clip_on=False,
                linestyle="none",
            )
    axes.set_title(f"{panel.label} ({seeds(panel.drawn)})")
    axes.set_xlim(bins[0], bins[-1])
    axes.locator_params(axis="x", nbins=6)
    axes.set_ylim(top=axes.get_ylim()[1] * 1.15)
    if axes.get_legend_handles_labels()[0]:
        legend_below(axes, handlelength=2.6)


def _summary(series: Series, measure: str) -> str:
    """Return mean±standard deviation as tables have them: over runs, and pooled over them."""
    known = [scalar for one in series.behind if (scalar := one.scalar(measure))]
    mean = sum(float(scalar.value) for scalar in known) / len(known)
    return f"{mean:.2f}±{pooled([scalar.std for scalar in known]) or 0:.2f}"


def _values(series: Series, measure: str) -> np.ndarray:
    """Return the known values of all runs of a series."""
    arrays = [numbers(one.array(measure) or ()) for one in series.behind]
    values = np.concatenate([np.zeros(0), *arrays])
    return values[~np.isnan(values)]
