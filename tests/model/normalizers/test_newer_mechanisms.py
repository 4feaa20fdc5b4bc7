"""Mechanisms after 2020 against slow loops over rows."""

import math

import pytest
import torch
from entmax import entmax_bisect
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from model.layers.attention import causal_mask, padding_mask
from model.normalizers.argmax import Argmax
from model.normalizers.differential import Differential
from model.normalizers.entmax15 import Entmax15
from model.normalizers.gumbel import Gumbel
from model.normalizers.length_scaled import ASEntmax, SSMax
from model.normalizers.rela import ReLA
from model.normalizers.selective import Selective
from model.normalizers.sigmoid import Sigmoid
from model.normalizers.sink import Sink
from model.normalizers.softmax import Softmax
from model.normalizers.softpick import Softpick
from model.normalizers.stick_breaking import StickBreaking
from model.normalizers.threshold_differential import ThresholdDifferential
from tests.model.compare import close

HEADS, WIDTH = 4, 3
KINDS = {
    "rela": lambda: ReLA(HEADS * WIDTH),
    "softpick": Softpick,
    "asentmax": lambda: ASEntmax(HEADS),
    "ssmax": lambda: SSMax(HEADS),
    "differential": lambda: Differential(WIDTH, depth=2),
    "selective": Selective,
    "softmax-1": Sink,
    "sink": lambda: Sink(HEADS),
    "sigmoid": Sigmoid,
    "stick-breaking": StickBreaking,
    "threshold differential": lambda: ThresholdDifferential(WIDTH),
}
SOFT = ("asentmax", "ssmax", "selective")
"""Those whose rows sum to 1."""
PARTIAL = ("softpick", "softmax-1", "sink", "stick-breaking")
"""Those whose rows sum to 1 at most."""
SIGNED = ("differential", "threshold differential")
"""Those whose weights may be negative."""
CAUSAL = ("selective", "stick-breaking")


def softmax(row: list[float]) -> list[float]:
    e = [math.exp(s - max(row)) for s in row]
    return [one / sum(e) for one in e]


def slow(kind: str, module, scores: Tensor) -> Tensor:
    """Weights of scores (B, H, T, S), one row at a time, of the keys that it sees alone."""
    weights = torch.zeros_like(scores)
    for b, h, i in torch.cartesian_prod(*map(torch.arange, scores.shape[:3])).tolist():
        keys = [j for j, s in enumerate(scores[b, h, i].tolist()) if s > -math.inf]

        def row(h: int, b=b, i=i, keys=keys) -> list[float]:
            return [float(scores[b, h, i, j]) for j in keys]

        if kind == "rela":
            found = [max(s, 0.0) for s in row(h)]
        elif kind == "softpick":
            total = sum(abs(math.exp(s) - 1) for s in row(h))
            total += 1e-8 * math.exp(max(*row(h), 0))
            found = [max(math.exp(s) - 1, 0) / total for s in row(h)]
        elif kind == "asentmax":
            beta, gamma = module.beta[h].item(), module.gamma[h].item()
            scale = 1 + beta * math.log(len(keys) + 1) ** gamma
            found = entmax_bisect(torch.tensor(row(h)).double() * scale, 1.5, n_iter=80).tolist()
        elif kind == "ssmax":
            found = softmax([module.b[h].item() * math.log(len(keys) + 1) * s for s in row(h)])
        elif kind == "differential":
            q, k = module.queries.tolist(), module.keys.tolist()
            first, second = (math.exp(sum(map(float.__mul__, q[n], k[n]))) for n in (0, 1))
            factor = first - second + 0.8 - 0.6 * math.exp(-0.3 * 2)
            pair = h - h % 2
            maps = zip(softmax(row(pair)), softmax(row(pair + 1)), strict=True)
            found = [one - factor * other for one, other in maps]
        elif kind == "threshold differential":
            tau, pair = math.sqrt(2 * math.log(len(keys)) / WIDTH), h - h % 2
            one, other = (
                [max(s / math.sqrt(WIDTH) - tau, 0) ** 2 for s in row(pair + view)]
                for view in (0, 1)
            )
            found = [a - module.factor.item() * b for a, b in zip(one, other, strict=True)]
        elif kind in ("softmax-1", "sink"):
            rest = module.logit[h].item() if kind == "sink" else 0.0
            found = softmax([*row(h), rest])[:-1]
        elif kind == "sigmoid":
            found = [1 / (1 + len(keys) * math.exp(-s)) for s in row(h)]
        elif kind == "stick-breaking":
            stick, taken = 1.0, []
            for s in reversed(row(h)):
                taken.append(stick / (1 + math.exp(-s)))
                stick *= 1 / (1 + math.exp(s))
            found = taken[::-1]
        else:
            hidden = [
                sum(max(float(scores[b, 0, k, j]), 0) for k in range(i) if k != j) if j else 0.0
                for j in keys
            ]
            found = softmax([s - f for s, f in zip(row(h), hidden, strict=True)])
        weights[b, h, i, keys] = torch.tensor(found, dtype=weights.dtype)
    return weights


