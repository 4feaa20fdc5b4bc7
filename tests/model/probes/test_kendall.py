"""Kendall's tau-b against scipy, and pair counting by a loop."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from model.probes.kendall import _inversions, tau_b


def padded(pairs: list[tuple[list[float], list[float]]]) -> tuple[np.ndarray, ...]:
    """Rows of several lengths side by side, with other numbers behind them, and their lengths."""
    lengths = np.array([len(x) for x, _ in pairs])
    rows = np.random.default_rng(0).normal(size=(2, len(pairs), max(lengths, default=0) + 2))
    for n, pair in enumerate(pairs):
        for side in range(2):
            rows[side, n, : lengths[n]] = pair[side]
    return rows[0], rows[1], lengths


def same(found: float, expected: float) -> bool:
    return math.isnan(expected) if math.isnan(found) else found == pytest.approx(expected, abs=1e-9)


scores = st.one_of(
    st.integers(-2, 2).map(float),
    st.floats(-1e6, 1e6),
    st.sampled_from([math.inf, -math.inf, 0.0, -0.0]),
)
rankings = st.lists(st.tuples(scores, scores), max_size=40).map(
    lambda pairs: ([x for x, _ in pairs], [y for _, y in pairs])
)


@settings(max_examples=200)
@given(st.lists(rankings, min_size=1, max_size=6))
def test_tau_is_scipys(pairs):
    found = tau_b(*padded(pairs))
    for tau, (x, y) in zip(found, pairs, strict=True):
        assert same(tau, float(kendalltau(x, y).statistic) if len(x) > 1 else math.nan)


def test_tau_is_scipys_in_long_single_precision_rankings():
    random = np.random.default_rng(3)
    x = random.normal(size=(20, 700)).astype(np.float32)
    y = (x + 2 * random.normal(size=x.shape)).astype(np.float32).round(1)
    lengths = random.integers(500, 701, 20)
    expected = [kendalltau(x[n, :k], y[n, :k]).statistic for n, k in enumerate(lengths)]
    assert np.allclose(tau_b(x, y, lengths), expected, atol=1e-12)
    assert 0.1 < np.mean(expected) < 0.5


def test_a_row_with_what_is_no_number_has_no_tau():
    assert math.isnan(tau_b(*padded([([1, math.nan, 3], [1, 2, 3])]))[0])


def test_what_stands_behind_a_row_is_not_read():
    x, y, lengths = padded([([3, 1, 2], [1, 2, 3]), ([1, 2, 3, 4, 5], [2, 1, 4, 3, 5])])
    expected = tau_b(x, y, lengths)
    x[0, 3:], y[0, 3:] = np.nan, -np.inf
    assert tau_b(x, y, lengths).tolist() == expected.tolist()


@settings(max_examples=100)
@given(st.lists(st.integers(0, 9), max_size=33), st.lists(st.integers(0, 99), max_size=33))
def test_inversions_are_those_of_the_loop(first, second):
    """Two rows of the same length."""
    length = min(len(first), len(second))
    rows = np.array([first[:length], second[:length]]).reshape(2, length)
    for row, found in zip(rows, _inversions(rows), strict=True):
        assert found == sum(row[i] > row[j] for j in range(length) for i in range(j))
