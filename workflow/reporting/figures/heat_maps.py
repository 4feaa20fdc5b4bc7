"""Attention of a translation to its source as heat maps, model beside model (zhao2019 figure 4)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from workflow.reporting.figures.panels import Panel, Series, lowest, series_of
from workflow.reporting.figures.style import SHADES, SMALL, WIDTH, footnote, nothing, plt, say

EVALUATOR = "attention_maps"
WORDS = 20
"""So many words of a side have room to be read; of a longer one the first are drawn."""
ACROSS, AROUND = 2.45, 1.1
"""Inches across a map, and above and below it."""
TICKS = (0, 0.01, 0.05, 0.1, 0.25, 0.5, 1)


def draw(panels: Sequence[Panel]) -> Figure:
    """Draw a row of maps a panel, one map a series, of the lowest seed.

    Rows of a map are the words of the translation, columns those of the source, and the first words
    of all maps in a row stand at one height; `array` of a series is `cross_bottom` or `cross_top`.
    Shades go by the square root of a weight, for attention to many words to show. Panels without a
    run are left out.
    """
    shown = [panel for panel in panels if panel.drawn]
    if not shown:
        return nothing(panels)
    columns = max(len(panel.drawn) for panel in shown)
    heights = [AROUND + ACROSS * max(map(_shape, panel.drawn)) for panel in shown]
    figure, grid = plt.subplots(
        len(shown),
        columns,
        figsize=(WIDTH, sum(heights)),
        layout="constrained",
        squeeze=False,
        gridspec_kw={"height_ratios": heights},
    )
    for axes in grid.flat:
        say(axes, "")
    for line, panel in zip(grid, shown, strict=True):
        for axes, series in zip(line, panel.drawn, strict=False):
            image = _map(axes, series)
            axes.set_title(f"{panel.label}: {series.label}")
    bar = figure.colorbar(image, ax=grid, shrink=0.4, pad=0.02, panchor=False)
    bar.set_ticks(TICKS, labels=[f"{tick:g}" for tick in TICKS])
    bar.set_label("weight (square-root scale)")
    footnote(figure, panels, f"Means over heads; {lowest(series_of(shown))}.")
    return figure


def _shape(series: Series) -> float:
    source, target, _ = _arrays(series)
    return min(len(target), WORDS) / min(len(source), WORDS)


def _arrays(series: Series) -> list[Any]:
    """Return the words of source and output, and the weights."""
    names = ("source", "target", str(series.definition["array"]))
    return series.arrays(*(f"{EVALUATOR}.{name}" for name in names))


def _map(axes: Axes, series: Series) -> AxesImage:
    """Draw one map with the sub-words as tick labels; where some are left out the axis says so."""
    source, target, weights = _arrays(series)
    for spine in axes.spines.values():
        spine.set_visible(True)
    table = np.array(weights, dtype=float)[:WORDS, :WORDS]
    image = axes.imshow(table, cmap=SHADES, norm=PowerNorm(0.5, vmin=0, vmax=1))
    axes.set_xticks(range(table.shape[1]), source[:WORDS], rotation=90, fontsize=SMALL)
    axes.set_yticks(range(table.shape[0]), target[:WORDS], fontsize=SMALL)
    axes.tick_params(length=0, pad=2)
    axes.set_xlabel(f"source words{_of(source)}")
    axes.set_ylabel(f"output words{_of(target)}")
    axes.set_anchor("N")
    return image


def _of(words: Sequence[str]) -> str:
    return f" (the first {WORDS} of {len(words)})" if len(words) > WORDS else ""