def masked_scores(kind: str, keys: int, spread: float, seed: int = 0) -> Tensor:
    """Scores (3, H, T, T) of texts that are whole, half and 1 long, or causal."""
    random = torch.Generator().manual_seed(seed)
    scores = torch.randn(3, HEADS, keys, keys, generator=random).double() * spread
    if kind in CAUSAL or seed % 2:
        return scores + causal_mask(keys, torch.device("cpu"))
    lengths = torch.tensor([keys, (keys + 1) // 2, 1])
    return scores + padding_mask(torch.arange(keys) < lengths[:, None])


def made(kind: str, dtype: torch.dtype = torch.float64):
    torch.manual_seed(3)
    module = KINDS[kind]().to(dtype)
    if kind == "sink":  # which begins at 0, as softmax-1
        torch.nn.init.normal_(module.logit)
    return module


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("keys", "spread"), [(1, 1.0), (2, 0.01), (7, 1.0), (7, 30.0)])
@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_those_of_the_slow_loop(kind, keys, spread, seed):
    scores = masked_scores(kind, keys, spread, seed)
    assert close([made(kind)(scores)], [slow(kind, made(kind), scores)], 1e-6)
    small = made(kind, torch.float32)(scores.float())
    expected = made(kind)(scores.float().double()).detach()
    assert close([small.double()], [expected], 2e-5 * max(1, float(expected.abs().max())))


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_agree_with_finite_differences(kind):
    """In the scores that are seen and in what is learned."""
    module = made(kind)
    scores = masked_scores(kind, 4, 1.0, seed=5)[:2]
    seen = scores > -math.inf
    names = [name for name, _ in module.named_parameters()]

    def of(real: Tensor, *learned: Tensor) -> Tensor:
        whole = torch.full_like(scores, -math.inf).masked_scatter(seen, real)
        given = dict(zip(names, learned, strict=True))
        return torch.func.functional_call(module, given, whole)

    learned = [one.detach().clone().requires_grad_() for one in module.parameters()]
    assert torch.autograd.gradcheck(of, (scores[seen].requires_grad_(), *learned), atol=1e-6)


@given(
    st.integers(0, 2**31), st.integers(1, 20), st.sampled_from([0.0, 0.1, 1.0, 50.0]),
    st.sampled_from(sorted(KINDS)),
)  # fmt: skip
def test_what_holds_for_every_row(seed, keys, spread, kind):
    """Weights and gradients are finite, 0 where masked, and sum to what the mechanism states."""
    random = torch.Generator().manual_seed(seed)
    scores = torch.randn(2, HEADS, keys, keys, generator=random) * spread
    masked = torch.rand(2, 1, keys, keys, generator=random) < 0.4
    masked[:, 0].diagonal(dim1=1, dim2=2).fill_(False)
    masked = masked.expand_as(scores)
    scores = scores.masked_fill(masked, -math.inf).requires_grad_()
    module = made(kind, torch.float32)
    weights = module(scores)
    (weights * torch.randn(scores.shape, generator=random)).sum().backward()
    sums = weights.detach().sum(-1)
    assert (weights[masked] == 0).all() and (scores.grad[masked] == 0).all()
    assert weights.isfinite().all() and scores.grad.isfinite().all()
    assert all(one.grad is None or one.grad.isfinite().all() for one in module.parameters())
    if kind in SOFT:
        assert torch.allclose(sums, torch.ones_like(sums), atol=1e-5)
    if kind in PARTIAL:
        assert (sums <= 1 + 1e-6).all()
    if kind not in SIGNED:
        assert (weights >= 0).all()
    if kind in ("rela", "softpick"):
        assert (weights[scores <= 0] == 0).all()
    if kind == "rela":
        assert torch.equal(weights, scores.clamp(min=0))


def test_rectified_rows_by_hand():
    """Scores ln 2, ln 3, -ln 2 and a masked one; and a row without a positive score."""
    scores = torch.tensor([math.log(2), math.log(3), -math.log(2), -math.inf]).double()
    assert Softpick()(scores).tolist() == pytest.approx([1 / 3.5, 2 / 3.5, 0, 0], abs=1e-8)
    assert ReLA(1)(scores).tolist() == pytest.approx([math.log(2), math.log(3), 0, 0])
    for nothing in (-scores.abs(), torch.full((4,), -math.inf), torch.zeros(4)):
        assert Softpick()(nothing).tolist() == ReLA(1)(nothing).tolist() == [0] * 4


@pytest.mark.parametrize("shift", [90.0, 700.0])
def test_softpick_is_right_where_exponentials_overflow(shift):
    """Weights are those of softmax, but exactly 0 for what is not positive."""
    scores = torch.tensor([shift, shift - 1, shift - 2, 0.0, -1.0], dtype=torch.float32)
    weights = Softpick()(scores)
    assert torch.allclose(weights, scores.softmax(-1), atol=1e-6)
    assert weights[3:].tolist() == [0, 0]


def test_partial_rows_by_hand():
    """Scores ln 2, ln 3 and a masked one; a row that sees nothing."""
    scores = torch.tensor([math.log(2), math.log(3), -math.inf]).double()
    assert Sink()(scores).tolist() == pytest.approx([2 / 6, 3 / 6, 0])
    sink = Sink(1).double()
    torch.nn.init.constant_(sink.logit, math.log(5))
    assert sink(scores.view(1, 1, 1, 3)).flatten().tolist() == pytest.approx([2 / 10, 3 / 10, 0])
    assert Sigmoid()(scores).tolist() == pytest.approx([2 / 4, 3 / 5, 0])
    assert StickBreaking()(scores).tolist() == pytest.approx([2 / 3 / 4, 3 / 4, 0])
    for module in (Sink(), Sigmoid(), StickBreaking()):
        assert module(torch.full((4,), -math.inf)).tolist() == [0] * 4


def test_argmax_is_the_mode_of_gumbel_with_the_gradient_of_softmax():
    """In training and in evaluation; the first of equal scores; masked keys get nothing."""
    random = torch.Generator().manual_seed(0)
    scores = torch.randn(2, HEADS, 5, 5, generator=random).double() + causal_mask(
        5, torch.device("cpu")
    )
    scores.requires_grad_()
    upstream = torch.randn(scores.shape, generator=random).double()
    weights = Argmax()(scores)
    assert torch.equal(weights.round(), Gumbel().eval()(scores)) and close(
        [weights], [weights.round()], 1e-12
    )
    assert torch.equal(Argmax().eval()(scores), Gumbel().eval()(scores))
    (gradient,) = torch.autograd.grad((weights * upstream).sum(), scores)
    (soft,) = torch.autograd.grad((scores.softmax(-1) * upstream).sum(), scores)
    assert close([gradient], [soft], 1e-12)
    assert Argmax()(torch.tensor([1.0, 2.0, 2.0, -math.inf])).tolist() == [0, 1, 0, 0]


def test_length_scaled_rows_by_hand():
    """The log odds of two keys are b log 3 (s1 - s2); a scale may be negative."""
    ssmax, scores = SSMax(1).double(), torch.tensor([[[[1.0, 0.0, -math.inf]]]]).double()
    torch.nn.init.constant_(ssmax.b, 2.0)
    assert ssmax(scores).flatten().tolist() == pytest.approx([9 / 10, 1 / 10, 0])
    entmax = ASEntmax(1, delta=0.0).double()
    torch.nn.init.constant_(entmax.gamma, 0.0)
    for beta in (0.7, -0.7):
        torch.nn.init.constant_(entmax.beta, beta)
        scaled = torch.tensor([[[[beta, 0.0, -math.inf]]]]).double()
        assert torch.allclose(entmax(scores), Entmax15()(scaled))


def test_a_longer_text_has_sharper_rows():
    """With the same scores beside keys that weigh nothing; softmax's stay as they are."""
    row = torch.tensor([0.4, 0.1]).double()
    for module, grows in ((ASEntmax(1), True), (SSMax(1), True), (Softmax(), False)):
        for name, value in module.double().named_parameters():
            torch.nn.init.constant_(value, 0.5 if name == "gamma" else 1.0)
        found = [
            float(module(torch.cat([row, torch.full((n,), -60.0).double()]).view(1, 1, 1, -1))
                  .detach().flatten()[0])
            for n in (0, 10)
        ]  # fmt: skip
        assert (found[1] > found[0] + 1e-3) == grows


def test_the_last_queries_of_selective_attention_are_those_of_the_whole():
    """Where the earlier ones, which are left out, hide nothing."""
    scores = torch.randn(2, 2, 6, 6).double()
    scores[:, 0, :4] = scores[:, 0, :4].abs().neg()
    scores = scores + causal_mask(6, torch.device("cpu"))
    assert torch.allclose(Selective()(scores[:, :, 4:]), Selective()(scores)[:, :, 4:])


@pytest.mark.parametrize("kind", ["rela", "differential"])
def test_the_step_after_reading_one_query_at_a_time(kind):
    module = made(kind)
    with torch.no_grad():
        module.gain.uniform_(0.5, 1.5)
    context = torch.randn(2, HEADS, 5, WIDTH).double()
    context[0, :, 2] = 0
    found = module.after(context)
    for b in range(2):
        for i in range(5):
            o = context[b, :, i].flatten()
            if kind == "rela":
                size = math.sqrt(sum(x * x for x in o.tolist()) / len(o) + 1e-8)
                sigmoid = 1 / (1 + torch.exp(-module.gate * o))
                expected = module.gain * o / size * sigmoid
            else:
                parts = []
                for pair in o.view(HEADS // 2, -1):
                    size = math.sqrt(sum(x * x for x in pair.tolist()) / len(pair) + 1e-5)
                    rest = 1 - (0.8 - 0.6 * math.exp(-0.3 * 2))
                    parts.append(pair / size * module.gain.flatten() * rest)
                expected = torch.cat(parts)
            assert torch.allclose(found[b, :, i].flatten(), expected, atol=1e-12)
    names = [name for name, _ in module.named_parameters()]
    if kind == "rela":
        assert names == ["gain", "gate"] and module.gate.abs().max() <= (3 / 12) ** 0.5
    assert torch.autograd.gradcheck(
        module.after, torch.randn(1, HEADS, 2, WIDTH).double().requires_grad_()
    )


@pytest.mark.parametrize("kind", ["softpick", "asentmax", "ssmax"])
def test_half_precision_scores_are_computed_in_single(kind):
    scores = torch.randn(2, HEADS, 5, 20).bfloat16()
    module = made(kind, torch.float32)
    assert module(scores).dtype == torch.float32
    assert torch.equal(module(scores), module(scores.float()))
