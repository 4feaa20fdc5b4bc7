"""Curves over training: medians and quartiles by hand, what is aligned, and what is refused."""

import statistics
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tests.reporting.synthetic import one_run
from workflow.reporting.figures import curves
from workflow.reporting.figures.panels import Panel, Series
from workflow.reporting.figures.style import MECHANISMS
from workflow.reporting.measures import EvaluatedRun

STEPS = [10, 20, 30]


def run(seed: int, values: Sequence[float | None], steps: Sequence[float] = STEPS) -> EvaluatedRun:
    return one_run("same", seed, arrays={"step": list(steps), "accuracy": list(values)})


def series(behind: Sequence[EvaluatedRun], label: str = "same 40") -> Series:
    return Series(label, "same", {"array": "probe.accuracy"}, behind, None)


def drawn(panels: Sequence[Panel], **options: Any) -> Figure:
    given = {"x": "probe.step", "axis": "updates", "label": "accuracy (%)", **options}
    return curves.draw(panels, **given)


def bold(axes: Axes) -> list[Any]:
    return [line for line in axes.lines if line.get_linewidth() > 1]


def words(figure: Figure) -> str:
    return " ".join(text.get_text() for text in figure.texts)


FIVE = [run(seed, [seed, 10 * seed, 100 - seed]) for seed in range(5)]


