"""Intervals of proportions: against the score equation, scipy, and the numbers that are printed."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from workflow.reporting.statistics.intervals import apart, exact, newcombe, wilson

Z = 1.959963984540054
Counts = tuple[int, int]
counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def score_bounds(successes: int, n: int) -> tuple[float, float]:
    """Return by bisection where |share - p| = z sqrt(p (1 - p) / n), below and above the share."""
    share = successes / n

    def outside(p: float) -> bool:
        return abs(share - p) > Z * math.sqrt(p * (1 - p) / n)

    found = []
    for end in (0.0, 1.0):
        inner, outer = share, end
        for _ in range(60):
            middle = (inner + outer) / 2
            inner, outer = (inner, middle) if outside(middle) else (middle, outer)
        found.append(inner)
    return found[0], found[1]


@given(counts)
def test_wilson_solves_the_score_equation(count: Counts) -> None:
    assert wilson(*count) == pytest.approx(score_bounds(*count), abs=1e-9)


@given(counts)
def test_wilson_is_scipys_and_holds_the_share(count: Counts) -> None:
    successes, n = count
    expected = stats.binomtest(successes, n).proportion_ci(0.95, method="wilson")
    low, high = wilson(successes, n)
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert 0.0 <= low <= successes / n <= high <= 1.0


@given(counts)
def test_the_exact_interval_is_scipys(count: Counts) -> None:
    successes, n = count
    expected = stats.binomtest(successes, n).proportion_ci(0.95, method="exact")
    assert exact(successes, n) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_the_exact_interval_by_hand() -> None:
    """All of n: p^n = .025 at the lower end; all of 4 can't tell from one half, 6 of 6 can."""
    assert exact(4, 4) == pytest.approx((0.025 ** (1 / 4), 1.0))
    assert exact(0, 2) == pytest.approx((0.0, 1 - 0.025**0.5))
    assert exact(4, 4)[0] < 0.5 < exact(6, 6)[0]


@pytest.mark.parametrize("n", range(2, 9))
@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 0.8])
def test_the_exact_interval_misses_in_at_most_one_of_twenty_samples(n: int, share: float) -> None:
    """Over all samples, weighted with how often each comes: no simulation is needed."""
    missed = sum(
        stats.binom.pmf(successes, n, share)
        for successes in range(n + 1)
        if not exact(successes, n)[0] <= share <= exact(successes, n)[1]
    )
    assert missed <= 0.05


def test_wilson_has_exact_ends_where_all_runs_agree() -> None:
    assert wilson(0, 20)[0] == 0.0 and wilson(20, 20)[1] == 1.0
    # one run: z^2 / (1 + z^2) = 3.8415 / 4.8415
    assert wilson(0, 1) == pytest.approx((0.0, 0.79346), abs=1e-5)
    # 2 of 20, by hand: (.1 + z^2/40 -+ z sqrt(.1 * .9 / 20 + z^2 / 1600)) / (1 + z^2 / 20)
    assert wilson(2, 20) == pytest.approx((0.02787, 0.30103), abs=5e-5)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((6, 7), (2, 7), (0.0582, 0.8062)),
        ((5, 56), (0, 29), (-0.0381, 0.1926)),
        ((0, 10), (0, 20), (-0.1611, 0.2775)),
        ((0, 10), (0, 10), (-0.2775, 0.2775)),
        ((10, 10), (0, 20), (0.6791, 1.0)),
        ((10, 10), (0, 10), (0.6075, 1.0)),
    ],
)
def test_newcombe_as_he_prints_it(
    left: Counts, right: Counts, expected: tuple[float, float]
) -> None:
    """Newcombe (1998), table II, method 10."""
    assert newcombe(left, right) == pytest.approx(expected, abs=5.1e-5)


@given(counts, counts)
def test_newcombe_mirrors_and_holds_the_difference(left: Counts, right: Counts) -> None:
    low, high = newcombe(left, right)
    assert newcombe(right, left) == pytest.approx((-high, -low), abs=1e-12)
    assert -1 - 1e-12 <= low <= left[0] / left[1] - right[0] / right[1] <= high <= 1 + 1e-12


@pytest.mark.parametrize(("one", "other"), [([1.0, 2.5, 2.0], [3.0, 5.0]), ([1.0], [3.0, 5.5])])
def test_two_means_are_apart_as_by_students_test(one: list[float], other: list[float]) -> None:
    expected = stats.ttest_ind(one, other).confidence_interval()
    assert apart(one, other) == pytest.approx(expected)
    assert apart(one[:1], other[:1]) is None
