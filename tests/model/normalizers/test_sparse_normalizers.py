"""The sparse normalisers against the entmax library, slow loops and what must hold for any row."""

import copy
import math

import entmax
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from model.layers.attention import causal_mask, padding_mask
from model.normalizers.entmax15 import Entmax15
from model.normalizers.entmax_alpha import LEAST, EntmaxAlpha
from model.normalizers.entmax_bisect import HIGHEST, LOWEST, EntmaxBisect
from model.normalizers.softmax import Softmax
from model.normalizers.sparsemax import Sparsemax, ascending
from model.normalizers.topk import CHUNK, TopK, TopKOfMany, kth_largest
from tests.model.compare import close

HEADS = 4
ALPHAS = (1.05, 1.3, 1.5, 1.95)


def with_alphas(alphas: tuple[float, ...] = ALPHAS) -> EntmaxAlpha:
    """An `EntmaxAlpha` with given alphas."""
    normalizer = EntmaxAlpha(len(alphas)).double()
    for logit, alpha in zip(normalizer.logit, alphas, strict=True):
        share = (alpha - 1 - LEAST) / (1 - 2 * LEAST)
        torch.nn.init.constant_(logit, math.log(share / (1 - share)))
    return normalizer


def bisected(scores: Tensor) -> Tensor:
    """The library's entmax for `ALPHAS`, on scores (B, H, T, S)."""
    alphas = torch.tensor(ALPHAS, dtype=scores.dtype)[:, None, None]
    return entmax.entmax_bisect(scores, alphas.expand(*scores.shape[:-1], 1), n_iter=80)


PAIRS = [
    (Sparsemax(), lambda scores: entmax.sparsemax(scores, dim=-1)),
    (Entmax15(), lambda scores: entmax.entmax15(scores, dim=-1)),
    (with_alphas(), bisected),
]
EVERY = [TopK(3), Sparsemax(), Entmax15(), with_alphas()]


