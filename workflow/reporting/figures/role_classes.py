"""Which classes of words take which roles, as heat maps."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from workflow.reporting.figures.panels import Panel, Series, of_first
from workflow.reporting.figures.style import footnote, grid, nothing

COUNTS = "roles.class_counts"


def draw(panels: Sequence[Panel]) -> Figure:
    """Draw a map a panel, of the lowest seed of its first series: a row a class, a column a role.

    A cell is the share of the class that takes the role; black is the highest share of all maps. A
    series' `array` says which counts are drawn, `roles.class_counts` unless told.
    Panels without a run are left out.  Raises ReportingError for an array that is missing.
    """
    shown = [panel for panel in panels if panel.drawn]
    if not shown:
        return nothing(panels)
    figure, all_axes = grid(len(shown), 1, 2.8)
    images = []
    for axes, panel in zip(all_axes, shown, strict=True):
        images.append(_map(axes, panel.drawn[0]))
        axes.set_title(panel.label)
    highest = max(float(np.ma.asarray(image.get_array()).max()) for image in images)
    for image in images:
        image.set_clim(0, highest)
    bar = figure.colorbar(images[0], ax=all_axes, shrink=0.8, pad=0.02)
    bar.set_label(f"share of the class\n(black: the highest, {highest:.2f})")
    footnote(figure, panels, of_first(shown))
    return figure


def _map(axes: Axes, series: Series) -> AxesImage:
    evaluator = series.options.get("array", COUNTS).partition(".")[0]
    names = (f"{evaluator}.{name}" for name in ("class", "class_counts", "role"))
    classes, counts, roles = series.arrays(*names)
    table = np.array(counts, dtype=float)
    table = table[:, table.any(axis=0)]
    shares = table / table.sum(axis=1, keepdims=True)
    image = axes.imshow(shares, cmap="Greys", aspect="auto")
    axes.set_yticks(range(len(classes)), classes, fontsize=7)
    of_columns = [role for (role,) in roles[: table.shape[1]]]
    axes.set_xticks(range(len(of_columns)), of_columns, fontsize=6, rotation=90)
    axes.tick_params(length=0, pad=2)
    axes.set_xlabel("role, the most frequent first")
    return image
