"""The Role Interaction Layer against slow loops and causality."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from model.kernels.role_sum import role_sum
from model.layers.role_context import ConvolutionContext, LSTMContext
from model.layers.role_interaction import RoleInteraction, Roles
from model.normalizers.gumbel import Gumbel
from model.normalizers.softmax import Softmax
from tests.model.compare import close
from tests.model.translators import KINDS, sentences

D, R = 6, 5


def layer_of(kind: str, causal: bool) -> RoleInteraction:
    layer = RoleInteraction(D, Roles(R, **KINDS[kind]), causal, dropout=0.3).double().eval()
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.5)
    return layer


def packed(lengths: list[int]) -> tuple[Tensor, object]:
    _, layout = sentences(lengths)
    return torch.randn(sum(lengths), D, dtype=torch.float64), layout


def lstm_by_hand(lstm: nn.LSTM, e: list[Tensor]) -> list[Tensor]:
    """Hochreiter and Schmidhuber's cell, one token after the other."""
    h = c = torch.zeros(lstm.hidden_size, dtype=torch.float64)
    states = []
    for x in e:
        gates = lstm.weight_ih_l0 @ x + lstm.bias_ih_l0 + lstm.weight_hh_l0 @ h + lstm.bias_hh_l0
        i, f, g, o = gates.chunk(4)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        states.append(h)
    return states


def context_by_hand(context, e: list[Tensor], causal: bool) -> list[Tensor]:
    zero = torch.zeros(D, dtype=torch.float64)
    if isinstance(context, LSTMContext):
        right = lstm_by_hand(context.rightward.lstm, e)
        if causal:
            return [zero, *right][: len(e)] if context.exclusive else right
        left = lstm_by_hand(context.leftward.lstm, e[::-1])[::-1]
        return [torch.cat(pair) for pair in zip(right, left, strict=True)]
    weight = context.linear.weight.view(D, context.window, D)
    last = 0 if causal else context.window // 2
    last -= causal and context.exclusive
    states = []
    for t in range(len(e)):
        total = context.linear.bias.clone()
        for place in range(context.window):
            at = t + last - context.window + 1 + place
            if 0 <= at < len(e):
                total += weight[:, place] @ e[at]
        states.append(total.clamp(min=0))
    return states


def layer_by_hand(layer: RoleInteraction, e: list[Tensor], kind: str, causal: bool) -> list[Tensor]:
    result = []
    for token, context in zip(e, context_by_hand(layer.context, e, causal), strict=True):
        r = torch.tanh(layer.dense.weight @ context + layer.dense.bias)
        if layer.scores is not None:
            scores = [float(u @ r) for u in layer.scores.weight]
            total = sum(math.exp(score) for score in scores)
            r = torch.tensor([math.exp(score) / total for score in scores], dtype=torch.float64)
            if kind == "onehot":
                r = torch.eye(R, dtype=torch.float64)[scores.index(max(scores))]
        combine = layer.combine
        if kind == "rank 1":
            both = (combine.of_roles.weight @ r) * (combine.of_token.weight @ token)
            changed = combine.output.weight @ both
        elif kind == "contextualised":
            changed = combine.of_roles.weight @ r
        else:
            changed = torch.zeros_like(token)
            for i in range(R):  # the parameter holds the transpose of U_i
                changed += r[i] * (combine.transforms[i].T @ token)
        result.append(changed if kind == "plain" else changed + token)
    return result


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("causal", [False, True])
@torch.no_grad()
def test_the_layer_equals_the_papers_equations(kind, causal):
    """One token after the other (weissenborn2019 eq. 4, 5, 7, 8, section 4)."""
    layer, lengths = layer_of(kind, causal), [4, 1, 6]
    e, layout = packed(lengths)
    found = layer(e, layout).split(lengths)
    for one, sentence in zip(found, e.split(lengths), strict=True):
        expected = torch.stack(layer_by_hand(layer, list(sentence), kind, causal))
        assert torch.allclose(one, expected, atol=1e-9)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4), st.integers(1, 600))
