"""The best attention of a word: the paper's counterexample, a generic solver, and its bound."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from model.layers.packing import Layout
from model.probes.learning.optimal_attention import best_attention, optimal_attention
from model.probes.measure import Subject
from tests.model.architectures.translation.test_recurrent_translator import make
from tests.model.probes.learning.test_word_values import CPU, WORDS, a_corpus, attending, every_word


def test_the_papers_counterexample():
    """No weight at the position with the highest beta (snell2021 eq. 25, 26, 27)."""
    gamma = torch.tensor([[0.0, 0, 0], [0, -10, 5], [0, 5, -10]], dtype=torch.float64)
    beta = gamma.softmax(-1)[:, 0]
    assert beta.tolist() == pytest.approx([1 / 3, math.exp(-5), math.exp(-5)], rel=0.01)
    found = best_attention(
        gamma[None], torch.zeros(1, 1, 3).double(), torch.tensor([[0]]),
        torch.ones(1, 3, dtype=torch.bool), tolerance=1e-9,
    )  # fmt: skip
    assert found.weights[0, 0].tolist() == pytest.approx([0, 0.5, 0.5], abs=1e-6)
    assert float(found.loss) == pytest.approx(math.log(1 + 2 * math.exp(-2.5)), abs=1e-8)


def by_scipy(gamma, gamma_s, word):
    """The loss at the optimum, by sequential quadratic programming from several starts."""

    def loss(alpha):
        logits = alpha @ gamma + gamma_s
        return np.logaddexp.reduce(logits) - logits[word]

    positions = len(gamma)
    starts = [np.full(positions, 1 / positions), *np.eye(positions)]
    found = [
        minimize(
            loss, start, method="SLSQP", bounds=[(0, 1)] * positions,
            constraints={"type": "eq", "fun": lambda alpha: alpha.sum() - 1},
            options={"ftol": 1e-12, "maxiter": 500},
        )
        for start in starts
    ]  # fmt: skip
    return min(one.fun for one in found)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(2, 7), st.floats(0.1, 6))
def test_the_optimum_is_that_of_a_generic_solver(seed, positions, words, spread):
    """Its loss is that of snell2021 eq. 23, 29."""
    random = np.random.default_rng(seed)
    gamma = spread * random.standard_normal((2, positions, words))
    gamma_s = random.standard_normal((2, 3, words))
    targets = random.integers(0, words, (2, 3))
    lengths = [positions, random.integers(1, positions + 1)]
    real = np.arange(positions) < np.array(lengths)[:, None]
    tensors = (torch.from_numpy(x) for x in (gamma, gamma_s, targets, real))
    found = best_attention(*tensors, tolerance=1e-7, steps=20_000)
    assert float(found.gap.max()) <= 1e-7
    assert torch.allclose(found.weights.sum(-1), torch.ones(2, 3).double())
    for b in range(2):
        assert not found.weights[b, :, lengths[b] :].any()
        for t in range(3):
            expected = by_scipy(gamma[b, : lengths[b]], gamma_s[b, t], targets[b, t])
            # The gap bounds what the loss is above the optimum.
            assert float(found.loss[b, t]) <= expected + 1e-6
            assert float(found.loss[b, t]) >= expected - 1e-6


def test_single_precision_reaches_the_stated_tolerance():
    torch.manual_seed(0)
    gamma, gamma_s = 3 * torch.randn(4, 12, 500), torch.randn(4, 9, 500)
    targets = torch.randint(0, 500, (4, 9))
    real = torch.arange(12) < torch.tensor([12, 7, 1, 10])[:, None]
    found = best_attention(gamma, gamma_s, targets, real)
    assert float(found.gap.max()) <= 1e-3


@torch.no_grad()
def test_each_word_is_solved_for_itself(tmp_path):
    """A loop over output words, nothing padded: the best position, and how many have more beta.

    gamma and gamma_s are those of snell2021 eq. 30.
    """
    corpus, pairs = a_corpus(tmp_path)
    model = make(WORDS, convex=True)
    # So that some words are best explained by positions that do not translate to them alone.
    for parameter in (model.output_weight, *model.encoder.parameters()):
        parameter *= 10
    found = optimal_attention(Subject(model, corpus, CPU, 0), "dev", 9).scalars
    weight, bias = model.output_weight[:, :-1], model.output_weight[:, -1]
    hits, alone, random, best = [], [], [], []
    for _, source, before, word in every_word(pairs, range(len(pairs))):
        encoding = model.encode(
            torch.tensor([source]), Layout(torch.ones(1, len(source), dtype=torch.bool))
        )
        gamma = encoding.memories[0][1] @ weight.t()
        gamma_s = (model.decode(torch.tensor([before]), encoding) @ weight.t() + bias)[:, -1:]
        one = best_attention(
            gamma, gamma_s, torch.tensor([[word]]), torch.ones(1, gamma.shape[1], dtype=torch.bool)
        )
        at = int(one.weights[0, 0].argmax())
        places = range(len(source) + 1)
        beta = [float(attending(model, source, before, place)[word]) for place in places]
        hits.append(20 * sum(b > beta[at] for b in beta) < len(beta))
        without = (gamma[0] + bias).softmax(dim=-1)[:, word].tolist()
        alone.append(20 * sum(b > without[at] for b in without) < len(without))
        random.append(np.mean([20 * sum(b > a for b in beta) < len(beta) for a in beta]))
        best.append(float(one.loss))
    assert 0 < np.mean(hits) < 1
    assert found["agreement"]["value"] == pytest.approx(100 * np.mean(hits))
    assert found["agreement_alone"]["value"] == pytest.approx(100 * np.mean(alone))
    assert alone != hits
    assert found["agreement_chance"]["value"] == pytest.approx(100 * np.mean(random))
    assert found["best_loss"]["value"] == pytest.approx(np.mean(best), abs=1e-3)
    assert found["loss"]["n"] == len(hits)


def test_it_is_never_worse_than_the_models_own(tmp_path):
    corpus, _ = a_corpus(tmp_path)
    found = optimal_attention(Subject(make(WORDS, convex=True), corpus, CPU, 0), "dev", 9)
    values = {name: entry["value"] for name, entry in found.scalars.items()}
    assert values["best_loss"] <= values["loss"] + values["gap"]
    assert 0 <= values["gap"] <= 1e-3
    assert 0 < values["agreement_chance"] < 100 and 0 <= values["agreement"] <= 100


def test_a_model_that_is_not_convex_is_refused(tmp_path):
    corpus, _ = a_corpus(tmp_path)
    with pytest.raises(ValueError, match=r"known of a convex model alone: set model\.convex"):
        optimal_attention(Subject(make(WORDS), corpus, CPU, 0))
