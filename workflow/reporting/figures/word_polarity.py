"""Count tables of words and labels, side by side (004, Figure 4)."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from workflow.reporting.figures.panels import Panel, not_run
from workflow.reporting.figures.style import footnote, plt, say
from workflow.reporting.files import ReportingError


def draw(panels: Sequence[Panel], word: str, counts: str, labels: Sequence[str]) -> Figure:
    """Draw the table of each panel's first series that was run, of its lowest seed.

    Entries are written out and shaded by their share of the word's row, which is Trans.

    Args:
        panels: one a table.
        word: `evaluator.array` of the words.
        counts: `evaluator.array` of the table, a list a word.
        labels: names of the columns.

    Raises ReportingError for an array that is missing or does not fit words and labels.
    """
    figure, grid = plt.subplots(
        1, len(panels), figsize=(2.6 * len(panels), 4.2), layout="constrained", squeeze=False
    )
    for axes, panel in zip(grid.flat, panels, strict=True):
        axes.set_title(panel.label)
        if not panel.drawn:
            say(axes, "not run")
            continue
        measure = panel.drawn[0].behind[0]
        words, rows = measure.array(word), measure.array(counts)
        if words is None or rows is None:
            raise ReportingError(
                f"{measure.path}: there are no arrays {word} and {counts}; correct the names, or "
                "measure the run again."
            )
        table = np.array(rows, dtype=float).reshape(len(rows), -1)
        if table.shape != (len(words), len(labels)):
            raise ReportingError(
                f"{measure.path}: {counts} is {' by '.join(map(str, table.shape))} for "
                f"{len(words)} words and {len(labels)} labels; measure the run again."
            )
        shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1e-12)
        axes.imshow(shares, cmap="Greys", vmin=0, vmax=1.6, aspect="auto", interpolation="nearest")
        for (row, column), entry in np.ndenumerate(table):
            axes.text(column, row, f"{entry:.2g}", ha="center", va="center", fontsize=7)
        axes.set_xticks(range(len(labels)), labels)
        axes.set_yticks(range(len(words)), words, fontsize=8)
        axes.tick_params(length=0)
    seeds = sorted({panel.drawn[0].behind[0].seed for panel in panels if panel.drawn})
    about = f"Seed {', '.join(map(str, seeds))}." if seeds else ""
    footnote(figure, f"{about} {not_run(panels)}".strip())
    return figure
