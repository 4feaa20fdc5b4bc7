"""The attention of one word to the words of its sentence, a strip a model (zhao2019 figure 1)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from workflow.reporting.figures.panels import Panel, Series, lowest
from workflow.reporting.figures.style import SHADES, SMALL, WIDTH, footnote, nothing, plt
from workflow.runtime.errors import ReportingError

EVALUATOR = "attention_maps"
WORDS = 40
"""So many words have room: of longer sentences those nearest to the one that attends."""


def draw(panels: Sequence[Panel]) -> Figure:
    """Draw per panel the attention of the marked word, a strip a series, of the lowest seed.

    Shades go by the square root of a weight. Panels without a run are left out. Raises
    ReportingError when the series of a panel were measured on different sentences.
    """
    shown = [panel for panel in panels if panel.drawn]
    if not shown:
        return nothing(panels)
    figure, grid = plt.subplots(
        len(shown), 1, figsize=(WIDTH, 1.8 * len(shown)), layout="constrained", squeeze=False
    )
    for axes, panel in zip(grid[:, 0], shown, strict=True):
        words = _sentence(panel)
        (word,) = _array(panel.drawn[0], "word")
        first = min(max(word - WORDS // 2, 0), max(len(words) - WORDS, 0))
        weights = np.array([_array(series, "own") for series in panel.drawn], dtype=float)
        part = slice(first, first + WORDS)
        image = axes.imshow(np.sqrt(weights[:, part]), cmap=SHADES, vmin=0, vmax=1, aspect="auto")
        axes.set_xticks(range(len(words[part])), words[part], rotation=90, fontsize=SMALL)
        axes.get_xticklabels()[word - first].set_fontweight("bold")
        axes.set_yticks(range(len(weights)), [series.label for series in panel.drawn])
        axes.tick_params(length=0)
        cut = f", {WORDS} of {len(words)} tokens" if len(words) > WORDS else ""
        axes.set_title(f"{panel.label} ({lowest(panel.drawn)}){cut}")
    bar = figure.colorbar(image, ax=grid, pad=0.02)
    ticks = (0, 0.05, 0.25, 1)
    bar.set_ticks(np.sqrt(ticks).tolist(), labels=[f"{tick:g}" for tick in ticks])
    bar.set_label("weight")
    footnote(figure, panels, "In bold: the word that attends.")
    return figure


def _sentence(panel: Panel) -> tuple[str, ...]:
    sentences = {tuple(_array(series, "source")) for series in panel.drawn}
    if len(sentences) > 1:
        raise ReportingError(f"panel {panel.label}: the runs were measured on other sentences.")
    return sentences.pop()


def _array(series: Series, name: str) -> list[Any]:
    return list(*series.arrays(f"{EVALUATOR}.{name}"))
