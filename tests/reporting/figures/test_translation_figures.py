"""The figures of translation: what stands where, panels without runs, arrays that are missing."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from tests.reporting.synthetic import one_run
from workflow.definitions.paper import Paper
from workflow.reporting.figures import attention_bars, embedding_maps, heat_maps, settings
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


def k_panel(values: Sequence[Sequence[float]]) -> Panel:
    found = [
        series(
            name,
            *(
                run_of("dev_scores", seed=seed, scalars={"bleu": value})
                for seed, value in enumerate(each)
            ),
        )
        for name, each in zip(("4", "8", "inf"), values, strict=True)
    ]
    return Panel("De-En", found)


def test_means_stand_at_their_settings_in_order() -> None:
    figure = settings.draw(
        [EMPTY, k_panel([[30, 31], [], [33]])], "k", "dev_scores.bleu", "BLEU", 5
    )
    (axes,) = figure.axes
    mean, points = axes.lines
    assert [list(mean.get_xdata()), list(mean.get_ydata())] == [[0, 1], [30.5, 33]]
    assert [list(points.get_xdata()), list(points.get_ydata())] == [[0, 0, 1], [30, 31, 33]]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["4", "inf"]
    assert axes.get_title() == "De-En"
    assert "Large marks: means; small marks: seeds 0, 1 / 0." in texts(figure)
    assert "Not run: En-Vi; De-En, 8." in texts(figure)


@pytest.mark.parametrize(
    ("values", "line"), [([[30], [], [33]], "None"), ([[30], [31], [33]], "-")]
)
def test_two_settings_are_no_curve(values: Sequence[Sequence[float]], line: str) -> None:
    figure = settings.draw([k_panel(values)], "k", "dev_scores.bleu", "BLEU", 5)
    mean, _ = figure.axes[0].lines
    assert (mean.get_linestyle(), mean.get_marker()) == (line, "o")
    assert "Marks: single runs of seed 0." in texts(figure)


@pytest.mark.parametrize(("last", "span"), [(31, 5), (50, 26)])
def test_small_differences_look_small(last: float, span: float) -> None:
    panel = k_panel([[30], [], [last]])
    (axes,) = settings.draw([panel], "k", "dev_scores.bleu", "BLEU", 5).axes
    low, high = axes.get_ylim()
    assert high - low == pytest.approx(span)
    assert low + high == pytest.approx(30 + last)


def test_bars_are_the_attention_of_the_marked_word() -> None:
    panel = Panel("De-En", [series("softmax", maps()), series("top-k", maps(own=[0, 1, 0]))])
    figure = attention_bars.draw([EMPTY, panel])
    (axes,) = figure.axes
    heights = [[bar.get_height() for bar in bars] for bars in axes.containers]  # type: ignore[attr-defined]
    assert heights == [[0.25, 0.75, 0.0], [0, 1, 0]]
    left, right = ([bar.get_x() for bar in bars] for bars in axes.containers)  # type: ignore[attr-defined]
    assert np.allclose(np.array(right) - left, 0.4)
    labels = axes.get_xticklabels()
    assert [label.get_text() for label in labels] == SOURCE
    assert [label.get_fontweight() for label in labels] == ["normal", "bold", "normal"]
    assert "Not run: En-Vi." in texts(figure)


def test_heat_maps_stand_side_by_side() -> None:
    layer = {"array": "cross_bottom"}
    one, two = (
        series("softmax", maps(), **layer),
        series("top-k", maps(cross_bottom=[[1, 0, 0]] * 3), **layer),
    )
    figure = heat_maps.draw([EMPTY, Panel("De-En, first layer", [one, two])])
    left, right, *_ = figure.axes
    assert [axes.get_title() for axes in (left, right)] == [
        "De-En, first layer: softmax",
        "De-En, first layer: top-k",
    ]
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
    assert np.array_equal(axes.images[0].get_array(), weights[:40, :40])  # type: ignore[arg-type]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == source[:40]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == target[:40]
    assert axes.get_xlabel() == "source words (the first 40 of 50)"
    assert axes.get_ylabel() == "output words (the first 40 of 41)"
    assert axes.images[0].norm(0.04) == pytest.approx(0.2)
    assert bar.get_ylabel() == "weight (square-root scale)"


def test_embeddings_are_coloured_by_tag() -> None:
    found = run_of(
        "embedding_map",
        tag=["NN", "JJ", "NN", "XX"],
        controller_x=[0, 1, 2, 3],
        controller_y=[4, 5, 6, 7],
        scalars={"controller_purity": 0.625, "chance": 0.25},
    )
    panel = Panel("controller", [series("controller", found, array="controller")])
    figure = embedding_maps.draw([panel, EMPTY], ["NN", "VBG", "JJ"])
    (axes,) = figure.axes
    points = [np.asarray(one.get_offsets()).tolist() for one in axes.collections]
    assert points == [[[0, 4], [2, 6]], [[1, 5]]]
    assert axes.get_title() == "controller\npurity 0.62 (chance 0.25)"
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["NN", "JJ"]


def test_the_caption_says_what_the_tags_of_the_legend_are() -> None:
    figure = Paper("discrete_transformer").figures["figures"]["figure_6_2"]
    said = dict(re.findall(r"\b([A-Z]{2,3}) ([a-z][^,.]+)", figure["caption"]))
    assert set(figure["options"]["legend"]) <= set(said)


@pytest.mark.parametrize(
    ("paper", "name"),
    [("explicit_sparse", f"figure_{n}") for n in (1, 3, 4)]
    + [("discrete_transformer", "figure_6_2")],
)
def test_the_papers_figures_name_arrays_that_are_drawn(paper: str, name: str) -> None:
    definition = Paper(paper).figures["figures"][name]
    arrays = {one.get("array") for panel in definition["panels"] for one in panel["series"]}
    assert arrays <= {None, "cross_bottom", "cross_top", "model", "controller"}
