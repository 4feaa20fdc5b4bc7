"""Expectation maximisation by matrix products against slow rounds, and attention against it."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from torch import Tensor

from model.architectures.copying import Copied
from model.batches.corpus import Corpus
from model.probes.learning.ibm_agreement import ibm_agreement
from model.probes.learning.ibm_convergence import converge
from model.probes.learning.ibm_model_1 import count_table, expectation_maximisation, translations
from model.probes.measure import Subject
from tests.model.corpora import CPU, permutations
from tests.model.probes.learning.test_ibm_model_1 import CORPUS, INPUTS, OUTPUTS, likelihood


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


def control(tmp_path, symbols: int) -> Corpus:
    """Sequences of four symbols out of some."""
    return permutations(tmp_path / "c", {"train": 300, "test": 9}, symbols, length=4)


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
