"""The figures of translation: what stands where, panels without runs, arrays that are missing."""

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from tests.reporting.synthetic import one_run
from workflow.reporting.figures import attention_bars, heat_maps
from workflow.reporting.figures.panels import Panel, Series
from workflow.reporting.measures import EvaluatedRun

SOURCE, TARGET = ["ein", "hund", "<eos>"], ["a", "dog", "<eos>"]
CROSS = [[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def run_of(evaluator: str, **found: Any) -> EvaluatedRun:
    """Return a run whose measures are those of one evaluator."""
    scalars = {name: {"value": value} for name, value in found.pop("scalars", {}).items()}
    run = one_run("model", found.pop("seed", 0))
    run.evaluators[evaluator] = {"scalars": scalars, "arrays": found}  # type: ignore[index]
    return run


def series(label: str, *behind: EvaluatedRun, **options: Any) -> Series:
    return Series(label, label, options, behind, None)


def texts(figure: Figure) -> str:
    return " ".join(text.get_text() for text in figure.texts)


def maps(**more: Any) -> EvaluatedRun:
    arrays = {"source": SOURCE, "target": TARGET, "word": [1], "own": [0.25, 0.75, 0.0]}
    return run_of("attention_maps", **{**arrays, "cross_bottom": CROSS, **more})


EMPTY = Panel("En-Vi", [series("softmax")])


def test_a_strip_is_the_attention_of_the_marked_word() -> None:
    panel = Panel("De-En", [series("softmax", maps()), series("top-k", maps(own=[0, 1, 0]))])
    figure = attention_bars.draw([EMPTY, panel])
    axes, bar = figure.axes
    assert np.allclose(axes.images[0].get_array(), np.sqrt([[0.25, 0.75, 0], [0, 1, 0]]))
    labels = axes.get_xticklabels()
    assert [label.get_text() for label in labels] == SOURCE
    assert [label.get_fontweight() for label in labels] == ["normal", "bold", "normal"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["softmax", "top-k"]
    assert [label.get_text() for label in bar.get_yticklabels()] == ["0", "0.05", "0.25", "1"]
    assert axes.get_title() == "De-En (seed 0)" and "Not run: En-Vi." in texts(figure)


def test_of_a_long_sentence_the_words_around_the_marked_one_are_drawn() -> None:
    words = [f"w{n}" for n in range(100)]
    long = maps(source=words, word=[70], own=list(np.linspace(0, 1, 100)))
    axes, _ = attention_bars.draw([Panel("De-En", [series("softmax", long)])]).axes
    labels = axes.get_xticklabels()
    assert [label.get_text() for label in labels] == words[50:90]
    assert labels[20].get_fontweight() == "bold"
    assert np.allclose(axes.images[0].get_array(), [np.sqrt(np.linspace(0, 1, 100)[50:90])])
    assert axes.get_title() == "De-En (seed 0), 40 of 100 tokens"


def test_heat_maps_stand_side_by_side() -> None:
    layer = {"array": "cross_bottom"}
    one = series("softmax", maps(), **layer)
    two = series("top-k", maps(cross_bottom=[[1, 0, 0]] * 3), **layer)
    figure = heat_maps.draw([EMPTY, Panel("first", [one, two])])
    left, right, *_ = figure.axes
    assert [axes.get_title() for axes in (left, right)] == ["first: softmax", "first: top-k"]
    assert np.array_equal(left.images[0].get_array(), CROSS)  # type: ignore[arg-type]
    assert [tick.get_text() for tick in left.get_xticklabels()] == SOURCE
    assert [tick.get_text() for tick in left.get_yticklabels()] == TARGET
    assert "Not run: En-Vi." in texts(figure)


def test_a_long_sentence_is_cut_where_its_words_can_be_read() -> None:
    source, target = [f"s{n}" for n in range(50)], [f"t{n}" for n in range(41)]
    weights = np.random.default_rng(0).dirichlet(np.ones(50), 41)
    long = maps(source=source, target=target, cross_bottom=weights.tolist())
    panel = Panel("De-En", [series("softmax", long, array="cross_bottom")])
    axes, bar = heat_maps.draw([panel]).axes
    assert np.array_equal(axes.images[0].get_array(), weights[:20, :20])  # type: ignore[arg-type]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == source[:20]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == target[:20]
    assert axes.get_xlabel() == "source words (the first 20 of 50)"
    assert axes.get_ylabel() == "output words (the first 20 of 41)"
    assert axes.images[0].norm(0.04) == pytest.approx(0.2)
    assert bar.get_ylabel() == "weight (square-root scale)"
