"""IBM Model 1 and expectation maximisation against slow loops, and attention against them."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from model.architectures.copying import Copied
from model.batches.corpus import Corpus
from model.probes.learning.ibm_agreement import ibm_agreement
from model.probes.learning.ibm_convergence import converge
from model.probes.learning.ibm_model_1 import (
    alignment,
    count_table,
    expectation_maximisation,
    lexical,
    translations,
)
from model.probes.measure import Subject
from tests.model.corpora import CPU, MARKS, permutations

INPUTS, OUTPUTS = 4, 3
SENTENCE = st.lists(st.integers(0, INPUTS - 1), min_size=1, max_size=5)
TRANSLATION = st.lists(st.integers(0, OUTPUTS - 1), max_size=5)
CORPUS = st.lists(st.tuples(SENTENCE, TRANSLATION), min_size=1, max_size=5)


def slow_counts(pairs):
    table = [[0.0] * OUTPUTS for _ in range(INPUTS)]
    for x, y in pairs:
        for i in x:
            for o in y:
                table[i][o] += 1 / len(x)
    return table


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


@given(CORPUS.filter(lambda pairs: any(y for _, y in pairs)))
def test_the_rounds_are_those_of_one_word_at_a_time(pairs):
    words = sum(len(y) for _, y in pairs)
    for most in (1, 2, 5):
        found = converge(pairs, INPUTS, OUTPUTS, tolerance=-math.inf, most=most)
        slow = expectation_maximisation(pairs, INPUTS, OUTPUTS, most)
        assert np.allclose(found.trans, slow)
        assert np.allclose(found.counted, translations(count_table(pairs, INPUTS, OUTPUTS)))
        assert len(found.log_likelihood) == most
        assert found.log_likelihood[-1] == pytest.approx(likelihood(slow, pairs) / words)


@given(CORPUS.filter(lambda pairs: any(y for _, y in pairs)))
def test_the_likelihood_never_falls_and_the_last_round_gains_nothing(pairs):
    found = converge(pairs, INPUTS, OUTPUTS, tolerance=1e-5)
    gains = np.diff(found.log_likelihood)
    assert (gains > -1e-12).all()
    assert len(found.log_likelihood) < 1000
    assert gains[-1] < 1e-5
    assert (gains[:-1] >= 1e-5).all()


def test_it_finds_the_dictionary():
    pairs = [([0, 1], [0, 1]), ([0, 2], [0, 2])]
    found = converge(pairs, 3, 3, tolerance=1e-9)
    assert np.allclose(found.trans, np.eye(3), atol=1e-3)
    # Of two equally likely words, log 1/2 each.
    assert found.log_likelihood[-1] == pytest.approx(math.log(1 / 2), abs=1e-3)


@pytest.mark.parametrize(
    ("pairs", "says"),
    [([([0], [1]), ([], [0])], "an input without words"), ([([0], [])], "no output has a word")],
)
def test_pairs_that_say_nothing_are_told(pairs, says):
    with pytest.raises(ValueError, match=says):
        converge(pairs, INPUTS, OUTPUTS)


class Looking(torch.nn.Module):
    """Attends to the symbol so many places further on, around the end."""

    def __init__(self, shift: int) -> None:
        super().__init__()
        self.shift = shift

    def forward(self, source: Tensor, before: Tensor) -> Copied:
        weights = torch.eye(source.shape[1])
        weights[:-1, :-1] = weights[:-1, :-1].roll(self.shift, dims=1)
        return Copied(weights, weights.expand(len(source), -1, -1))


def control(tmp_path, symbols: int, marks=MARKS) -> Corpus:
    """Sequences of four symbols out of some."""
    return permutations(tmp_path / "c", {"train": 300, "test": 9}, symbols, 4, marks)


def test_symbols_are_what_stands_behind_the_marks(tmp_path):
    """The released code's vocabulary has two marks, ours may have four."""
    few, many = (
        ibm_agreement(Subject(Looking(0), control(tmp_path / str(len(marks)), 8, marks), CPU, 0))
        for marks in (("<end>", "<bos>"), MARKS)
    )
    assert few == many


def test_attention_on_the_right_symbol_agrees_where_co_occurrence_tells_it(tmp_path):
    corpus = control(tmp_path, 8)
    model = Looking(0)
    found = ibm_agreement(Subject(model, corpus, CPU, 0), tokens=11)
    value = {name: one["value"] for name, one in found.scalars.items()}
    assert value["converged_share"] > 0.99
    assert 0.25 < value["counted_share"] < 0.6
    assert value["uniform_share"] == 0.25
    assert (value["agreement"], value["chance"]) == (1, 0.25)
    assert value["rounds"] == len(found.arrays["log_likelihood"]) > 2
    first = ibm_agreement(Subject(model, corpus, CPU, 0), read=100).arrays["log_likelihood"]
    x = corpus.split("train").tokens.reshape(300, 5)[:100, :4] - 4
    assert first == converge(list(zip(x, x, strict=True)), 8, 8).log_likelihood
    elsewhere = ibm_agreement(Subject(Looking(1), corpus, CPU, 0)).scalars
    assert elsewhere["converged_share"]["value"] < 0.01
    assert elsewhere["agreement"]["value"] == 0


def test_permutations_of_the_same_symbols_tell_nothing(tmp_path):
    corpus = control(tmp_path, 4)
    found = ibm_agreement(Subject(Looking(0), corpus, CPU, 0)).scalars
    for name in ("counted_share", "converged_share"):
        assert found[name]["value"] == pytest.approx(0.25)
    assert found["rounds"]["value"] == 2
    # Every position is among the highest, whoever looks.
    assert found["agreement"]["value"] == found["chance"]["value"]
