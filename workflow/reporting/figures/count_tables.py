"""Tables of which symbols occur together, as heat maps side by side (snell2021 figure 3, 6)."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from workflow.reporting.figures.panels import Panel, Series, of_first, table
from workflow.reporting.figures.style import footnote, grid, nothing, say

LABELLED = 12
"""About as many symbols are named along an axis."""
ABOVE = 1.5
"""How far the scale goes beyond the highest entry, so that equal entries are no black square."""


def draw(
    panels: Sequence[Panel], symbol: str, counts: str, across: str, up: str, label: str
) -> Figure:
    """Draw the table of each panel's first series that was run, of its lowest seed, in one scale.

    Args:
        panels: one a table.
        symbol: `evaluator.array` of the symbols, which name rows and columns.
        counts: `evaluator.array` of the table, a list a row.
        across: label of the columns.
        up: label of the rows.
        label: label of the scale, with its unit.

    Raises ReportingError for an array that is missing or does not fit the symbols.
    """
    if not any(panel.drawn for panel in panels):
        return nothing(panels)
    figure, places = grid(len(panels), len(panels), 3.6, 3.5)
    tables = {
        panel.label: _table(panel.drawn[0], symbol, counts) for panel in panels if panel.drawn
    }
    highest = max((float(entries.max()) for _, entries in tables.values()))
    image: AxesImage | None = None
    for axes, panel in zip(places, panels, strict=True):
        axes.set_title(panel.label)
        if panel.label not in tables:
            say(axes, "not run")
            continue
        names, entries = tables[panel.label]
        image = axes.imshow(
            entries, cmap="Greys", vmin=0, vmax=ABOVE * highest, interpolation="nearest"
        )
        _name(axes, names)
        axes.set_xlabel(across)
        axes.set_ylabel(up)
    if image is not None:
        figure.colorbar(image, ax=places, shrink=0.8, pad=0.02).set_label(label)
    footnote(figure, panels, of_first(panels))
    return figure


def _table(series: Series, symbol: str, counts: str) -> tuple[Sequence[str], np.ndarray]:
    """Return the symbols and the table of a series."""
    names, _ = series.arrays(symbol, counts)
    return names, table(series, counts, len(names), len(names), f"{len(names)} symbols")


def _name(axes: Axes, names: Sequence[str]) -> None:
    """Write some of the symbols beside rows and columns."""
    places = range(0, len(names), -(-len(names) // LABELLED))
    shown = [names[place] for place in places]
    axes.set_xticks(places, shown, fontsize=7)
    axes.set_yticks(places, shown, fontsize=7)
    axes.tick_params(length=0, pad=2)
    for spine in axes.spines.values():
        spine.set_visible(True)
