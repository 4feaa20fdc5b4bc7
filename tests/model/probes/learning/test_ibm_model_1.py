"""IBM Model 1 against slow loops over the equations, and expectation maximisation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.probes.learning.ibm_model_1 import (
    alignment,
    count_table,
    expectation_maximisation,
    lexical,
    translations,
)

INPUTS, OUTPUTS = 4, 3
SENTENCE = st.lists(st.integers(0, INPUTS - 1), min_size=1, max_size=5)
TRANSLATION = st.lists(st.integers(0, OUTPUTS - 1), max_size=5)
CORPUS = st.lists(st.tuples(SENTENCE, TRANSLATION), min_size=1, max_size=5)


def slow_counts(pairs, inputs=INPUTS, outputs=OUTPUTS):
    table = [[0.0] * outputs for _ in range(inputs)]
    for x, y in pairs:
        for i in x:
            for o in y:
                table[i][o] += 1 / len(x)
    return table


@settings(max_examples=60, deadline=None)
@given(CORPUS)
def test_the_equations_one_word_at_a_time(pairs):
    """snell2021 eq. 13, 14, 15, 16."""
    counts = count_table(pairs, INPUTS, OUTPUTS)
    slow = slow_counts(pairs)
    assert np.allclose(counts, slow)
    trans = translations(counts)
    for i in range(INPUTS):
        total = sum(slow[i])
        assert np.allclose(trans[i], [slow[i][o] / total if total else 0 for o in range(OUTPUTS)])
    for x, y in pairs:
        beta, alpha = lexical(trans, x, y), alignment(trans, x, y)
        assert beta.shape == alpha.shape == (len(y), len(x))
        for t, o in enumerate(y):
            row = [trans[i][o] for i in x]
            assert np.allclose(beta[t], row)
            assert np.allclose(alpha[t], np.array(row) / sum(row))


@settings(max_examples=40, deadline=None)
@given(CORPUS, st.randoms())
def test_the_order_of_words_and_pairs_means_nothing(pairs, random):
    shuffled = [(random.sample(x, len(x)), random.sample(y, len(y))) for x, y in pairs]
    random.shuffle(shuffled)
    one, two = (count_table(some, INPUTS, OUTPUTS) for some in (pairs, shuffled))
    assert np.allclose(one, two)


def test_by_hand():
    """snell2021 eq. 13, 14, 15, 16."""
    # "das haus" - "the house", "das buch" - "the book"
    pairs = [([0, 1], [0, 1]), ([0, 2], [0, 2])]
    assert count_table(pairs, 3, 3).tolist() == [[1, 0.5, 0.5], [0.5, 0.5, 0], [0.5, 0, 0.5]]
    trans = translations(count_table(pairs, 3, 3))
    assert trans.tolist() == [[0.5, 0.25, 0.25], [0.5, 0.5, 0], [0.5, 0, 0.5]]
    assert lexical(trans, [0, 1], [0, 1]).tolist() == [[0.5, 0.5], [0.25, 0.5]]
    assert alignment(trans, [0, 1], [0, 1]).tolist() == [[0.5, 0.5], [1 / 3, 2 / 3]]


def test_a_word_that_was_never_seen():
    trans = translations(count_table([([0], [0])], 2, 2))
    assert trans.tolist() == [[1, 0], [0, 0]]
    assert alignment(trans, [0, 1, 1], [1]).tolist() == [[1 / 3] * 3]
    assert alignment(trans, [0, 1, 1], [0]).tolist() == [[1, 0, 0]]


def test_an_input_without_words_is_told():
    with pytest.raises(ValueError, match="an input without words translates to nothing"):
        count_table([([0], [1]), ([], [0])], INPUTS, OUTPUTS)
    with pytest.raises(ValueError, match="rounds is 0"):
        expectation_maximisation([([0], [0])], 1, 1, rounds=0)


def likelihood(trans, pairs):
    return sum(math.log(np.mean([trans[i][o] for i in x])) for x, y in pairs for o in y)


def slow_round(trans, pairs):
    counts = np.zeros((INPUTS, OUTPUTS))
    for x, y in pairs:
        for o in y:
            total = sum(trans[i][o] for i in x)
            for i in x:
                counts[i][o] += trans[i][o] / total
    sums = counts.sum(axis=1, keepdims=True)
    return np.divide(counts, sums, out=np.zeros_like(counts), where=sums > 0)


@settings(max_examples=40, deadline=None)
@given(CORPUS)
def test_rounds_of_expectation_maximisation_one_word_at_a_time(pairs):
    expected = translations(count_table(pairs, INPUTS, OUTPUTS))
    before = -math.inf
    for rounds in (1, 2, 3):
        found = expectation_maximisation(pairs, INPUTS, OUTPUTS, rounds)
        assert np.allclose(found, expected)
        assert likelihood(found, pairs) >= before - 1e-9
        before = likelihood(found, pairs)
        expected = slow_round(expected, pairs)


def test_expectation_maximisation_finds_the_dictionary():
    pairs = [([0, 1], [0, 1]), ([0, 2], [0, 2])]
    assert np.allclose(expectation_maximisation(pairs, 3, 3, 60), np.eye(3), atol=0.02)
