"""Tables and the figure of roles: a list a rank, shares of classes, what is refused."""

from typing import Any

import numpy as np
import pytest

from tests.reporting.synthetic import lines, one_run
from workflow.definitions.paper import Paper
from workflow.reporting.figures.panels import Panel, Series
from workflow.reporting.figures.role_classes import draw
from workflow.reporting.measures import EvaluatedRun, Measures
from workflow.reporting.tables.long_form import build


def panel(label: str, runs: list[EvaluatedRun]) -> Panel:
    return Panel(label, [Series("onehot", label, {}, runs, None)])


def measured(**arrays: Any) -> EvaluatedRun:
    found = {"class": ["noun", "mark"], "class_counts": [[3, 1, 0], [0, 2, 0]]}
    run = one_run("a", 0, {}, found | {"role": [["7"], ["2"], ["0"]]} | arrays)
    return EvaluatedRun(run.path, run.identity, run.run, {"roles": run.evaluators["probe"]})


def test_a_cell_is_the_share_of_its_class() -> None:
    figure = draw([panel("De-En", [measured()]), panel("En-Fi", [])])
    (image,) = figure.axes[0].images
    assert np.allclose(image.get_array(), [[0.75, 0.25], [0, 1]])
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["7", "2"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["noun", "mark"]
    assert "Not run: En-Fi." in figure.texts[0].get_text()


def test_black_is_the_highest_share_of_all_maps() -> None:
    even = measured(class_counts=[[1, 3, 1], [2, 2, 1]])
    twice = measured(class_counts=[[2, 1, 1], [1, 2, 1]])
    figure = draw([panel("De-En", [even]), panel("En-Fi", [twice])])
    first, second, bar = figure.axes
    for axes in (first, second):
        assert axes.images[0].get_clim() == (0, pytest.approx(0.6))
    assert bar.get_ylabel() == "share of the class\n(black: the highest, 0.60)"


def test_a_figure_without_a_run_says_so() -> None:
    figure = draw([panel("De-En", [])])
    assert [text.get_text() for text in figure.axes[0].texts] == ["not run"]


def test_a_row_shows_the_list_of_its_rank() -> None:
    paper = Paper("role_interaction")
    run = measured(
        word=["1", "2"],
        frequency=[["30"], ["4"]],
        typical=[["der", "die"], ["."]],
        examples=[["'›der‹ mann'"], ["'en ›.‹'"]],
        classes=[["noun 75 %"], ["–"]],
    )
    labels = {"experiment": "role_translation", "variant": "multi30k_onehot", "seed": 0}
    run = EvaluatedRun(run.path, run.identity, labels, run.evaluators)
    found = build(paper, "roles_multi30k", "demo", Measures([run]))
    cells = {(r["row"], r["column"]): r["mean"] for r in lines(found)}
    assert cells["1", "Typical tokens"] == "der, die"
    assert cells["2", "Freq"] == "4"
    assert cells["2", "Examples"] == "'en ›.‹'"
    assert cells["1", "Classes"] == "noun 75 %"
