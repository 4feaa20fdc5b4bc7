"""Count tables of words and labels, side by side (snell2021 figure 4)."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from workflow.reporting.figures.panels import Panel, Series, of_first
from workflow.reporting.figures.style import SHADES, SMALL, footnote, grid, nothing, say
from workflow.runtime.errors import ReportingError


def draw(
    panels: Sequence[Panel], word: str, counts: str, labels: Mapping[str, Sequence[str]]
) -> Figure:
    """Draw the table of each panel's first series that was run, of its lowest seed.

    Entries are written out, with their shares of the word's row, which are Trans and shade them.

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
    figure, places = grid(len(panels), len(panels), 4.2)
    for axes, panel in zip(places, panels, strict=True):
        axes.set_title(panel.label)
        if not panel.drawn:
            say(axes, "not run")
            continue
        if panel.label not in labels:
            raise ReportingError(f"options.labels: no entry for panel {panel.label}; add one.")
        series, classes = panel.drawn[0], labels[panel.label]
        words, _ = series.arrays(word, counts)
        sides = f"{len(words)} words and {len(classes)} labels"
        entries = _table(series, counts, len(words), len(classes), sides)
        shares = entries / np.maximum(entries.sum(axis=1, keepdims=True), 1e-12)
        axes.imshow(shares, cmap=SHADES, vmin=0, vmax=1.25, aspect="auto", interpolation="nearest")
        for (row, column), entry in np.ndenumerate(entries):
            text = f"{entry:.2g} ({100 * shares[row, column]:.0f} %)"
            axes.text(column, row, text, ha="center", va="center", fontsize=SMALL)
        axes.set_xticks(range(len(classes)), classes)
        axes.set_yticks(range(len(words)), words, fontsize=SMALL)
        axes.tick_params(length=0)
    about = "Numbers: the entries; in brackets, and as shades, their shares of the word's row."
    footnote(figure, panels, f"{about} {of_first(panels)}")
    return figure


def _table(series: Series, counts: str, rows: int, columns: int, sides: str) -> np.ndarray:
    """Return the array `evaluator.name` of counts, (rows, columns), of the lowest seed.

    Raises ReportingError where it does not fit `sides`, what its rows and columns are.
    """
    (values,) = series.arrays(counts)
    entries = np.array(values, dtype=float)
    if entries.shape != (rows, columns):
        raise ReportingError(
            f"{series.behind[0].path}: {counts} is {' by '.join(map(str, entries.shape))} for "
            f"{sides}; measure the run again."
        )
    return entries