def test_the_sum_over_roles_is_einsums(seed, number, width, tokens):
    """And so are its gradients (weissenborn2019 eq. 5)."""
    torch.manual_seed(seed)
    inputs = [
        torch.randn(shape, dtype=torch.float64, requires_grad=True)
        for shape in ((tokens, number), (tokens, width), (number, width, width))
    ]
    incoming = torch.randn(tokens, width, dtype=torch.float64)
    found = role_sum(*inputs)
    expected = torch.einsum("nr,nd,rdo->no", *inputs)
    assert torch.allclose(found, expected)
    ours, theirs = (torch.autograd.grad(y, inputs, incoming) for y in (found, expected))
    assert close(ours, theirs)


def test_the_sum_is_in_reduced_precision_where_products_are():
    roles, e, transforms = torch.rand(9, 3), torch.randn(9, 4), torch.randn(3, 4, 4)
    exact = role_sum(roles, e, transforms.requires_grad_())
    with torch.autocast("cpu", torch.bfloat16):
        found = role_sum(roles, e, transforms)
    assert found.dtype == torch.bfloat16
    assert torch.allclose(found.float(), exact, atol=0.15)
    found.sum().backward()
    assert transforms.grad.dtype == torch.float32


def test_a_one_hot_role_is_a_relaxed_sample_in_training():
    torch.manual_seed(0)
    layer = layer_of("onehot", causal=False)
    e, layout = packed([5])
    hard = layer.assign(e, layout)
    assert torch.equal(hard, hard.round())
    assert torch.equal(hard.sum(1), torch.ones(5, dtype=torch.float64))
    soft = layer.train().assign(e, layout)
    assert ((soft > 0) & (soft < 1)).all()
    assert not torch.allclose(soft, layer.assign(e, layout))


def test_dropout_falls_on_the_roles():
    layer = layer_of("contextualised", causal=False).train()
    e, layout = packed([40, 40])
    layer.combine.of_roles.weight.data = torch.eye(D, R, dtype=torch.float64)
    kept = (layer(e, layout) - e)[:, :R] != 0
    assert 0.6 < float(kept.double().mean()) < 0.8


def test_a_layer_has_a_copy_of_the_assignment():
    roles = Roles(3, Gumbel())
    layers = [RoleInteraction(4, roles, causal, 0.0) for causal in (False, True)]
    layers[0].assignment.temperature = 0.5
    assert layers[1].assignment.temperature == roles.assignment.temperature == 1.0
    assert not isinstance(Roles(3, Softmax()).assignment, Gumbel)
    assert isinstance(RoleInteraction(4, Roles(3, window=3), True, 0.0).context, ConvolutionContext)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=10)
@given(
    seed=st.integers(0, 10**6),
    lengths=st.lists(st.integers(1, 7), min_size=1, max_size=4),
    data=st.data(),
)
def test_no_later_target_token_changes_a_role(kind, seed, lengths, data):
    torch.manual_seed(seed)
    layer = layer_of(kind, causal=True)
    e, layout = packed(lengths)
    row = data.draw(st.integers(0, len(lengths) - 1))
    place = data.draw(st.integers(0, lengths[row] - 1))
    start = sum(lengths[:row])
    changed = e.clone()
    # An inclusive role may depend on its own token.
    inclusive = KINDS[kind].get("inclusive", True)
    changed[start + place + inclusive : start + lengths[row]] += 3.0
    before, after = layer.assign(e, layout), layer.assign(changed, layout)
    assert torch.equal(before[: start + place + 1], after[: start + place + 1])
    assert torch.equal(before[start + lengths[row] :], after[start + lengths[row] :])


@pytest.mark.parametrize("kind", ["dense", "softmax", "convolution"])
@torch.no_grad()
def test_on_the_source_side_a_role_depends_on_later_tokens_too(kind):
    layer = layer_of(kind, causal=False)
    e, layout = packed([4])
    changed = e.clone()
    changed[1] += 3.0
    moved = (layer.assign(e, layout) - layer.assign(changed, layout)).abs().amax(1)
    assert (moved[:3] > 1e-6).all()


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_steps_equal_the_whole_sentence(kind):
    layer = layer_of(kind, causal=True)
    e, layout = packed([6, 6])
    whole, state = layer(e, layout).view(2, 6, D), ()
    for t in range(6):
        found, state = layer.step(e.view(2, 6, D)[:, t], state)
        assert torch.allclose(found, whole[:, t], atol=1e-12)
