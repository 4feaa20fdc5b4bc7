"""Threshold relative attention against a loop, and by hand."""

import math

import pytest
import torch

from model.layers.attention import causal_mask
from model.normalizers.threshold_relative import ThresholdRelative

CPU = torch.device("cpu")


def test_weights_are_those_of_a_loop():
    """Of kept keys, as far away as there are kept keys between; a query may have none."""
    torch.manual_seed(2)
    module = ThresholdRelative(8, 2).double().requires_grad_(False)
    x = torch.randn(2, 6, 8).double()
    scores = torch.randn(2, 2, 6, 6).double() + causal_mask(6, CPU)
    scores[0, 0, 4] = -scores[0, 0, 4].abs()
    found = module(module.before(scores, x, x))
    for b, h, i in torch.cartesian_prod(*map(torch.arange, (2, 2, 6))).tolist():
        logit = float((module.distance.weight[h] * x[b, i]).sum() + module.distance.bias[h])
        kept = [j for j in range(i + 1) if scores[b, h, i, j] > 0]
        fades = 1 / (1 + math.exp(-logit))
        terms = {
            j: math.exp(scores[b, h, i, j]) * fades ** (len(kept) - nearer)
            for nearer, j in enumerate(kept)
        }
        expected = [terms.get(j, 0.0) / (sum(terms.values()) or 1) for j in range(6)]
        assert found[b, h, i].tolist() == pytest.approx(expected, abs=1e-12)
    assert found[0, 0, 4].tolist() == [0] * 6


def test_gradients_agree_with_finite_differences():
    """In scores, states and what is learned, also beside a query without a key."""
    torch.manual_seed(3)
    module = ThresholdRelative(4, 1).double()
    scores, x = torch.randn(1, 1, 4, 4).double(), torch.randn(1, 4, 4).double()
    scores[0, 0, 1] = -scores[0, 0, 1].abs()
    inputs = (scores.requires_grad_(), x.requires_grad_(), *module.parameters())
    assert torch.autograd.gradcheck(lambda s, x, *_: module(module.before(s, x, x)), inputs)
