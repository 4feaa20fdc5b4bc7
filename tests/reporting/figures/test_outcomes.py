"""Fractions of runs against a setting: places, intervals by scipy, and what is refused."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import stats

from tests.reporting.synthetic import one_run
from workflow.reporting.figures.outcomes import draw
from workflow.reporting.figures.panels import Panel, Series
from workflow.reporting.figures.style import LOOKS

MEASURES = {"probe.learned": "learned", "probe.failed": "failed"}


def at(x: float | None, learned: int, failed: int, n: int = 20) -> Series:
    """Return a setting at which so many of `n` runs learned, and so many of the others failed."""
    name, reached = f"std {x}", [(1, 0)] * learned + [(0, 1)] * failed + [(0, 0)] * n
    behind = [
        one_run(name, seed, {"learned": one, "failed": other})
        for seed, (one, other) in enumerate(reached[:n])
    ]
    return Series(name, name, {} if x is None else {"x": x}, behind, None)


def drawn(
    panels: Sequence[Panel], measures: Mapping[str, str] = MEASURES, axis: str = "std"
) -> Figure:
    return draw(panels, axis, measures, "fraction of runs")


SWEEP = Panel("same 40", [at(1, 2, 15), at(0.1, 20, 0), at(0.5, 14, 6)])


def bars(axes: Axes, line: int) -> np.ndarray:
    """Return (low, high) of the bars of one line, from left to right."""
    (segments,) = axes.containers[line].lines[2]
    return np.array([segment[:, 1] for segment in segments.get_segments()])


def test_fractions_stand_at_their_settings_with_exact_bars() -> None:
    (axes,) = drawn([SWEEP]).axes
    for line, counts in enumerate([[20, 14, 2], [0, 6, 15]]):
        (points, *_) = axes.containers[line].lines
        assert list(points.get_ydata()) == pytest.approx([count / 20 for count in counts])
        assert points.get_xdata() == pytest.approx([0.1, 0.5, 1], rel=0.1)
        assert points.get_color() == LOOKS[line]["color"]
        found = [stats.binomtest(count, 20).proportion_ci(method="exact") for count in counts]
        assert bars(axes, line) == pytest.approx(np.array([[it.low, it.high] for it in found]))
    left, right = (group.lines[0].get_xdata() for group in axes.containers)
    assert (np.asarray(left) < right).all() and axes.get_xscale() == "log"
    assert [label.get_text().split("\n")[0] for label in axes.get_xticklabels()] == [
        "0.1",
        "0.5",
        "1",
    ]
    assert axes.get_ylim() == pytest.approx((0, 1), abs=0.05)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("std", "fraction of runs")


def test_below_a_setting_stands_its_number_of_runs() -> None:
    gone = Series("std 2", "std 2", {"x": 2.0}, [], None)
    (axes,) = drawn([Panel("p", [at(1, 2, 15), at(0.1, 3, 0, n=5), gone])]).axes
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == ["0.1\nn = 5", "1\nn = 20", "2\nn = 0"]


def test_one_measure_stands_exactly_at_its_setting() -> None:
    (axes,) = drawn([SWEEP], {"probe.learned": "learned"}).axes
    assert axes.containers[0].lines[0].get_xdata() == pytest.approx([0.1, 0.5, 1])


def test_what_was_not_run_is_left_out_and_named() -> None:
    gone = Series("std 2", "std 2", {"x": 2.0}, [], None)
    panels = [Panel("same 40", [*SWEEP.series, gone]), Panel("mixture", [])]
    figure = drawn(panels)
    first, second = figure.axes
    assert len(first.containers[0].lines[0].get_xdata()) == 3
    assert [text.get_text() for text in second.texts] == ["not run"]
    assert figure.texts[0].get_text() == (
        "Fractions of n runs with their exact 95 % intervals; seeds 0 to 19. "
        "Not run: same 40, std 2; mixture."
    )
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["learned", "failed"]
