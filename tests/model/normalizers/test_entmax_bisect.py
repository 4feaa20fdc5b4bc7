"""Entmax by bisection against the entmax library, and against Newton's steps."""

import math

import entmax
import pytest
import torch

from model.normalizers.entmax15 import Entmax15
from model.normalizers.entmax_bisect import EntmaxBisect
from model.normalizers.sparsemax import Sparsemax
from tests.model.normalizers.test_sparse_normalizers import with_gradient


def scores_of(keys, spread=2.0, seed=0):
    """Scores (3, 4, 5, keys); half of the keys of the second text are masked."""
    random = torch.Generator().manual_seed(seed)
    scores = torch.randn(3, 4, 5, keys, generator=random, dtype=torch.float64) * spread
    scores[1, ..., (keys + 1) // 2 :] = -math.inf
    return scores


@pytest.mark.parametrize("keys", [1, 2, 9, 60])
@pytest.mark.parametrize("alpha", [1.1, 1.5, 1.9])
def test_weights_and_gradients_are_those_of_the_library(alpha, keys):
    scores = scores_of(keys)
    expected = with_gradient(lambda s: entmax.entmax_bisect(s, alpha, dim=-1, n_iter=50), scores)
    for dtype, near in ((torch.float64, 1e-10), (torch.float32, 2e-5)):
        found = with_gradient(EntmaxBisect(alpha), scores.to(dtype))
        for mine, theirs in zip(found, expected, strict=True):
            assert torch.allclose(mine.double(), theirs, atol=near, rtol=0)


@pytest.mark.parametrize(("alpha", "exact"), [(1.5, Entmax15()), (2.0, Sparsemax())])
def test_newtons_steps_find_the_same(alpha, exact):
    scores = scores_of(30)
    for mine, theirs in zip(
        with_gradient(EntmaxBisect(alpha), scores), with_gradient(exact, scores), strict=True
    ):
        assert torch.allclose(mine, theirs, atol=1e-10, rtol=0)


def test_gradients_agree_with_finite_differences():
    scores = scores_of(6)[:1, :2, :2].clone().requires_grad_()
    assert torch.autograd.gradcheck(EntmaxBisect(1.5, 80), scores)


def test_too_few_bisections_are_seen():
    scores = scores_of(30)
    exact = Entmax15()(scores)
    errors = [float((EntmaxBisect(1.5, n)(scores) - exact).abs().max()) for n in (3, 10, 50)]
    assert errors[0] > 1e-3 > errors[1] > 1e-9 > errors[2]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [({"alpha": 1}, "alpha must be above 1"), ({"steps": 0}, "steps must be at least 1")],
)
def test_bad_arguments_are_named(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        EntmaxBisect(**arguments)
