"""Receptive fields of one sequence: what is needed, read and missed, model beside model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from workflow.reporting.figures.panels import Panel, Series, lowest, series_of
from workflow.reporting.figures.style import INK, MUTED, footnote, grid, nothing, say

EVALUATOR = "receptive_field"
PALEST, NEEDED, OTHER = 1e-4, "#2f7ed8", "#d9541e"
"""What measures keep of an entry, and the colours of needed symbols and of others."""
KINDS: Any = (
    (NEEDED, "full", "needed and read"),
    (OTHER, "full", "read, not needed"),
    (INK, "none", "needed, not read"),
)


def draw(panels: Sequence[Panel]) -> Figure:
    """Draw each panel's field: rows are predictions, columns the symbols they can depend on.

    The sequence is the first of the test set; the field is attention aggregated by discrete2020
    eq. 1, of the lowest seed. A cell has the colour of what it is: a symbol that is needed and
    read, or read and not needed; a needed symbol that is not read has a frame. The more it is read,
    on a logarithmic scale, the stronger its colour.
    """
    if not any(panel.drawn for panel in panels):
        return nothing(panels)
    figure, places = grid(len(panels), len(panels), 2.6, 5.4)
    for axes, panel in zip(places, panels, strict=True):
        axes.set_title(panel.label)
        if panel.drawn:
            _field(axes, panel.drawn[0])
        else:
            say(axes, "not run")
    places[0].set_ylabel("prediction")
    handles = [Line2D([], [], color=color, marker="s", linestyle="none", fillstyle=fill, label=name)
               for color, fill, name in KINDS]  # fmt: skip
    figure.legend(handles=handles, loc="outside upper center", ncols=len(KINDS), handletextpad=0)
    footnote(figure, panels, _which(panels))
    return figure


def _field(axes: Axes, series: Series) -> None:
    names = (f"{EVALUATOR}.example_{name}" for name in ("field", "span"))
    field, needed = (np.array(rows, dtype=float) for rows in series.arrays(*names))
    shade = 1 - np.log(np.maximum(field, PALEST)) / np.log(PALEST)
    colors: Any = np.zeros((*field.shape, 4))
    colors[..., :3] = np.where(needed[..., None] > 0, to_rgb(NEEDED), to_rgb(OTHER))
    colors[..., 3] = shade
    axes.imshow(colors, interpolation="nearest")
    missed = np.argwhere((needed > 0) & (field <= PALEST))
    mark: Any = {"marker": "s", "markerfacecolor": "none", "linestyle": "none", "markersize": 3.2}
    axes.plot(missed[:, 1], missed[:, 0], color=INK, markeredgewidth=0.7, **mark)
    axes.plot([-0.5, len(field) - 0.5], [-0.5, len(field) - 0.5], color=MUTED, linewidth=0.5)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_xlabel("symbol read")


def _which(panels: Sequence[Panel]) -> str:
    """Say which sequence and seeds are drawn, and whether all panels show the same sequence."""
    shown = series_of(panels)
    sequences = {"".join(*one.arrays(f"{EVALUATOR}.example_symbols")) for one in shown}
    if len(sequences) > 1:
        return "The runs were measured on different sequences."
    return f"Sequence: {sequences.pop()}; {lowest(shown)}."