def masked_scores(keys: int, spread: float, dtype: torch.dtype, seed: int = 0) -> Tensor:
    """Scores (3, H, 5, keys) of texts that are whole, half and 1 long."""
    random = torch.Generator().manual_seed(seed)
    scores = torch.randn(3, HEADS, 5, keys, generator=random, dtype=dtype) * spread
    lengths = torch.tensor([keys, (keys + 1) // 2, 1])
    return scores + padding_mask(torch.arange(keys) < lengths[:, None]).to(dtype)


def of_type(normalizer, dtype: torch.dtype):
    """A copy of a normaliser with parameters of a type."""
    return copy.deepcopy(normalizer).to(dtype)


def with_gradient(normalizer, scores: Tensor) -> tuple[Tensor, Tensor]:
    """Weights, and the gradient in the scores of a random linear function of them."""
    scores = scores.clone().requires_grad_()
    weights = normalizer(scores)
    random = torch.Generator().manual_seed(9)
    factors = torch.randn(scores.shape, dtype=torch.float64, generator=random).to(scores.dtype)
    return weights.detach(), torch.autograd.grad((weights * factors).sum(), scores)[0]


@pytest.mark.parametrize("spread", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("keys", [1, 2, 9, 60, 300])
@pytest.mark.parametrize(("normalizer", "reference"), PAIRS)
def test_weights_and_gradients_are_those_of_the_library(normalizer, reference, keys, spread):
    scores = masked_scores(keys, spread, torch.float64).float()
    weights, gradient = with_gradient(reference, scores.double())
    for dtype, near, nearly in ((torch.float32, 2e-6, 1e-4), (torch.float64, 1e-12, 1e-12)):
        found = with_gradient(of_type(normalizer, dtype), scores.to(dtype))
        assert close([found[0].double()], [weights], near)
        assert close([found[1].double()], [gradient], nearly)


def test_the_gradient_in_alpha_is_the_librarys():
    scores = masked_scores(12, 2.0, torch.float64)
    factors = torch.randn(scores.shape, dtype=torch.float64)
    ours = with_alphas()
    (ours(scores) * factors).sum().backward()
    alphas = torch.tensor(ALPHAS, dtype=torch.float64, requires_grad=True)
    of_rows = alphas[:, None, None].expand(*scores.shape[:-1], 1)
    (entmax.entmax_bisect(scores, of_rows, n_iter=80) * factors).sum().backward()
    slope = (alphas - 1 - LEAST) * (2 - alphas - LEAST) / (1 - 2 * LEAST)
    assert torch.allclose(ours.logit.grad.flatten(), (alphas.grad * slope).detach(), atol=1e-9)


@given(
    st.integers(0, 2**31),
    st.integers(1, 40),
    st.sampled_from([0.0, 0.1, 1.0, 20.0]),
    st.sampled_from(EVERY),
)
def test_what_holds_for_every_row(seed, keys, spread, normalizer):
    """A distribution over unmasked keys that orders them as the scores do, ties included."""
    random = torch.Generator().manual_seed(seed)
    scores = torch.randn(2, HEADS, 3, keys, generator=random) * spread
    masked = torch.rand(2, 1, 3, keys, generator=random) < 0.4
    masked[..., int(torch.randint(keys, (), generator=random))] = False
    scores = scores.masked_fill(masked, -math.inf)
    normalizer = of_type(normalizer, torch.float32)
    weights, gradient = with_gradient(normalizer, scores)
    assert torch.allclose(weights.sum(-1), torch.ones(2, HEADS, 3), atol=1e-5)
    assert (weights >= 0).all()
    assert (weights[masked.expand_as(weights)] == 0).all()
    assert (gradient[masked.expand_as(weights)] == 0).all()
    assert torch.allclose(gradient.sum(-1), torch.zeros(2, HEADS, 3), atol=1e-4)
    assert (weights.gather(-1, scores.argsort(-1)).diff(dim=-1) >= 0).all()
    shift = torch.randn(2, HEADS, 3, 1, generator=random) * 5
    assert torch.allclose(normalizer(scores + shift), weights, atol=1e-4)
    order = torch.randperm(keys, generator=random)
    assert torch.allclose(normalizer(scores[..., order]), weights[..., order], atol=1e-5)


def test_learned_alpha_agrees_with_the_exact_mappings():
    scores = masked_scores(30, 2.0, torch.float64)
    assert torch.allclose(EntmaxAlpha(HEADS).double()(scores), Entmax15()(scores), atol=1e-12)
    for limit, exact, distance in ((1.0, Softmax(), 0.02), (2.0, Sparsemax(), 0.01)):
        normalizer = EntmaxAlpha(HEADS).double()
        torch.nn.init.constant_(normalizer.logit, 200 * (limit - 1.5))
        assert torch.allclose(normalizer.alpha, torch.tensor(limit).double(), atol=0.011)
        weights, gradient = with_gradient(normalizer, scores)
        assert torch.allclose(weights, exact(scores), atol=distance)
        assert gradient.isfinite().all()


@pytest.mark.parametrize("logit", [-8.0, 8.0])
def test_a_head_at_a_limit_can_leave_it(logit):
    normalizer = EntmaxAlpha(1)
    torch.nn.init.constant_(normalizer.logit, logit)
    assert LEAST <= float(normalizer.alpha) - 1 <= 1 - LEAST
    scores = torch.tensor([2.0, 1.5, -1.0]).reshape(1, 1, 1, 3)
    (normalizer(scores) * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert normalizer.logit.grad.abs() > 0


@given(
    st.integers(0, 2**31),
    st.integers(1, 60),
    st.sampled_from([0.01, 1.0, 30.0]),
    st.sampled_from(EVERY),
    st.sampled_from([torch.float32, torch.float64]),
)
def test_a_row_is_the_same_whatever_the_others_are(seed, keys, spread, normalizer, dtype):
    """Bit for bit: steps that other rows need are none for a row whose norm is 1 already."""
    scores = masked_scores(keys, spread, dtype, seed)
    normalizer = of_type(normalizer, dtype)
    weights, gradient = with_gradient(normalizer, scores)
    for text in range(len(scores)):
        for query in range(scores.shape[2]):
            row = text, slice(None), query
            others = masked_scores(keys, 30 - spread, dtype, seed + 1)
            others[row] = scores[row]
            found = with_gradient(normalizer, others)
            assert torch.equal(found[0][row], weights[row])
            assert torch.equal(found[1][row], gradient[row])


@pytest.mark.parametrize("normalizer", [Entmax15(), with_alphas((1.0101, 1.1, 1.5, 1.95))])
@pytest.mark.parametrize("keys", [1024, 3000, 20_000])
@pytest.mark.parametrize("spread", [1e-3, 0.3, 1.0, 5.0])
def test_long_rows_sum_to_1_but_for_rounding(normalizer, keys, spread):
    random = torch.Generator().manual_seed(keys)
    scores = torch.randn(2, HEADS, 3, keys, generator=random) * spread
    total = of_type(normalizer, torch.float32)(scores).double().sum(-1)
    assert (total - 1).abs().max() < 1e-6


def slow_topk(row: list[float], k: int) -> list[float]:
    """Top-k of one row, written out, with ties kept."""
    unmasked = sorted((s for s in row if s > -math.inf), reverse=True)
    t = unmasked[min(k, len(unmasked)) - 1]
    raised = [math.exp(s) if s >= t and s > -math.inf else 0.0 for s in row]
    return [value / sum(raised) for value in raised]


@given(st.integers(0, 2**31), st.integers(1, 12), st.integers(1, 14), st.booleans())
def test_topk_is_the_slow_loop(seed, k, keys, causal):
    """zhao2019 eq. 2, 3, on small whole scores, so that many tie; causal rows begin with 1 key."""
    random = torch.Generator().manual_seed(seed)
    scores = torch.randint(-3, 4, (2, 2, keys, keys), generator=random).double()
    if causal:
        scores = scores + causal_mask(keys, torch.device("cpu"))
    weights = TopK(k)(scores)
    for row, found in zip(scores.flatten(0, 2).tolist(), weights.flatten(0, 2), strict=True):
        assert found.tolist() == pytest.approx(slow_topk(row, k), abs=1e-12)
        assert [v == 0 for v in found.tolist()] == [v == 0 for v in slow_topk(row, k)]


def test_topk_tells_scores_apart_that_differ_in_the_last_bit():
    scores = torch.tensor([1.0, math.nextafter(1.0, 2.0), 0.0, 5e-324], dtype=torch.float64)
    assert (TopK(1)(scores) > 0).tolist() == [False, True, False, False]
    assert (TopK(3)(scores) > 0).tolist() == [True, True, False, True]


def test_topk_passes_the_gradient_of_softmax_over_the_kept_scores():
    """And none to the others (zhao2019 eq. 15)."""
    scores = torch.tensor([0.3, -math.inf, 2.0, 1.0, 1.0, -0.5], dtype=torch.float64)
    kept = [2, 3, 4]
    _, gradient = with_gradient(TopK(2), scores)
    factors = torch.randn(6, dtype=torch.float64, generator=torch.Generator().manual_seed(9))
    alone = scores[kept].clone().requires_grad_()
    (alone.softmax(-1) * factors[kept]).sum().backward()
    assert torch.allclose(gradient[kept], alone.grad)
    assert gradient[[0, 1, 5]].tolist() == [0, 0, 0]


@pytest.mark.parametrize("normalizer", EVERY)
def test_half_precision_scores_are_computed_in_single(normalizer):
    scores = torch.randn(2, HEADS, 5, 20, generator=torch.Generator().manual_seed(3)).bfloat16()
    normalizer = of_type(normalizer, torch.float32)
    weights, gradient = with_gradient(normalizer, scores)
    assert weights.dtype == torch.float32
    assert gradient.dtype == torch.bfloat16
    assert torch.equal(weights, normalizer(scores.float()))


def test_both_sorts_are_the_same():
    scores = masked_scores(17, 1.0, torch.float32)
    assert torch.equal(ascending(scores), scores.sort(-1).values)


@pytest.mark.parametrize("keys", [1, 2, 9, 60])
@pytest.mark.parametrize("alpha", [1.1, 1.5, 1.9])
def test_bisection_gives_those_of_the_library(alpha, keys):
    scores = masked_scores(keys, 2.0, torch.float64)
    expected = with_gradient(lambda s: entmax.entmax_bisect(s, alpha, dim=-1, n_iter=50), scores)
    for dtype, near in ((torch.float64, 1e-10), (torch.float32, 2e-5)):
        found = with_gradient(EntmaxBisect(alpha), scores.to(dtype))
        assert close([one.double() for one in found], expected, near)


@pytest.mark.parametrize("alpha", [LOWEST, 1.1, 1.5, HIGHEST])
@pytest.mark.parametrize("keys", [2, 60, 3000])
@pytest.mark.parametrize("spread", [1e-3, 0.3, 3.0, 30.0])
def test_bisection_in_single_precision_is_within_its_bound(alpha, keys, spread):
    random = torch.Generator().manual_seed(keys)
    scores = torch.randn(1, 1, 50, keys, generator=random) * spread
    exact = entmax.entmax_bisect(scores.double(), alpha, dim=-1, n_iter=100)
    assert (EntmaxBisect(alpha)(scores) - exact).abs().max() < 1e-5


@pytest.mark.parametrize(("alpha", "exact"), [(1.5, Entmax15()), (2.0, Sparsemax())])
def test_newtons_steps_find_the_same(alpha, exact):
    scores = masked_scores(30, 2.0, torch.float64)
    assert close(with_gradient(EntmaxBisect(alpha), scores), with_gradient(exact, scores), 1e-10)


def test_too_few_bisections_are_seen():
    scores = masked_scores(30, 2.0, torch.float64)
    exact = Entmax15()(scores)
    errors = [float((EntmaxBisect(1.5, n)(scores) - exact).abs().max()) for n in (3, 10, 50)]
    assert errors[0] > 1e-3 > errors[1] > 1e-9 > errors[2]


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
def test_top_k_of_many_is_top_k(keys, k, open_to, levels, seed):
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


@pytest.mark.parametrize("keys", [2, 3, 4, 20])
def test_topk_computes_rows_of_any_length_in_single(keys):
    scores = torch.randn(2, HEADS, 5, keys).bfloat16()
    assert TopK(3)(scores).dtype == torch.float32
