"""Top-k attention over many keys has the weights and gradients of top-k attention."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.normalizers.topk import CHUNK, TopK, TopKOfMany, kth_largest
from tests.model.compare import close


def both(k, scores, outer):
    found = []
    for normalizer in (TopK(k), TopKOfMany(k)):
        leaf = scores.clone().requires_grad_()
        weights = normalizer(leaf)
        (weights * outer).sum().backward()
        found.append((weights.detach(), leaf.grad))
    return found


@given(
    keys=st.integers(1, 3 * CHUNK), k=st.integers(1, 12), open_to=st.integers(1, 800),
    levels=st.sampled_from([3, 50, 10**6]), seed=st.integers(0, 999),
)  # fmt: skip
def test_it_is_top_k(keys, k, open_to, levels, seed):
    """Also where scores tie, and where fewer keys are open than are kept."""
    torch.manual_seed(seed)
    scores = torch.randint(-levels, levels, (2, 3, keys)) * (6.0 / levels)
    scores[..., open_to:] = -math.inf
    expected, found = both(k, scores, torch.randn(scores.shape))
    assert torch.equal(expected[0] > 0, found[0] > 0)
    assert close(found, expected, 1e-6)


@pytest.mark.parametrize("keys", [7, CHUNK, CHUNK + 1, 4 * CHUNK + 3])
def test_the_kth_largest_is_that_of_the_sorted_row(keys):
    scores = torch.randn(5, 4, keys)
    expected = scores.sort(dim=-1, descending=True).values[..., 6:7]
    assert torch.equal(kth_largest(scores, 7), expected)


def test_the_nearest_score_below_is_dropped():
    for size in (1.0, 1e-20, 1e4):
        kept = torch.tensor(size)
        scores = torch.stack([kept, torch.nextafter(kept, torch.tensor(-math.inf)), kept])
        assert (TopKOfMany(2)(scores) > 0).tolist() == [True, False, True]


def test_reduced_precision_gives_weights_in_single():
    weights = TopKOfMany(2)(torch.randn(2, 9).bfloat16())
    assert weights.dtype == torch.float32
    assert torch.allclose(weights.sum(dim=-1), torch.ones(2))
