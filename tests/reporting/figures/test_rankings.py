"""Methods ranked by one measure beside others: their order, marks, axes, and what was not run."""

import pytest

from tests.reporting.synthetic import one_run
from workflow.reporting.figures.panels import Panel, Series
from workflow.reporting.figures.rankings import draw

METHODS = {"one": "the first", "two": "the second", "three": "the third"}
MEASURES = [
    {"measure": "probe.true_{method}", "label": "truth", "axis": "tau"},
    {"measure": "probe.drop_{method}", "label": "drop", "axis": "fall", "less": True},
]
TRUE = {"one": [0.2, 0.4], "two": [0.5, 0.7], "three": [0.0, 0.2], "random": [0.0, 0.1]}
DROP = {"one": [0.3, 0.1], "two": [0.6, None], "three": [None, None], "random": [0.9, 0.7]}


def panel(seeds: int = 2) -> Panel:
    behind = [
        one_run("soft", seed, {
            f"{name}_{method}": values[seed]
            for name, of in (("true", TRUE), ("drop", DROP)) for method, values in of.items()
        })
        for seed in range(seeds)
    ]  # fmt: skip
    return Panel("soft", [Series("soft", "soft", {}, behind, None)])


def test_methods_stand_in_the_order_of_the_first_measure() -> None:
    left, right = draw([panel()], METHODS, MEASURES, "random").axes
    names = [tick.get_text() for tick in left.get_yticklabels()]
    assert names == ["the second", "the first", "the third"]
    (mean,) = [line for line in left.lines if line.get_label() == "mean"]
    assert list(mean.get_xdata()) == pytest.approx([0.6, 0.3, 0.1])
    assert list(mean.get_ydata()) == [0, 1, 2]
    (mean,) = [line for line in right.lines if line.get_label() == "mean"]
    assert list(mean.get_xdata()) == pytest.approx([0.6, 0.2])
    assert list(mean.get_ydata()) == [0, 1]
    assert left.get_ylim() == (2.5, -0.5)


def test_better_is_to_the_right_and_chance_a_line() -> None:
    left, right = draw([panel()], METHODS, MEASURES, "random").axes
    assert left.get_xlim()[0] < left.get_xlim()[1]
    assert right.get_xlim()[0] > right.get_xlim()[1]
    for axes, chance in ((left, 0.05), (right, 0.8)):
        (line,) = [line for line in axes.lines if line.get_linestyle() == "--"]
        assert list(line.get_xdata()) == pytest.approx([chance] * 2)
    (less,) = draw([panel()], METHODS, MEASURES[1:], "random").axes
    assert [tick.get_text() for tick in less.get_yticklabels()] == ["the first", "the second"]


@pytest.mark.parametrize(("seeds", "says"), [
    (2, "Large marks: means; small marks: seeds 0, 1. Dashed: by chance."),
    (1, "Marks: seed 0. Dashed: by chance."),
])  # fmt: skip
def test_it_says_what_the_marks_are(seeds: int, says: str) -> None:
    figure = draw([panel(seeds)], METHODS, MEASURES, "random")
    assert says in " ".join(text.get_text() for text in figure.texts)


def test_a_panel_without_runs_is_left_out() -> None:
    empty = Panel("other", [Series("other", "other", {}, [], None)])
    figure = draw([panel(), empty], METHODS, MEASURES, "random")
    assert [axes.get_title() for axes in figure.axes] == ["\ntruth", "\ndrop"]
    assert [text.get_text() for axes in figure.axes for text in axes.texts] == ["soft"]
    assert "other" in " ".join(text.get_text() for text in figure.texts)
    (axes,) = draw([empty], METHODS, MEASURES, "random").axes
    assert axes.texts[0].get_text() == "not run"
