"""The indexer of DeepSeek-V3.2 against a loop, and what it learns from."""

import math

import pytest
import torch

from model.layers.attention import causal_mask
from model.normalizers.lightning_indexer import LightningIndexer

CPU = torch.device("cpu")
K = 2


def made():
    torch.manual_seed(2)
    module = LightningIndexer(6, k=K, index_heads=3, index_width=4).double()
    torch.nn.init.normal_(module.norm.weight)
    torch.nn.init.normal_(module.norm.bias)
    scores = torch.randn(2, 2, 5, 5).double() + causal_mask(5, CPU)
    return module, scores, torch.randn(2, 5, 6).double()


def loop_index(module, query, key):
    """I of a query's and a key's state."""
    k = module.key.weight @ key
    k = (k - k.mean()) / (k.var(unbiased=False) + 1e-5).sqrt()
    k = k * module.norm.weight + module.norm.bias
    q, w = (module.query.weight @ query).view(3, 4), module.weigh.weight @ query
    total = sum(w[j] * max(0.0, float(q[j] @ k)) for j in range(3))
    return float(total) / math.sqrt(3 * 4)


def test_the_keys_that_are_attended_to_are_those_of_a_loop():
    module, scores, x = made()
    module.requires_grad_(False)
    found = module.eval()(module.before(scores, x, x))
    for b, h, i in torch.cartesian_prod(*map(torch.arange, (2, 2, 5))).tolist():
        index = [loop_index(module, x[b, i], x[b, j]) for j in range(i + 1)]
        kept = sorted(range(i + 1), key=lambda j: -index[j])[:K]
        total = sum(math.exp(scores[b, h, i, j]) for j in kept)
        expected = [math.exp(scores[b, h, i, j]) / total if j in kept else 0 for j in range(5)]
        assert found[b, h, i].tolist() == pytest.approx(expected, abs=1e-12)


def test_the_indexer_learns_from_the_divergence_alone():
    """KL of the mean weights from softmax(I), over the chosen keys; states and scores get none."""
    module, scores, x = made()
    scores.requires_grad_()
    x.requires_grad_()
    upstream = torch.randn(2, 2, 5, 5).double()
    weights = module(module.before(scores, x, x))
    (weights * upstream).sum().backward()
    found = {name: one.grad.clone() for name, one in module.named_parameters()}
    assert x.grad is None
    chosen = weights[:, 0] > 0
    alone = scores.detach().masked_fill(~chosen[:, None], -math.inf).requires_grad_()
    (alone.softmax(-1) * upstream).sum().backward()
    assert torch.allclose(scores.grad.masked_fill(~chosen[:, None], 0), alone.grad)

    module.zero_grad()
    index, p = module.index(x, x), weights.detach().mean(dim=1)
    divergence = 0
    for b, i in torch.cartesian_prod(torch.arange(2), torch.arange(5)).tolist():
        kept = chosen[b, i].nonzero().flatten()
        q = index[b, i, kept].softmax(0)
        divergence += (p[b, i, kept] * (p[b, i, kept] / q).log()).sum() / 10
    divergence.backward()
    for name, one in module.named_parameters():
        assert torch.allclose(found[name], one.grad), name
    assert any(one.any() for one in found.values())


def test_after_training_it_learns_nothing():
    module, scores, x = made()
    assert not module.eval().before(scores, x, x).requires_grad


def test_the_first_of_equal_keys_are_kept():
    module, scores, _ = made()
    kept = module.before(scores, torch.zeros(2, 5, 6).double(), torch.zeros(2, 5, 6).double())
    assert (kept[0, 0] > -math.inf).sum(-1).tolist() == [1, 2, 2, 2, 2]
    assert (kept[0, 0, :, 2:] == -math.inf).all()
