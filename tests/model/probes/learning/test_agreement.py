"""A, A-hat and xi: slow loops over the definitions, ties, single words and constant values."""

import itertools
import math

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


@settings(max_examples=100, deadline=None)
@given(st.lists(rows(), min_size=1, max_size=4))
def test_agreement_one_row_at_a_time(pairs):
    """snell2021 eq. 7."""
    us, vs = zip(*pairs, strict=True)
    found = agreement(padded(us), padded(vs), np.array([len(u) for u in us]))
    assert found.tolist() == [slow(u, v) for u, v in pairs]


@settings(max_examples=60, deadline=None)
@given(st.lists(rows(), min_size=1, max_size=4))
def test_chance_is_the_share_of_positions_that_agree(pairs):
    vs = [v for _, v in pairs]
    found = chance(padded(vs), np.array([len(v) for v in vs]))
    shares = [
        sum(slow([float(j == at) for j in range(len(v))], v) for at in range(len(v))) / len(v)
        for v in vs
    ]
    assert found.tolist() == pytest.approx(shares)


@settings(max_examples=30, deadline=None)
@given(rows(most=5))
def test_chance_is_the_mean_over_all_shuffles(pair):
    u, v = pair
    shuffled = list(itertools.permutations(v))
    lengths = np.full(len(shuffled), len(v))
    found = agreement(np.array([u] * len(shuffled)), np.array(shuffled), lengths)
    assert chance(np.array([v]), np.array([len(v)]))[0] == pytest.approx(found.mean())


@pytest.mark.parametrize("length", [1, 2, 19, 20, 21, 40, 41, 100])
def test_without_ties_chance_is_that_of_rounding(length):
    v = np.random.default_rng(0).permutation(length)[None].astype(float)
    expected = math.ceil(0.05 * length) / length
    assert chance(v, np.array([length]))[0] == pytest.approx(expected)


@settings(max_examples=60, deadline=None)
@given(rows(), st.randoms())
def test_the_order_of_positions_means_nothing(pair, random):
    u, v = pair
    u = [value + at * 1e-6 for at, value in enumerate(u)]  # one highest position
    order = random.sample(range(len(u)), len(u))
    one, two = np.array([u]), np.array([v])
    lengths = np.array([len(u)])
    assert agreement(one, two, lengths) == agreement(one[:, order], two[:, order], lengths)
    assert chance(two, lengths) == chance(two[:, order], lengths)


@settings(max_examples=30, deadline=None)
@given(rows(), st.integers(0, 3))
def test_only_ranks_count(pair, power):
    u, v = (np.array([values]) for values in pair)
    lengths = np.array([u.shape[1]])
    expected = agreement(u, v, lengths)
    # Powers of two keep ties and order exactly.
    assert agreement(u * 2, v * 2**power, lengths) == expected
    assert agreement(v, v, lengths).all()


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
    """snell2021 eq. 8."""
    along, performance = [0.02, 0.3, 0.2, 0.5, 0.4], [10.0, 20.0, 25.0, 40.0, 30.0]
    assert xi(reached, along, performance) == Xi(value, exceeded)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0, 1), st.floats(0, 1))
def test_xi_never_falls_where_performance_never_does(along, one, two):
    performance = list(map(float, range(len(along))))
    low, high = sorted((one, two))
    assert xi(low, along, performance).value <= xi(high, along, performance).value


def test_checkpoints_without_performance_are_told():
    with pytest.raises(ValueError, match="2 agreements and 1 performances: give one of each"):
        xi(0.5, [0.1, 0.2], [3.0])
    with pytest.raises(ValueError, match="at least one"):
        xi(0.5, [], [])
