"""Receptive fields of one sequence: its true dependencies beside what models' attention reaches."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from workflow.reporting.figures.panels import Panel, Series, lowest, series_of
from workflow.reporting.figures.style import footnote, nothing, plt, say

EVALUATOR = "receptive_field"
LEAST = 1e-4
"""What measures keep of an entry: of smaller ones nothing is seen."""


def draw(panels: Sequence[Panel]) -> Figure:
    """Draw each panel's field: rows are predictions, columns the symbols they can depend on.

    The sequence is the first of the test set; `array` of a series is `example_span` (the truth) or
    `example_field` (attention aggregated by discrete2020 eq. 1), of the lowest seed. The scale of
    shades is logarithmic: soft attention spreads small weights over many symbols.
    """
    if not any(panel.drawn for panel in panels):
        return nothing(panels)
    figure, grid = plt.subplots(2, 2, figsize=(7.4, 7.2), layout="constrained")
    image: AxesImage | None = None
    for axes, panel in zip(grid.flat, panels, strict=True):
        axes.set_title(panel.label)
        if panel.drawn:
            image = _field(axes, panel.drawn[0])
        else:
            say(axes, "not run")
    for axes in grid[:, 0]:
        axes.set_ylabel("predicted symbol")
    for axes in grid[1]:
        axes.set_xlabel("symbol in the receptive field")
    if image is not None:
        bar = figure.colorbar(image, ax=grid, shrink=0.5, pad=0.02)
        bar.set_label(f"dependence (log scale; 1 full, white below {LEAST:g})")
    footnote(figure, panels, _which(panels))
    return figure


def _field(axes: Axes, series: Series) -> AxesImage:
    """Draw one field (28 to 30 positions a side) with the sequence's symbols as tick labels."""
    names = (str(series.options["array"]), "example_symbols")
    rows, symbols = series.arrays(*(f"{EVALUATOR}.{name}" for name in names))
    field = np.array(rows, dtype=float)
    image = axes.imshow(field, cmap="Greys", norm=LogNorm(LEAST, 1), interpolation="nearest")
    places = range(len(field))
    axes.set_xticks(places, symbols[: len(field)], fontsize=6)
    axes.set_yticks(places, symbols[1 : len(field) + 1], fontsize=6)
    axes.tick_params(length=0, pad=2)
    edges = np.arange(len(field) + 1) - 0.5
    axes.set_xticks(edges, minor=True)
    axes.set_yticks(edges, minor=True)
    axes.grid(which="minor", color="#e4e4e4", linewidth=0.3)
    axes.tick_params(which="minor", length=0)
    return image


def _which(panels: Sequence[Panel]) -> str:
    """Say which sequence and seeds are drawn, and whether all panels show the same sequence."""
    shown = series_of(panels)
    sequences = {"".join(*one.arrays(f"{EVALUATOR}.example_symbols")) for one in shown}
    if len(sequences) > 1:
        return "The runs were measured on different sequences."
    return f"First test sequence: {sequences.pop()}; {lowest(shown)}."
