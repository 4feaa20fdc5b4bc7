"""Bars of counted runs: shares, counts, and what has no value."""

import pytest

from tests.reporting.synthetic import one_run
from workflow.reporting.figures.outcomes import draw
from workflow.reporting.figures.panels import Panel, Series
from workflow.runtime.errors import ReportingError

MEASURES = {"probe.learned": "learned", "probe.failed": "failed"}


def at(label: str, learned: int, n: int) -> Series:
    """Return a setting at which so many of `n` runs learned, and the others failed."""
    reached = [{"learned": seed < learned, "failed": seed >= learned} for seed in range(n)]
    runs = [one_run(label, seed, {name: int(it) for name, it in one.items()})
            for seed, one in enumerate(reached)]  # fmt: skip
    return Series(label, label, {}, runs, None)


def test_bars_have_the_shares_of_runs_and_their_counts() -> None:
    gone = Series("std 4", "std 4", {}, [], None)
    figure = draw([Panel("p", [at("std 1", 3, 4), at("std 2", 0, 5), gone])], "std", MEASURES)
    (axes,) = figure.axes
    learned, failed = axes.containers
    assert [bar.get_width() for bar in learned] == [75, 0]
    assert [bar.get_width() for bar in failed] == [25, 100]
    assert [bar.get_x() for bar in failed] == [75, 0]
    assert [text.get_text() for text in axes.texts] == ["3", "", "1", "5"]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["std 1 (4 runs)", "std 2 (5 runs)"]
    assert "Not run: std 4." in " ".join(text.get_text() for text in figure.texts)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["learned", "failed"]


def test_one_outcome_alone_has_its_exact_interval() -> None:
    """1 of 2 runs, by hand: (1 - p)^2 = .975 and p^2 = .975."""
    figure = draw([Panel("p", [at("std 1", 1, 2)])], "std", {"probe.learned": "learned"})
    (line,) = figure.axes[0].lines
    ends = [100 * (1 - 0.975**0.5), 100 * 0.975**0.5]
    assert list(line.get_xdata()) == pytest.approx(ends)
    assert "Clopper-Pearson" in " ".join(text.get_text() for text in figure.texts)
    both = draw([Panel("p", [at("std 1", 1, 2)])], "std", MEASURES)
    assert not both.axes[0].lines


def test_an_outcome_is_zero_or_one() -> None:
    half = Series("s", "s", {}, [one_run("s", 0, {"learned": 0.5, "failed": 0})], None)
    with pytest.raises(ReportingError, match=r"probe\.learned is 0\.5"):
        draw([Panel("p", [half])], "std", MEASURES)