def names(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_the_median_and_single_runs_by_hand() -> None:
    figure = drawn([Panel("same", [series(FIVE, "ReLA"), series(FIVE[:1], "softmax")])])
    (axes,) = figure.axes
    middle, single = bold(axes)
    assert list(middle.get_xdata()) == STEPS
    assert list(middle.get_ydata()) == [2, 20, 98] and list(single.get_ydata()) == [0, 0, 100]
    thin = [line for line in axes.lines if line not in (middle, single)]
    assert [list(line.get_ydata()) for line in thin] == [[s, 10 * s, 100 - s] for s in range(5)]
    assert not axes.collections
    assert middle.get_color() == MECHANISMS["ReLA"][0]
    assert names(axes) == ["ReLA", "softmax"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("updates", "accuracy (%)")
    assert words(figure) == "Bold: median over runs; thin: single runs; seeds 0, 1, 2, 3, 4 / 0."


def test_runs_that_end_in_one_of_two_ways_have_no_median() -> None:
    figure = drawn([Panel("same", [series(FIVE)])], median=False)
    (axes,) = figure.axes
    assert len(axes.lines) == 5 and not bold(axes) and not names(axes)
    assert words(figure) == "Lines: single runs; seeds 0, 1, 2, 3, 4."


def test_points_that_double_are_at_equal_distances() -> None:
    runs = [run(0, [1, 2, 3], [40, 80, 160])]
    (axes,) = drawn([Panel("p", [series(runs)])], doubling=True).axes
    names_of = [label.get_text() for label in axes.get_xticklabels()]
    ticks = list(zip(axes.get_xticks(), names_of, strict=True))
    assert ticks == [(40, "40"), (80, "80"), (160, "160")] and axes.get_xscale() == "log"


@given(st.lists(st.lists(st.floats(0, 100), min_size=3, max_size=3), min_size=2, max_size=7))
def test_the_median_is_pythons(values: list[list[float]]) -> None:
    figure = drawn([Panel("p", [series([run(s, one) for s, one in enumerate(values)])])])
    (middle,) = bold(figure.axes[0])
    plt.close(figure)
    expected = [statistics.median(at) for at in zip(*values, strict=True)]
    assert list(middle.get_ydata()) == pytest.approx(expected)


def test_rows_and_columns_of_panels_that_were_not_run_are_left_out() -> None:
    there, absent = [series(FIVE)], [series([])]
    found = [Panel(name, there if name in "fg" else absent) for name in "abcdefghi"]
    figure = drawn(found, columns=3)
    titles = [axes.get_title() for axes in figure.axes]
    written = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert titles == ["d", "f", "g", "i"]
    assert written == [["not run"], ["same 40"], ["same 40"], ["not run"]]
    corners = [axes.get_position().get_points()[0].round(3) for axes in figure.axes]
    assert corners[0][1] == corners[1][1] and corners[0][0] == corners[2][0]
    assert words(figure).endswith("Not run: a; b; c; d; e; h; i.")


def test_runs_are_aligned_at_the_points_that_all_have() -> None:
    short = run(0, [1, 2], [10, 20])
    mixed = run(1, [9, 7, 5], [40, 20, 10])  # in another order
    gap = run(2, [3, 4, None, 5], [10, 20, 30, 40])
    figure = drawn([Panel("p", [series([short, mixed, gap])])])
    (middle,) = bold(figure.axes[0])
    assert list(middle.get_xdata()) == [10, 20]
    assert list(middle.get_ydata()) == [3, 4]
    thin = [line for line in figure.axes[0].lines if line is not middle]
    assert [list(line.get_xdata()) for line in thin] == [[10, 20], [10, 20, 40], [10, 20, 40]]
    assert list(thin[1].get_ydata()) == [5, 7, 9]


def test_what_values_are_held_against_is_a_thin_line() -> None:
    runs = [run(seed, [9, 8, 7]) for seed in range(5)]
    for seed, one in enumerate(runs):
        one.evaluators["probe"]["arrays"]["random"] = [seed, 10 * seed, 5]
    baseline = {"probe.accuracy": "probe.random"}
    figure = drawn([Panel("p", [series(runs)])], baseline=baseline)
    (middle,) = bold(figure.axes[0])
    thin = figure.axes[0].lines[-1]
    assert list(middle.get_ydata()) == [9, 8, 7]
    assert (list(thin.get_xdata()), list(thin.get_ydata())) == (STEPS, [2, 20, 5])
    assert thin.get_color() == middle.get_color() and thin.get_linewidth() < 1
    assert "; dashed: the baseline; seeds 0, 1, 2, 3, 4." in words(figure)
    del runs[1].evaluators["probe"]["arrays"]["random"]
    (axes,) = drawn([Panel("p", [series(runs)])], baseline=baseline).axes
    assert len(axes.lines) == 6


def test_what_has_one_value_a_run_is_a_level_line() -> None:
    runs = [run(seed, [9, 8, 7]) for seed in range(5)]
    for seed, one in enumerate(runs):
        one.evaluators["probe"]["scalars"]["chance"] = {"value": 4 + seed}
    level = {"probe.accuracy": "probe.chance"}
    (axes,) = drawn([Panel("p", [series(runs)])], baseline=level).axes
    assert [list(axis) for axis in axes.lines[-1].get_data()] == [STEPS, [6] * 3]
    for one in runs:
        one.evaluators["probe"]["arrays"]["chance"] = [1, 2, 3]
    (axes,) = drawn([Panel("p", [series(runs)])], baseline=level).axes
    assert list(axes.lines[-1].get_ydata()) == [1, 2, 3]
    del runs[1].evaluators["probe"]["arrays"]["chance"]
    del runs[1].evaluators["probe"]["scalars"]["chance"]
    (axes,) = drawn([Panel("p", [series(runs)])], baseline=level).axes
    assert len(axes.lines) == 6


def test_a_panel_whose_array_no_run_has_counts_as_not_run() -> None:
    other = Series("same 40", "same", {"array": "probe.depth_3"}, FIVE, None)
    figure = drawn([Panel("depth 1", [series(FIVE)]), Panel("depth 3", [other])])
    (axes,) = figure.axes
    assert axes.get_title() == "depth 1" and len(axes.lines) == 6
    assert words(figure).endswith("Not run: depth 3.")


@pytest.mark.parametrize(("last", "beside"), [(100, False), (20, True)])
def test_lines_that_end_together_are_named_in_the_first_panel_of_the_row(
    last: float, beside: bool
) -> None:
    """Where they end apart, names are at their ends, in the last panel."""
    pair = [series([run(0, [0, 50, 100])], "ReLA"), series([run(1, [0, 9, last])], "softmax")]
    left, right = drawn([Panel("one", pair), Panel("two", pair)]).axes
    assert (left.get_legend() is None) == beside and right.get_legend() is None
    assert names(left) == [] and sorted(names(right)) == ["ReLA", "softmax"] * beside
