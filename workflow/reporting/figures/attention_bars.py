"""The attention of one word to all words of its sentence, as bars side by side (001, Figure 1)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from workflow.reporting.figures.panels import Panel, Series, not_run
from workflow.reporting.figures.style import footnote, looks, plt, say
from workflow.reporting.files import ReportingError

EVALUATOR = "attention_maps"


def draw(panels: Sequence[Panel]) -> Figure:
    """Draw per panel the attention of the marked word, one colour a series, of the lowest seed.

    Panels without a run are left out.  Raises ReportingError when the series of a panel were
    measured on different sentences.
    """
    shown = [panel for panel in panels if panel.drawn]
    size = (7.4, 2.6 * max(len(shown), 1))
    figure, grid = plt.subplots(
        max(len(shown), 1), 1, figsize=size, layout="constrained", squeeze=False
    )
    if not shown:
        say(grid[0][0], "not run")
    for axes, panel in zip(grid[:, 0], shown, strict=False):
        sentences = {tuple(_array(series, "source")) for series in panel.drawn}
        if len(sentences) > 1:
            raise ReportingError(f"panel {panel.label}: the runs were measured on other sentences.")
        (words,) = sentences
        (word,) = _array(panel.drawn[0], "word")
        places, width = np.arange(len(words)), 0.8 / len(panel.drawn)
        for number, (look, series) in enumerate(looks(panel.drawn, f"panel {panel.label}")):
            shift = (number - (len(panel.drawn) - 1) / 2) * width
            heights = _array(series, "own")
            axes.bar(places + shift, heights, width, color=look["color"], label=series.label)
        axes.set_xticks(places, words, rotation=60, ha="right", fontsize=7)
        axes.get_xticklabels()[word].set_fontweight("bold")
        axes.set_ylabel("weight")
        axes.set_title(panel.label)
        axes.legend(fontsize=7)
    seeds = sorted({series.behind[0].seed for panel in shown for series in panel.drawn})
    about = f"The word that attends is set in bold; seed {', '.join(map(str, seeds))}."
    footnote(figure, f"{about if shown else ''} {not_run(panels)}".strip())
    return figure


def _array(series: Series, name: str) -> list[Any]:
    measure = series.behind[0]
    found = measure.array(f"{EVALUATOR}.{name}")
    if found is None:
        raise ReportingError(
            f"{measure.path}: there is no array {EVALUATOR}.{name}; measure the run again."
        )
    return list(found)
