"""Dots on lines: measures of mechanisms, ranks of methods, and differences from softmax."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tests.reporting.synthetic import one_run
from workflow.reporting.figures import dots, mechanisms, rankings
from workflow.reporting.figures.panels import Panel, Series
from workflow.reporting.figures.style import MECHANISMS

METHODS = {"one": "the first", "two": "the second", "three": "the third"}
MEASURES = [
    {"measure": "probe.true_{method}", "label": "truth"},
    {"measure": "probe.drop_{method}", "label": "drop", "less": True},
]
TRUE = {"one": [0.2, 0.4], "two": [0.5, 0.7], "three": [0.0, 0.2]}
DROP = {"one": [0.3, 0.1], "two": [0.6, None], "three": [None, None]}


def series(label: str, values: Sequence[float], name: str = "m", first: int = 0) -> Series:
    runs = [one_run(label, first + seed, {name: value}) for seed, value in enumerate(values)]
    return Series(label, label, {}, runs, None)


def test_runs_and_means_are_on_the_line_of_their_mechanism() -> None:
    softmax = [one_run("softmax", n, {"words": 10 + 2 * n, "places": 30}) for n in range(3)]
    panel = Panel("permutations", [
        Series("softmax", "softmax", {}, softmax, None), series("Gumbel", [50], "words"),
    ])  # fmt: skip
    gone = Panel("control", [Series("softmax", "softmax", {}, [], None)])
    figure = dots.draw([panel, gone], "updates", {"probe.words": "known", "probe.places": "found"})
    left, right = figure.axes
    large = [line for line in left.lines if line.get_markersize() == 7]
    assert [(*line.get_xdata(), *line.get_ydata()) for line in large] == [(12, 0), (30, 0), (50, 1)]
    colors = [MECHANISMS[name][0] for name in ("softmax", "softmax", "Gumbel")]
    assert [line.get_color() for line in large] == colors
    assert list(left.lines[0].get_xdata()) == [10, 12, 14]
    assert [text.get_text() for text in right.texts] == ["not run"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["known", "found"]


def test_methods_have_their_ranks_in_one_order() -> None:
    behind = [
        one_run("soft", seed, {
            f"{name}_{method}": values[seed]
            for name, of in (("true", TRUE), ("drop", DROP)) for method, values in of.items()
        })
        for seed in range(2)
    ]  # fmt: skip
    soft = Panel("soft", [Series("soft", "soft", {}, behind, None)])
    gone = Panel("other", [Series("other", "other", {}, [], None)])
    figure = rankings.draw([soft, gone], METHODS, MEASURES)
    (axes,) = figure.axes
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert names == ["the first", "the second", "the third"]
    marks = {line.get_label(): line for line in axes.lines if line.get_linestyle() == "None"}
    assert list(marks["truth"].get_xdata()) == [1, 2, 3]
    assert list(marks["truth"].get_ydata()) == [1, 0, 2]
    assert list(marks["drop"].get_xdata()) == [1, 2]
    assert list(marks["drop"].get_ydata()) == [0, 1]
    assert axes.get_xlim() == (0.5, 3.5)
    assert "Not run: other." in " ".join(text.get_text() for text in figure.texts)


def test_differences_are_over_seeds_of_both_with_students_interval() -> None:
    before, after = [1.0, 2.0, 4.0, 8.0], [3.0, 3.5, 6.5]
    panel = Panel("p", [series("softmax", before), series("ReLA", after, first=1)])
    steps = np.subtract(after, before[1:])
    low, high = stats.t.interval(0.95, 2, steps.mean(), stats.sem(steps))
    mean, ends = mechanisms.differences(panel, "softmax", {"measure": "probe.m"})["ReLA"]
    assert (mean, ends) == (pytest.approx(steps.mean()), pytest.approx((low, high)))
    turned = mechanisms.differences(panel, "softmax", {"measure": "probe.m", "less": True})
    assert turned["ReLA"][1] == pytest.approx((-high, -low))


def test_a_difference_is_over_pairs_of_one_device() -> None:
    """Pairs of a GPU and of a CPU are not averaged, nor is a pair of both."""
    devices = {"softmax": ["cpu", "H200", "H200", "cpu"], "ReLA": ["cpu", "H200", "H200", "H200"]}
    values = {"softmax": [1.0, 1.0, 1.0, 1.0], "ReLA": [9.0, 2.0, 4.0, 99.0]}
    made = []
    for name, its in devices.items():
        found = series(name, values[name])
        runs = [
            replace(run, provenance={**run.provenance, "device": device})
            for run, device in zip(found.behind, its, strict=True)
        ]
        made.append(replace(found, behind=runs))
    mean, ends = mechanisms.differences(Panel("p", made), "softmax", {"measure": "probe.m"})["ReLA"]
    assert mean == 2
    assert ends == pytest.approx(stats.t.interval(0.95, 1, 2, stats.sem([1, 3])))


def test_a_mark_is_full_where_the_interval_is_without_zero() -> None:
    names = {"decided": [5, 5.1, 5.2], "open": [9, 1, -9], "alone": [7]}
    found = [series("softmax", [1, 1.2, 1.1]), *(series(name, names[name]) for name in names)]
    gone = Series("gone", "gone", {}, [], None)
    panels = [
        Panel("a", [*found, gone]),
        Panel("b", [series("open", [1, 2]), replace(gone, label="alone")]),
    ]
    options = {name: {"measure": "probe.m", "axis": "%"} for name in "ab"}
    figure = mechanisms.draw(panels, "softmax", options)
    left, right = figure.axes
    said = " ".join(text.get_text() for text in figure.texts).replace("\n", " ")
    assert "no line: one pair" in said and "too close" not in said
    assert "gone" not in said and "Not run: b, alone." in said
    low, high = left.get_xlim()
    points = [line for line in left.lines if len(line.get_xdata()) == 1]
    arrows = [(it.get_marker(), *it.get_xdata()) for it in points if it.get_marker() in "<>"]
    assert arrows == [("<", low), (">", high)]  # of "open" alone
    points = [line for line in points if line.get_marker() not in "<>"]
    marks = {line.get_label(): line.get_fillstyle() for line in points}
    assert marks == {"decided": "full", "open": "none", "alone": "none"}
    lines = [line for line in left.lines if list(line.get_ydata()) in ([0, 0], [1, 1], [2, 2])]
    assert len(lines) == 2
    assert len(right.lines) == 1
    assert low == -high
    tiny = Panel("a", [series("softmax", [0, 0]), series("big", [90, 91]), series("tiny", [1, 1])])
    figure = mechanisms.draw([tiny], "softmax", options)
    said = " ".join(text.get_text() for text in figure.texts).replace("\n", " ")
    assert "too close to 0 to be seen beside it: tiny +1 (a)." in said
    same = Panel("a", [series("softmax", [1, 2]), series("ReLA", [1, 2])])
    (axes,) = mechanisms.draw([same], "softmax", options).axes
    assert axes.get_xlim() == (-1, 1)
