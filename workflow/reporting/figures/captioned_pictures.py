"""Pictures of a test set with the captions that models write of them, and a reference."""

import base64
import io
import textwrap
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow.reporting.figures.panels import Panel, Series, lowest
from workflow.reporting.figures.style import LOOKS, footnote, nothing, plt, say
from workflow.runtime.errors import ReportingError

COLUMNS, WIDTH, NAME_WIDTH = 2, 38, 16
"""Pictures in a row, and characters in a line of text and of a name in the place of a picture."""
LINES = 8
"""So many lines of text beside a picture stand at equal distances, fewer too; more stand closer."""


def draw(panels: Sequence[Panel]) -> Figure:
    """Draw each picture with the captions of all series of a panel beside it, of the lowest seed.

    Panels without a run are left out. Raises ReportingError when the series of a panel were
    measured on different images, or none has kept pictures.
    """
    shown = [(panel, *_pictures(panel)) for panel in panels if panel.drawn]
    if not shown:
        return nothing(panels)
    rows = [-(-len(names) // COLUMNS) for _, names, _ in shown]
    size = (7.4, 1.25 * sum(rows) + 0.3 * len(rows))
    figure = plt.figure(figsize=size, layout="constrained")
    parts = figure.subfigures(len(shown), 1, height_ratios=rows, squeeze=False)
    for part, (panel, names, pictures), count in zip(parts[:, 0], shown, rows, strict=True):
        part.suptitle(f"{panel.label}, {lowest(panel.drawn)}", fontsize=9)
        grid = part.subplots(
            count, 2 * COLUMNS, squeeze=False, gridspec_kw={"width_ratios": [1, 2.4] * COLUMNS}
        )
        for axes in grid.flat:
            say(axes, "")
        for number, (name, picture) in enumerate(zip(names, pictures, strict=True)):
            row, column = divmod(number, COLUMNS)
            _show(grid[row, 2 * column], name, picture)
            _write(grid[row, 2 * column + 1], panel, number)
    footnote(figure, panels)
    return figure


def _pictures(panel: Panel) -> tuple[list[str], list[str]]:
    """Return the names of a panel's images and the images, which one series has kept."""
    references = {tuple(_array(series, "scores.references")) for series in panel.drawn}
    if len(references) > 1:
        raise ReportingError(f"panel {panel.label}: the runs were measured on other images.")
    for series in panel.drawn:
        names = series.behind[0].array("pictures.names")
        if names is not None:
            return names, _array(series, "pictures.pictures")
    paths = ", ".join(series.behind[0].path.as_posix() for series in panel.drawn)
    raise ReportingError(f"{paths}: none has the array pictures.names; measure one of them again.")


def _show(axes: Axes, name: str, picture: str) -> None:
    """Draw a picture; where there is none its name."""
    if picture:
        axes.imshow(plt.imread(io.BytesIO(base64.b64decode(picture))), interpolation="bilinear")
    else:
        shown = "\n".join(textwrap.wrap(f"image {name}", NAME_WIDTH))
        axes.text(0.5, 0.5, shown, fontsize=6, ha="center", va="center", transform=axes.transAxes)


def _write(axes: Axes, panel: Panel, number: int) -> None:
    """Write the captions of one picture, each series in its colour, and its first reference."""
    lines: list[tuple[str, str]] = []
    for look, series in zip(LOOKS, panel.drawn, strict=False):
        text = f"{series.label}: {_array(series, 'scores.hypotheses')[number]}"
        lines += [(line, look["color"]) for line in textwrap.wrap(text, WIDTH)]
    reference = _array(panel.drawn[0], "scores.references")[number].split("\t")[0]
    lines += [(line, "#444444") for line in textwrap.wrap(f"reference: {reference}", WIDTH)]
    for place, (line, color) in enumerate(lines):
        height = 0.98 - place / max(len(lines), LINES)
        axes.text(0, height, line, color=color, fontsize=7, va="top", transform=axes.transAxes)


def _array(series: Series, name: str) -> list[Any]:
    return list(*series.arrays(name))
