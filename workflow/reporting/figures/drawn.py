"""The numbers that a figure shows, read from what was drawn."""

from collections.abc import Iterable, Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

DrawnSeries = tuple[str, str, str, str]
"""Panel, series, and their x and y, numbers with blanks between them."""
SHADES = 2
"""Dimensions of a table that is shown as shades; a picture has three."""


def drawn(figure: Figure) -> list[DrawnSeries]:
    """Return every line, row of bars or shades, and group of points of a figure.

    Of a table of shades there is one for each row; its x is that row's number. Bands and pictures
    are left out, and lines without a label (single runs, baselines) beside those that have one.
    """
    found = [one for axes in figure.axes for one in _of(axes)]
    return list(dict.fromkeys(found))


def _of(axes: Axes) -> Iterator[DrawnSeries]:
    panel = axes.get_title()
    barred = {it[0]: it.get_label() for it in axes.containers if isinstance(it, ErrorbarContainer)}
    lines = [(line, _named(barred.get(line, line.get_label()))) for line in axes.lines]
    for line, label in lines:
        if label or not any(label for _, label in lines):
            x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
            yield panel, label, _text(x), _text(y)
    for bars in axes.containers:
        if boxes := getattr(bars, "patches", ()):
            places = [box.get_x() + box.get_width() / 2 for box in boxes]
            heights = [box.get_height() for box in boxes]
            yield panel, _named(bars.get_label()), _text(places), _text(heights)
    for outline in axes.patches:
        if isinstance(outline, Polygon):
            x, y = np.asarray(outline.get_xy()).T
            yield panel, _named(outline.get_label()), _text(x), _text(y)
    for points in axes.collections:
        if isinstance(points, PathCollection):
            x, y = np.asarray(points.get_offsets()).T
            yield panel, _named(points.get_label()), _text(x), _text(y)
    for image in axes.images:
        shades = np.asarray(image.get_array())
        for row, entries in enumerate(shades if shades.ndim == SHADES else ()):
            yield panel, "", str(row), _text(entries)


def _named(label: object) -> str:
    """Return a label, nothing for one that matplotlib made up."""
    return "" if str(label).startswith("_") else str(label)


def _text(values: Iterable[float]) -> str:
    """Return numbers with four significant digits."""
    return " ".join(f"{float(value):.4g}" for value in values)
