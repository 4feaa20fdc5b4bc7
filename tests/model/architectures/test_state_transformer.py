"""The transformer whose mechanisms read states: gated and forgetting attention against loops."""

import math

import pytest
import torch

from model.architectures.context_transformer import ContextTransformer
from model.architectures.state_transformer import StateTransformer
from model.layers.attention import causal_mask
from model.normalizers.forgetting import Forgetting
from model.normalizers.gated import Gated
from model.normalizers.rela import ReLA
from model.normalizers.softmax import Softmax

SIZES = {"width": 8, "hidden": 12, "layers": 2, "heads": 2}


def encoded(kind, normalizer):
    """Tokens' states of a model with some parameters."""
    torch.manual_seed(1)
    model = kind(20, **SIZES, normalizer=normalizer).double()
    return model, model(torch.arange(3, 9)[None], causal_mask(6, torch.device("cpu")))


@pytest.mark.parametrize("normalizer", [Softmax(), ReLA(8)])
def test_without_states_it_is_the_other_transformer(normalizer):
    (one, first), (two, second) = (
        encoded(kind, normalizer) for kind in (ContextTransformer, StateTransformer)
    )
    assert all(map(torch.equal, one.state_dict().values(), two.state_dict().values()))
    assert torch.allclose(first.state, second.state)


def test_the_steps_get_the_states_that_scores_are_made_of():
    """Weights that are held fixed are used as they are."""
    model, found = encoded(StateTransformer, Forgetting(8, 2))
    layer, h = model.layers[0], model.embedding(torch.arange(3, 9)[None])
    x = layer.attend.norm(h)
    scores = layer.routing(x, x, causal_mask(6, torch.device("cpu")))
    expected = layer.normalizer(layer.normalizer.before(scores, x, x))
    assert torch.allclose(found.weights[0], expected)
    mask = causal_mask(6, torch.device("cpu"))
    again = model(torch.arange(3, 9)[None], mask, routing=found.weights)
    assert torch.equal(again.state, found.state)


def test_gates_are_those_of_a_loop():
    module = Gated(8, 2).double()
    context, states = torch.randn(2, 2, 3, 4).double(), torch.randn(2, 3, 8).double()
    found = module.after(context, states)
    for b, h, t, k in torch.cartesian_prod(*map(torch.arange, context.shape)).tolist():
        row = module.gate.weight[4 * h + k]
        gate = 1 / (1 + math.exp(-sum((row * states[b, t]).tolist())))
        assert found[b, h, t, k].item() == pytest.approx(context[b, h, t, k].item() * gate)
    states.requires_grad_()
    assert torch.autograd.gradcheck(module.after, (context.requires_grad_(), states))


def test_what_fades_is_that_of_a_loop():
    module = Forgetting(8, 2).double()
    torch.nn.init.normal_(module.gate.weight)
    torch.nn.init.normal_(module.gate.bias)
    module.requires_grad_(False)
    x = torch.randn(2, 5, 8).double()
    scores = torch.randn(2, 2, 5, 5).double() + causal_mask(5, torch.device("cpu"))
    found = module(module.before(scores, x, x))
    for b, h, i in torch.cartesian_prod(*map(torch.arange, (2, 2, 5))).tolist():
        terms = []
        for j in range(i + 1):
            kept = 1.0
            for later in range(j + 1, i + 1):
                logit = (module.gate.weight[h] * x[b, later]).sum() + module.gate.bias[h]
                kept /= 1 + math.exp(-logit)
            terms.append(kept * math.exp(scores[b, h, i, j]))
        expected = [term / sum(terms) for term in terms] + [0] * (4 - i)
        assert found[b, h, i].tolist() == pytest.approx(expected)
    real = torch.randn(1, 2, 3, 3).double().requires_grad_()
    x = x[:1, :3].requires_grad_()
    assert torch.autograd.gradcheck(lambda s, x: module(module.before(s, x, x)), (real, x))
