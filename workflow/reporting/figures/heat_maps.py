"""Attention of a translation to its source as heat maps, model beside model (001, Figure 4)."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from workflow.reporting.figures.panels import Panel, Series, not_run
from workflow.reporting.figures.style import footnote, plt, say
from workflow.reporting.files import ReportingError

EVALUATOR = "attention_maps"


def draw(panels: Sequence[Panel]) -> Figure:
    """Draw a row of maps a panel, one map a series, of the lowest seed.

    Rows of a map are the words of the translation, columns those of the source, and the first words
    of all maps in a row stand at one height; `array` of a series is `cross_bottom` or `cross_top`.
    Panels without a run are left out.
    """
    shown = [panel for panel in panels if panel.drawn]
    columns = max((len(panel.drawn) for panel in shown), default=1)
    figure, grid = plt.subplots(
        *(max(len(shown), 1), columns),
        figsize=(3.9 * columns, 3.3 * max(len(shown), 1)),
        layout="constrained",
        squeeze=False,
    )
    image: AxesImage | None = None
    for axes in grid.flat:
        say(axes, "" if shown else "not run")
    for line, panel in zip(grid, shown, strict=False):
        for axes, series in zip(line, panel.drawn, strict=False):
            image = _map(axes, series)
            axes.set_title(f"{panel.label}: {series.label}")
    if image is not None:
        bar = figure.colorbar(image, ax=grid, shrink=0.4, pad=0.02, panchor=False)
        bar.set_label("weight")
    seeds = sorted({series.behind[0].seed for panel in shown for series in panel.drawn})
    about = f"Means over heads; seed {', '.join(map(str, seeds))}." if shown else ""
    footnote(figure, f"{about} {not_run(panels)}".strip())
    return figure


def _map(axes: Axes, series: Series) -> AxesImage:
    """Draw one map with the sub-words as tick labels."""
    measure = series.behind[0]
    names = ("source", "target", str(series.options["array"]))
    source, target, weights = (measure.array(f"{EVALUATOR}.{name}") for name in names)
    if source is None or target is None or weights is None:
        raise ReportingError(
            f"{measure.path}: there are no arrays {', '.join(names)} of {EVALUATOR}; measure the "
            "run again."
        )
    for spine in axes.spines.values():
        spine.set_visible(True)
    image = axes.imshow(np.array(weights, dtype=float), cmap="Greys", vmin=0, vmax=1)
    axes.set_xticks(range(len(source)), source, rotation=90, fontsize=6)
    axes.set_yticks(range(len(target)), target, fontsize=6)
    axes.tick_params(length=0, pad=2)
    axes.set_xlabel("source words")
    axes.set_ylabel("output words")
    axes.set_anchor("N")
    return image
