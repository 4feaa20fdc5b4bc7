"""The attention of one word to all words of its sentence, as bars side by side
(zhao2019 figure 1)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from workflow.reporting.figures.panels import Panel, Series, lowest, series_of
from workflow.reporting.figures.style import footnote, looks, nothing, plt
from workflow.runtime.errors import ReportingError

EVALUATOR = "attention_maps"
PITCH = 0.12
"""Inches that a word takes at least, so that the words of a long sentence can be read."""


def draw(panels: Sequence[Panel]) -> Figure:
    """Draw per panel the attention of the marked word, one colour a series, of the lowest seed.

    Panels without a run are left out.  Raises ReportingError when the series of a panel were
    measured on different sentences.
    """
    shown = [panel for panel in panels if panel.drawn]
    if not shown:
        return nothing(panels)
    sentences = [_sentence(panel) for panel in shown]
    size = (max(7.4, 0.8 + PITCH * max(map(len, sentences))), 2.6 * len(shown))
    figure, grid = plt.subplots(len(shown), 1, figsize=size, layout="constrained", squeeze=False)
    for axes, panel, words in zip(grid[:, 0], shown, sentences, strict=True):
        (word,) = _array(panel.drawn[0], "word")
        places, width = np.arange(len(words)), 0.8 / len(panel.drawn)
        for number, (look, series) in enumerate(looks(panel.drawn, f"panel {panel.label}")):
            shift = (number - (len(panel.drawn) - 1) / 2) * width
            heights = _array(series, "own")
            axes.bar(places + shift, heights, width, color=look["color"], label=series.label)
        axes.set_xticks(places, words, rotation=90, fontsize=7)
        axes.set_xlim(-0.6, len(words) - 0.4)
        axes.get_xticklabels()[word].set_fontweight("bold")
        axes.set_ylabel("weight")
        axes.set_title(panel.label)
        axes.legend(fontsize=7)
    footnote(figure, panels, f"The word that attends is set in bold; {lowest(series_of(shown))}.")
    return figure


def _sentence(panel: Panel) -> tuple[str, ...]:
    """Return the words of the sentence on which all series of a panel were measured."""
    sentences = {tuple(_array(series, "source")) for series in panel.drawn}
    if len(sentences) > 1:
        raise ReportingError(f"panel {panel.label}: the runs were measured on other sentences.")
    return sentences.pop()


def _array(series: Series, name: str) -> list[Any]:
    return list(*series.arrays(f"{EVALUATOR}.{name}"))
