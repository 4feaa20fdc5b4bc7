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
from workflow.definitions.paper import Paper
from workflow.reporting.figures import curves
from workflow.reporting.figures.panels import Panel, Series
from workflow.reporting.figures.style import LOOKS, looks_by_label
from workflow.reporting.measures import EvaluatedRun
from workflow.runtime.errors import ReportingError

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


def legend(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


FIVE = [run(seed, [seed, 10 * seed, 100 - seed]) for seed in range(5)]


def test_median_quartiles_and_single_runs_by_hand() -> None:
    figure = drawn([Panel("same", [series(FIVE)])])
    (axes,) = figure.axes
    (middle,) = bold(axes)
    assert list(middle.get_xdata()) == STEPS
    assert list(middle.get_ydata()) == [2, 20, 98]
    thin = [line for line in axes.lines if line is not middle]
    assert [list(line.get_ydata()) for line in thin] == [[s, 10 * s, 100 - s] for s in range(5)]
    (band,) = axes.collections
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.tolist()}
    assert {(10, 1), (10, 3), (20, 10), (20, 30), (30, 97), (30, 99)} == corners
    assert middle.get_color() == LOOKS[0]["color"]
    assert legend(axes) == ["same 40 (5 seeds)"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("updates", "accuracy (%)")
    assert words(figure) == (
        "Bold lines: median over runs; bands: quartiles (25 to 75 %); thin lines: single runs; "
        "seeds 0, 1, 2, 3, 4."
    )


@given(st.lists(st.lists(st.floats(0, 100), min_size=3, max_size=3), min_size=2, max_size=7))
def test_the_median_is_pythons(values: list[list[float]]) -> None:
    figure = drawn([Panel("p", [series([run(s, one) for s, one in enumerate(values)])])])
    (middle,) = bold(figure.axes[0])
    plt.close(figure)
    expected = [statistics.median(at) for at in zip(*values, strict=True)]
    assert list(middle.get_ydata()) == pytest.approx(expected)


BOLD, BANDS = "Bold lines: median over runs", "bands: quartiles (25 to 75 %)"
THIN, ALL = "thin lines: single runs", "seeds 0, 1, 2, 3, 4."


@pytest.mark.parametrize(
    ("behind", "runs", "lines", "bands", "says"),
    [
        ([FIVE], False, 1, 1, f"{BOLD}; {BANDS}; {ALL}"),
        ([FIVE[:4]], True, 5, 0, f"{BOLD}; {THIN}; seeds 0, 1, 2, 3."),
        ([FIVE[:4]], False, 5, 0, f"{BOLD}; {THIN}; seeds 0, 1, 2, 3."),
        ([FIVE, FIVE[:2]], False, 4, 1, f"{BOLD}; {BANDS}; {THIN}; seeds"),
        ([FIVE[3:4]], True, 1, 0, "Lines: single runs of seed 3."),
    ],
)
def test_a_few_runs_are_drawn_in_the_place_of_a_band(
    behind: list[list[EvaluatedRun]], runs: bool, lines: int, bands: int, says: str
) -> None:
    shown = [series(one, str(number)) for number, one in enumerate(behind)]
    figure = drawn([Panel("p", shown)], runs=runs)
    (axes,) = figure.axes
    assert (len(axes.lines), len(axes.collections)) == (lines, bands)
    assert words(figure).startswith(says)


def test_rows_and_columns_of_panels_that_were_not_run_are_left_out() -> None:
    there, absent = [series(FIVE)], [series([])]
    found = [Panel(name, there if name in "fg" else absent) for name in "abcdefghi"]
    figure = drawn(found, columns=3)
    titles = [axes.get_title() for axes in figure.axes]
    written = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert titles == ["d", "f", "g", "i"]
    assert written == [["not run"], [], [], ["not run"]]
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
    assert "median over runs, where all runs of a line were measured;" in words(figure)


def test_panels_of_the_same_variants_share_their_width_and_have_their_own_label() -> None:
    late = series([run(0, [0.1, 0.2], [5, 90])], "late")
    other = Series("other", "other", {"array": "probe.accuracy"}, FIVE, None)
    panels = [Panel("a", [series(FIVE)]), Panel("b", [late]), Panel("c", [other])]
    figure = drawn(panels, label={"a": "accuracy (%)", "b": "share", "c": "other"}, columns=3)
    first, second, third = figure.axes
    assert first.get_xlim() == second.get_xlim()
    low, high = first.get_xlim()
    assert low < 5 and high > 90
    assert (first.get_ylabel(), second.get_ylabel()) == ("accuracy (%)", "share")
    low, high = third.get_xlim()
    assert 5 < low < 10 and 30 < high < 35


def test_ends_of_the_axis_hide_nothing() -> None:
    for low, high, expected in ((0, 100, (0, 100)), (30, 60, (0, 100)), (-50, 200, (-50, 200))):
        figure = drawn([Panel("same", [series(FIVE)])], low=low, high=high)
        bottom, top = figure.axes[0].get_ylim()
        room = 0.04 * (expected[1] - expected[0])
        assert (bottom, top) == pytest.approx((expected[0] - room, expected[1] + room))


def test_a_series_that_was_not_run_keeps_its_look_free() -> None:
    figure = drawn([Panel("p", [series([], "other"), series(FIVE)])])
    (middle,) = bold(figure.axes[0])
    assert middle.get_color() == LOOKS[1]["color"]
    assert words(figure).endswith("Not run: other.")


def test_a_label_looks_the_same_in_all_panels() -> None:
    names = [["softmax", "top-k"], ["softmax", "Gumbel"], ["Gumbel", "top-k"]]
    panels = [
        Panel(str(at), [series(FIVE, name) for name in each]) for at, each in enumerate(names)
    ]
    found = {
        (line.get_label(), line.get_color(), line.get_marker())
        for axes in drawn(panels, columns=3).axes
        for line in bold(axes)
    }
    assert found == {
        (f"{name} (5 seeds)", look["color"], look["marker"])
        for name, look in zip(["softmax", "top-k", "Gumbel"], LOOKS, strict=False)
    }
    eight = [Panel(str(at), [series(FIVE, str(at))]) for at in range(len(LOOKS) + 1)]
    with pytest.raises(ReportingError, match="series have 8 labels, and there are 7 looks"):
        drawn(eight)


@pytest.mark.parametrize(
    ("figure", "blue", "red", "green"),
    [
        ("figure_2", "control", "same symbols", "mixture, 2 unused outputs"),
        ("figure_2_multihead", "one good", "all bad", "random"),
    ],
)
def test_figure_2_of_004_has_the_papers_colours(
    figure: str, blue: str, red: str, green: str
) -> None:
    panels = Paper("attention_learning").definition("figures", figure)["panels"]
    looks = looks_by_label(series["label"] for panel in panels for series in panel["series"])
    assert looks == dict(zip((blue, red, green), LOOKS, strict=False))


def test_what_values_are_held_against_is_a_thin_line() -> None:
    runs = [run(seed, [9, 8, 7]) for seed in range(5)]
    for seed, one in enumerate(runs):
        one.evaluators["probe"]["arrays"]["random"] = [seed, 10 * seed, 5]
    baseline = {"probe.accuracy": "probe.random"}
    figure = drawn([Panel("p", [series(runs)])], runs=False, baseline=baseline)
    middle, thin = figure.axes[0].lines
    assert list(middle.get_ydata()) == [9, 8, 7]
    assert (list(thin.get_xdata()), list(thin.get_ydata())) == (STEPS, [2, 20, 5])
    assert thin.get_color() == middle.get_color() and thin.get_linewidth() < 1
    assert "; thin dashed lines: medians of the baseline; seeds 0, 1, 2, 3, 4." in words(figure)
    del runs[1].evaluators["probe"]["arrays"]["random"]
    (axes,) = drawn([Panel("p", [series(runs)])], runs=False, baseline=baseline).axes
    assert len(axes.lines) == 1


def test_what_has_one_value_a_run_is_a_level_line() -> None:
    runs = [run(seed, [9, 8, 7]) for seed in range(5)]
    for seed, one in enumerate(runs):
        one.evaluators["probe"]["scalars"]["chance"] = {"value": 4 + seed}
    level = {"probe.accuracy": "probe.chance"}
    (axes,) = drawn([Panel("p", [series(runs)])], runs=False, baseline=level).axes
    assert [list(axes.lines[1].get_xdata()), list(axes.lines[1].get_ydata())] == [
        STEPS,
        [6] * 3,
    ]
    for one in runs:
        one.evaluators["probe"]["arrays"]["chance"] = [1, 2, 3]
    (axes,) = drawn([Panel("p", [series(runs)])], runs=False, baseline=level).axes
    assert list(axes.lines[1].get_ydata()) == [1, 2, 3]
    del runs[1].evaluators["probe"]["arrays"]["chance"]
    del runs[1].evaluators["probe"]["scalars"]["chance"]
    (axes,) = drawn([Panel("p", [series(runs)])], runs=False, baseline=level).axes
    assert len(axes.lines) == 1


def test_panels_of_a_column_with_the_same_arrays_have_one_height() -> None:
    low, high = [run(0, [1, 2, 3])], [run(0, [50, 60, 70])]
    measured = one_run("same", 0, arrays={"step": [10, 20], "loss": [80.0, 90.0]})
    other = Series("loss", "same", {"array": "probe.loss"}, [measured], None)
    panels = [
        *(Panel("a", [series(low)]), Panel("b", [series(low)])),
        *(Panel("c", [series(high)]), Panel("d", [other])),
    ]
    a, b, c, d = (axes.get_ylim() for axes in drawn(panels).axes)
    assert a == c and a[0] < 1 and a[1] > 70
    assert b[1] < 4 and d[0] > 70


def test_a_panel_whose_array_no_run_has_counts_as_not_run() -> None:
    other = Series("same 40", "same", {"array": "probe.depth_3"}, FIVE, None)
    figure = drawn([Panel("depth 1", [series(FIVE)]), Panel("depth 3", [other])])
    (axes,) = figure.axes
    assert axes.get_title() == "depth 1" and len(axes.lines) == 6
    assert words(figure).endswith("Not run: depth 3.")
