"""A, A-hat and xi: slow loops over the definitions, ties, single words and constant values."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.probes.learning.agreement import Xi, agreement, chance, xi

VALUE = st.integers(-2, 2).map(float) | st.floats(-3, 3)


@st.composite
def rows(draw, most=45):
    """Two lists of values of one length, often with ties."""
    length = draw(st.integers(1, most))
    values = st.lists(VALUE, min_size=length, max_size=length)
    return draw(values), draw(values)


def slow(u: list[float], v: list[float]) -> bool:
    best = max(range(len(u)), key=lambda j: (u[j], -j))
    return sum(x > v[best] for x in v) < 0.05 * len(v)


def padded(lists: list[list[float]]) -> np.ndarray:
    """Lists side by side, with what must not count behind them."""
    width = max(map(len, lists))
    return np.array([[*row, *[99.0] * (width - len(row))] for row in lists])


@settings(max_examples=100)
@given(st.lists(rows(), min_size=1, max_size=4))
def test_agreement_one_row_at_a_time(pairs):
    us, vs = zip(*pairs, strict=True)
    found = agreement(padded(us), padded(vs), np.array([len(u) for u in us]))
    assert found.tolist() == [slow(u, v) for u, v in pairs]


@given(st.lists(rows(), min_size=1, max_size=4))
def test_chance_is_the_share_of_positions_that_agree(pairs):
    vs = [v for _, v in pairs]
    found = chance(padded(vs), np.array([len(v) for v in vs]))
    shares = [
        sum(slow([float(j == at) for j in range(len(v))], v) for at in range(len(v))) / len(v)
        for v in vs
    ]
    assert found.tolist() == pytest.approx(shares)


@given(rows(most=5))
def test_chance_is_the_mean_over_all_shuffles(pair):
    u, v = pair
    shuffled = list(itertools.permutations(v))
    lengths = np.full(len(shuffled), len(v))
    found = agreement(np.array([u] * len(shuffled)), np.array(shuffled), lengths)
    assert chance(np.array([v]), np.array([len(v)]))[0] == pytest.approx(found.mean())


def test_single_words_and_constant_values_agree():
    assert agreement(np.array([[3.0]]), np.array([[-1.0]]), np.array([1])).all()
    assert chance(np.array([[-1.0]]), np.array([1])) == 1
    u, constant = np.arange(30.0)[None], np.zeros((1, 30))
    assert agreement(u, constant, np.array([30])).all()
    assert chance(constant, np.array([30])) == 1
    # A constant u points to the first position.
    assert not agreement(constant, u, np.array([30])).any()
    assert agreement(constant, -u, np.array([30])).all()


def test_twenty_and_twenty_one_positions_by_hand():
    for length, hits in ((20, 1), (21, 2), (40, 2), (41, 3)):
        v = np.tile(np.arange(length, dtype=float), (length, 1))
        found = agreement(np.eye(length), v, np.full(length, length))
        assert found.tolist() == [False] * (length - hits) + [True] * hits


@pytest.mark.parametrize(
    ("reached", "value", "exceeded"),
    [(0.05, 20.0, True), (0.1, 20.0, True), (0.3, 40.0, True), (0.35, 40.0, True),
     (0.5, 40.0, False), (0.9, 40.0, False)],
)  # fmt: skip
def test_xi_by_hand(reached, value, exceeded):
    along, performance = [0.02, 0.3, 0.2, 0.5, 0.4], [10.0, 20.0, 25.0, 40.0, 30.0]
    assert xi(reached, along, performance) == Xi(value, exceeded)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0, 1), st.floats(0, 1))
def test_xi_never_falls_where_performance_never_does(along, one, two):
    performance = list(map(float, range(len(along))))
    low, high = sorted((one, two))
    assert xi(low, along, performance).value <= xi(high, along, performance).value
