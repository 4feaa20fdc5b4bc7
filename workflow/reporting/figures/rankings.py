"""Methods from best to worst by one measure, and beside it the same methods by others."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow.reporting.figures.panels import Panel, Series, seeds, series_of
from workflow.reporting.figures.style import LOOKS, footnote, grid, nothing
from workflow.reporting.measures import numbers_of

MethodValues = Mapping[str, Sequence[float]]
"""What each method has, one a run; those without any are left out."""


def draw(
    panels: Sequence[Panel],
    methods: Mapping[str, str],
    measures: Sequence[Mapping[str, Any]],
    chance: str,
) -> Figure:
    """Draw a row of axes for each panel's first series, one pair a measure.

    Every method has a line in them, in the order of the first measure, the best on top. Better is
    to the right, so that measures agree where their marks run alike.

    Args:
        panels: one a row of axes.
        methods: their labels by name.
        measures: {measure, label, axis}: `evaluator.metric` with `{method}` in it, what it is
            called, and the label of its axis; `less: true` where less is better.
        chance: the method that ranks by chance; its mean is a dashed line.
    """
    shown = [panel for panel in panels if panel.drawn]
    if not shown:
        return nothing(panels)
    figure, places = grid(len(shown) * len(measures), len(measures), 2.45, 2.6)
    rows = [places[at : at + len(measures)] for at in range(0, len(places), len(measures))]
    for row, panel in zip(rows, shown, strict=True):
        series = panel.drawn[0]
        order = _best_first(_values(series, measures[0], methods), measures[0])
        for axes, measure in zip(row, measures, strict=True):
            _marks(axes, _values(series, measure, order), order)
            for by_chance in _values(series, measure, [chance]).values():
                axes.axvline(fmean(by_chance), color="#888888", linestyle="--", linewidth=0.8)
            names = [methods[method] for method in order] if axes is row[0] else []
            axes.set_yticks(range(len(names)), names)
            axes.tick_params(axis="y", length=0)
            axes.locator_params(axis="x", nbins=4)
            axes.set_ylim(len(order) - 0.5, -0.5)
            if measure.get("less"):
                axes.invert_xaxis()
            axes.set_title(f"\n{measure['label']}")
            axes.set_xlabel(measure["axis"])
        _head(row[0], panel.label)
    drawn = series_of(shown)
    several = any(len(series.behind) > 1 for series in drawn)
    marks = "Large marks: means; small marks" if several else "Marks"
    footnote(figure, panels, f"{marks}: {seeds(drawn)}. Dashed: by chance.")
    return figure


def _head(axes: Axes, text: str) -> None:
    """Write what a row of axes is of above its first one, where their titles have an empty line."""
    place: Any = {"xycoords": "axes fraction", "textcoords": "offset points"}
    head = axes.annotate(text, (0, 1), (0, 20), **place, weight="bold", fontsize=10)
    head.set_in_layout(False)  # it may be wider than the axes


def _values(series: Series, measure: Mapping[str, Any], methods: Iterable[str]) -> MethodValues:
    names = {method: measure["measure"].format(method=method) for method in methods}
    found = {method: numbers_of(series.behind, name) for method, name in names.items()}
    return {method: values for method, values in found.items() if values}


def _best_first(values: MethodValues, measure: Mapping[str, Any]) -> list[str]:
    """Return the methods in the order of their means."""
    best_is_most = not measure.get("less")
    return sorted(values, key=lambda method: fmean(values[method]), reverse=best_is_most)


def _marks(axes: Axes, values: MethodValues, order: Sequence[str]) -> None:
    """Draw each method's runs as small marks on its line, and their mean as a large one."""
    look: Any = {"color": LOOKS[0]["color"], "marker": "o", "linestyle": "none"}
    axes.hlines(range(len(order)), 0, 1, transform=axes.get_yaxis_transform(), color="#eeeeee")
    lines = [order.index(method) for method in values]
    for line, of_method in zip(lines, values.values(), strict=True):
        axes.plot(of_method, [line] * len(of_method), markersize=3, alpha=0.5, **look)
    axes.plot(list(map(fmean, values.values())), lines, markersize=5.5, label="mean", **look)
