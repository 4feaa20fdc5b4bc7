"""The receptive field: its recursion, its regulariser, and the guarantee that comes with it."""

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

from model.architectures.classifier import Classifier
from model.architectures.language_model import LanguageModel
from model.architectures.transformer import Transformer
from model.architectures.two_stream import TwoStreamTransformer
from model.layers.receptive_field import mean_field_size, receptive_field
from model.normalizers.gumbel import Gumbel, one_hot_argmax


def sets(weights: list[Tensor], example: int, position: int, layer: int) -> set[int]:
    """r(i, l) by the papers' recursion on sets."""
    if layer == 0:
        return {position}
    field = sets(weights, example, position, layer - 1)
    for head in weights[layer - 1][example, :, position]:
        field |= sets(weights, example, int(head.argmax()), layer - 1)
    return field


def entrywise(weights: list[Tensor], union: str) -> Tensor:
    """s^L, one entry at a time."""
    batch, _, length, _ = weights[0].shape
    s = torch.eye(length, dtype=weights[0].dtype).repeat(batch, 1, 1)
    for z in weights:
        new = torch.empty_like(s)
        for b in range(batch):
            for i in range(length):
                for j in range(length):
                    reached = [sum(z[b, h, i, k] * s[b, k, j] for k in range(length))
                               for h in range(z.shape[1])]  # fmt: skip
                    if union == "min":
                        new[b, i, j] = min(s[b, i, j] + sum(reached), torch.tensor(1.0))
                    else:
                        missed = 1 - s[b, i, j]
                        for part in reached:
                            missed = missed * (1 - part)
                        new[b, i, j] = 1 - missed
        s = new
    return s


@settings(max_examples=25)
@given(st.integers(0, 2**31), st.integers(1, 4), st.integers(1, 3), st.integers(2, 7))
def test_one_hot_fields_are_the_sets_of_the_recursion(seed, layers, heads, length):
    """r(i, L) of discrete2020 section 5."""
    random = torch.Generator().manual_seed(seed)
    weights = [one_hot_argmax(torch.randn(2, heads, length, length, generator=random))
               for _ in range(layers)]  # fmt: skip
    for union in ("min", "probabilistic"):
        field = receptive_field(weights, union)
        for b in range(2):
            for i in range(length):
                assert set(field[b, i].nonzero().flatten().tolist()) == sets(weights, b, i, layers)


@pytest.mark.parametrize("union", ["min", "probabilistic"])
def test_soft_fields_follow_equation_1(union):
    """And what joins as chances do (discrete2020 eq. 1)."""
    random = torch.Generator().manual_seed(3)
    weights = [torch.randn(2, 2, 4, 4, generator=random, dtype=torch.float64).mul(2).softmax(-1)
               for _ in range(3)]  # fmt: skip
    expected = entrywise(weights, union).double()
    assert torch.allclose(receptive_field(weights, union), expected, atol=1e-12)


def test_the_clamp_kills_the_gradient_that_the_probabilistic_union_keeps():
    gradients = {}
    for union in ("min", "probabilistic"):
        scores = torch.zeros(1, 2, 2, 2, dtype=torch.float64, requires_grad=True)
        field = receptive_field([scores.softmax(-1), scores.softmax(-1)], union)
        field[0, 0, 1].backward()
        gradients[union] = scores.grad.abs().sum()
    assert gradients["min"] == 0
    assert gradients["probabilistic"] > 0


def test_the_regulariser_counts_other_tokens_without_bos_and_padding():
    field = torch.tensor([[[1.0, 0, 0, 0], [0.9, 1, 0, 0], [0.9, 0.5, 1, 0], [1, 1, 1, 1]]])
    real = torch.tensor([[True, True, True, False]])
    # Queries 1 and 2 count (0 is BOS, 3 is padding); their fields hold 0 and .5 of other tokens.
    assert mean_field_size(field, real) == pytest.approx(0.25)


def test_the_regulariser_as_printed_is_constant():
    """The one of discrete2020 section 5.1."""
    weights = [torch.randn(1, 1, 5, 5).softmax(-1) for _ in range(2)]
    printed = receptive_field(weights).sum(-1).clamp(max=1).sum()
    assert printed == 5


def discrete(kind: str, norm: str = "pre") -> torch.nn.Module:
    stack = {"single": Transformer, "two": TwoStreamTransformer}[kind]
    return stack(20, 8, 16, layers=2, heads=2, normalizer=Gumbel(), norm=norm)


def argmax_decisions(model: torch.nn.Module, tokens: Tensor, real: Tensor) -> list[Tensor]:
    with torch.no_grad():
        return model(tokens, real).weights


@settings(max_examples=20)
@given(st.integers(0, 2**31), st.sampled_from(["single", "two"]), st.sampled_from(["pre", "post"]))
def test_with_routing_fixed_only_tokens_inside_the_field_matter(seed, kind, norm):
    """Outside: exactly 0. Inside: they can change it. For every position of a language model.

    Only models with a field that is neither empty (the position alone) nor full are looked at.
    """
    torch.manual_seed(seed)
    model = LanguageModel(20, discrete(kind, norm)).double().eval()
    tokens = torch.randint(3, 20, (1, 9))
    real = torch.ones_like(tokens, dtype=torch.bool)
    routing = argmax_decisions(model, tokens, real)
    field = receptive_field(routing)[0] > 0
    visible = torch.arange(1, 10)
    partial = (field.sum(1) > 1) & (field.sum(1) < visible)
    assume(partial.any())
    h0 = model.decoder.embedding(tokens).detach()
    before = model(tokens, real, h0=h0, routing=routing).logits[0]
    for token in range(9):
        changed = h0.clone()
        changed[0, token] += torch.randn(8, dtype=torch.float64)
        after = model(tokens, real, h0=changed, routing=routing).logits[0]
        differs = (after != before).any(-1)
        assert torch.equal(differs, field[:, token])
        assert (after[~field[:, token]] == before[~field[:, token]]).all()


def test_routing_itself_may_look_at_every_token():
    """The other side of the guarantee: unfixed, a token outside the field can flip decisions."""
    flipped = False
    for seed in range(20):
        torch.manual_seed(seed)
        model = Classifier(discrete("two"), 2).double().eval()
        tokens = torch.randint(3, 20, (1, 12))
        real = torch.ones_like(tokens, dtype=torch.bool)
        routing = argmax_decisions(model, tokens, real)
        outside = (receptive_field(routing)[0, 0] == 0).nonzero().flatten()
        changed = tokens.clone()
        changed[0, outside[-1]] = 3 + (tokens[0, outside[-1]] - 2) % 17
        after = argmax_decisions(model, changed, real)
        flipped |= any((a != b).any() for a, b in zip(routing, after, strict=True))
    assert flipped


@settings(max_examples=20)
@given(st.integers(0, 2**31), st.sampled_from(["single", "two"]))
def test_a_class_depends_on_the_field_of_cls_alone(seed, kind):
    torch.manual_seed(seed)
    model = Classifier(discrete(kind), 2).double().eval()
    tokens = torch.randint(3, 20, (1, 12))
    real = torch.ones_like(tokens, dtype=torch.bool)
    routing = argmax_decisions(model, tokens, real)
    inside = receptive_field(routing)[0, 0] > 0
    assume(1 < inside.sum() < 12)
    h0 = model.encoder.embedding(tokens).detach().requires_grad_()
    logits = model(tokens, real, h0=h0, routing=routing).logits
    gradient = torch.autograd.grad(logits.square().sum(), h0)[0][0].abs().sum(-1)
    assert torch.equal(gradient > 0, inside)
    assert (gradient[~inside] == 0).all()
