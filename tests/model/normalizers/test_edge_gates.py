"""Softmax attention with a gate on every edge, against loops over edges written from the papers."""

import math

import pytest
import torch
from torch import Tensor

from model.layers.attention import causal_mask
from model.normalizers import edge_gates
from model.normalizers.edge_gates import EdgeGates, logistic_noise
from tests.model.compare import close

BIAS = 0.3


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def scores_of(*shape: int) -> Tensor:
    torch.manual_seed(3)
    return torch.randn(*shape, dtype=torch.float64) * 2 + causal_mask(
        shape[-1], torch.device("cpu")
    )


def by_edges(scores: Tensor, noise: Tensor) -> Tensor:
    """Weights of scores (B, H, T, T), edge by edge."""
    weights = torch.zeros_like(scores)
    for at in torch.cartesian_prod(*map(torch.arange, scores.shape)).tolist():
        b, h, i, j = at
        if j <= i and scores[b, h, i, j] + BIAS + noise[b, h, i, j] > 0:
            total = sum(math.exp(scores[b, h, i, n]) for n in range(i + 1))
            weights[b, h, i, j] = math.exp(scores[b, h, i, j]) / total
    return weights


def test_weights_are_those_of_the_edges_whose_scores_open_the_gate():
    scores, gates = scores_of(2, 3, 5, 5), EdgeGates(BIAS).eval()
    weights = gates(scores)
    close(weights, by_edges(scores, torch.zeros_like(scores)))
    assert gates.openness is None
    assert (weights == 0).sum() > 2 * 3 * 10 and (weights.sum(-1) < 0.9).any()


def test_in_training_gates_are_samples(monkeypatch):
    scores, gates = scores_of(2, 3, 5, 5), EdgeGates(BIAS)
    noise = logistic_noise(scores)
    monkeypatch.setattr(edge_gates, "logistic_noise", lambda like: noise)
    close(gates(scores).detach(), by_edges(scores, noise))
    open_ = [[sigmoid(s + BIAS) for s in row] for row in scores[0, 0].tolist()]
    close(gates.openness[0, 0], torch.tensor(open_, dtype=torch.float64))


def test_the_gradient_is_that_of_the_relaxed_gate(monkeypatch):
    """Of softmax with the gate fixed, plus that of the gate's sigmoid with the softmax fixed."""
    scores, gates = scores_of(1, 1, 4, 4), EdgeGates(BIAS)
    noise, by_weight = logistic_noise(scores), torch.randn(4, 4, dtype=torch.float64)
    monkeypatch.setattr(edge_gates, "logistic_noise", lambda like: noise)
    leaf = scores.clone().requires_grad_()
    (gates(leaf)[0, 0] * by_weight).sum().backward()
    slow = torch.zeros(4, 4, dtype=torch.float64)
    for i in range(4):
        seen = range(i + 1)
        e = [math.exp(scores[0, 0, i, j]) for j in seen]
        p = [one / sum(e) for one in e]
        logit = [float(scores[0, 0, i, j] + BIAS + noise[0, 0, i, j]) for j in seen]
        at = [float(by_weight[i, j]) for j in seen]
        for j in seen:
            through = sum(at[n] * p[n] * ((n == j) - p[j]) for n in seen if logit[n] > 0)
            relaxed = at[j] * p[j] * sigmoid(logit[j]) * (1 - sigmoid(logit[j]))
            slow[i, j] = through + relaxed
    close(leaf.grad[0, 0], slow)


def test_noise_opens_a_gate_as_often_as_its_sigmoid_says():
    torch.manual_seed(0)
    noise = logistic_noise(torch.empty(200_000))
    assert noise.isfinite().all()
    for logit in (-2.0, 0.0, 1.0):
        share = (noise + logit > 0).double().mean()
        assert float(share) == pytest.approx(sigmoid(logit), abs=0.005)
