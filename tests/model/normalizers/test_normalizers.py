"""Scores to weights: against hand-worked cases, slow loops and the distributions they sample."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.normalizers.gumbel import Gumbel, gumbel_noise, one_hot_argmax
from model.normalizers.softmax import Softmax

SCORES = torch.tensor([[[[1.0, 2.0, -math.inf, 0.5]]]])


def test_softmax_by_hand():
    e = [math.exp(1), math.exp(2), 0.0, math.exp(0.5)]
    expected = torch.tensor([value / sum(e) for value in e])
    assert torch.allclose(Softmax()(SCORES).flatten(), expected)


def test_gumbel_takes_the_argmax_when_evaluating():
    assert Gumbel().eval()(SCORES).flatten().tolist() == [0, 1, 0, 0]


def test_gumbel_is_soft_in_training_and_hides_masked_keys():
    weights = Gumbel().train()(SCORES.expand(64, 2, 3, 4))
    assert torch.allclose(weights.sum(-1), torch.ones(64, 2, 3))
    assert (weights[..., 2] == 0).all()
    inner = weights[..., [0, 1, 3]]
    assert ((inner > 0) & (inner < 1)).all()


def test_gumbel_follows_the_papers_formula():
    """softmax((log A + g) / tau) with A = softmax(scores), written out.

    kinley2020 section 3.3; discrete2020 section 4.
    """
    tau = 0.7
    scores = torch.randn(2, 2, 3, 5, dtype=torch.float64)
    torch.manual_seed(5)
    weights = Gumbel(tau).train()(scores)
    torch.manual_seed(5)
    g = gumbel_noise(scores)
    raised = torch.exp((torch.log(scores.softmax(-1)) + g) / tau)
    assert torch.allclose(weights, raised / raised.sum(-1, keepdim=True), atol=1e-12)


def test_noise_of_half_precision_scores_is_drawn_in_single():
    """In bf16 no U lies between 1 - 2^-8 and 1, so no choice could be rarer than that."""
    scores = torch.zeros(1, 1, 20_000, 20).bfloat16()
    torch.manual_seed(5)
    weights = Gumbel(1.0).train()(scores)
    torch.manual_seed(5)
    assert torch.equal(weights, Gumbel(1.0).train()(scores.float()))
    assert weights.dtype == torch.float32
    assert weights.max() / weights[weights > 0].min() > math.exp(12)


def test_the_noise_is_gumbel():
    torch.manual_seed(0)
    noise = gumbel_noise(torch.empty(200_000, dtype=torch.float64))
    assert float(noise.mean()) == pytest.approx(0.5772, abs=0.01)
    assert float(noise.var()) == pytest.approx(math.pi**2 / 6, abs=0.03)
    assert noise.isfinite().all()


def test_argmax_of_samples_is_categorical():
    """Each key is the one as often as its softmax says (weissenborn2019 eq. 6)."""
    torch.manual_seed(1)
    samples = Gumbel().train()(SCORES.expand(50_000, 1, 1, 4))
    frequency = one_hot_argmax(samples).mean((0, 1, 2))
    assert torch.allclose(frequency, SCORES.softmax(-1).flatten(), atol=0.01)


@pytest.mark.parametrize(("temperature", "mass"), [(0.05, 0.9), (20.0, 0.5)])
def test_temperature_decides_how_close_to_one_hot(temperature, mass):
    torch.manual_seed(2)
    largest = Gumbel(temperature).train()(torch.zeros(500, 1, 1, 4)).amax(-1).mean()
    assert (largest > mass) if temperature < 1 else (largest < mass)


def test_straight_through_is_one_hot_with_the_gradient_of_the_sample():
    scores = torch.randn(3, 1, 2, 4, dtype=torch.float64)
    gradients = []
    for straight in (True, False):
        leaf = scores.clone().requires_grad_()
        torch.manual_seed(3)
        weights = Gumbel(straight_through=straight).train()(leaf)
        near = torch.minimum(weights.abs(), (weights - 1).abs()).max()
        assert (float(near.detach()) < 1e-12) == straight
        (weights * torch.arange(4)).sum().backward()
        gradients.append(leaf.grad)
    assert torch.allclose(*gradients)


@given(st.integers(0, 2**31), st.integers(1, 9))
def test_one_hot_rows_pick_the_first_largest(seed, keys):
    random = torch.Generator().manual_seed(seed)
    scores = torch.randint(0, 3, (2, 2, 3, keys), generator=random).float()
    rows = one_hot_argmax(scores)
    for row, chosen in zip(scores.reshape(-1, keys).tolist(), rows.reshape(-1, keys), strict=True):
        assert chosen.tolist() == [float(i == row.index(max(row))) for i in range(keys)]
