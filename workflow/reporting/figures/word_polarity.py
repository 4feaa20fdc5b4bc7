"""Count tables of words and labels, side by side (snell2021 figure 4)."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from workflow.errors import ReportingError
from workflow.reporting.figures.panels import Panel, arrays, lowest
from workflow.reporting.figures.style import footnote, nothing, plt, say


def draw(
    panels: Sequence[Panel], word: str, counts: str, labels: Mapping[str, Sequence[str]]
) -> Figure:
    """Draw the table of each panel's first series that was run, of its lowest seed.

    Entries are written out and shaded by their share of the word's row, which is Trans.

    Args:
        panels: one a table.
        word: `evaluator.array` of the words.
        counts: `evaluator.array` of the table, a list a word.
        labels: names of the columns, by the label of the panel.

    Raises ReportingError for a panel without them, and for an array that is missing or does not fit
    words and labels.
    """
    if not any(panel.drawn for panel in panels):
        return nothing(panels)
    figure, grid = plt.subplots(
        1, len(panels), figsize=(2.6 * len(panels), 4.2), layout="constrained", squeeze=False
    )
    for axes, panel in zip(grid.flat, panels, strict=True):
        axes.set_title(panel.label)
        if not panel.drawn:
            say(axes, "not run")
            continue
        if panel.label not in labels:
            raise ReportingError(f"options.labels: no entry for panel {panel.label}; add one.")
        measure, classes = panel.drawn[0].behind[0], labels[panel.label]
        words, rows = arrays(measure, word, counts)
        table = np.array(rows, dtype=float).reshape(len(rows), -1)
        if table.shape != (len(words), len(classes)):
            raise ReportingError(
                f"{measure.path}: {counts} is {' by '.join(map(str, table.shape))} for "
                f"{len(words)} words and {len(classes)} labels; measure the run again."
            )
        shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1e-12)
        axes.imshow(shares, cmap="Greys", vmin=0, vmax=1.6, aspect="auto", interpolation="nearest")
        for (row, column), entry in np.ndenumerate(table):
            axes.text(column, row, f"{entry:.2g}", ha="center", va="center", fontsize=7)
        axes.set_xticks(range(len(classes)), classes)
        axes.set_yticks(range(len(words)), words, fontsize=8)
        axes.tick_params(length=0)
    about = f"{lowest([panel.drawn[0] for panel in panels if panel.drawn])}.".capitalize()
    footnote(figure, panels, about)
    return figure
