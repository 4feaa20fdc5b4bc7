"""A mapping that is no attention is refused before training, with what is wrong with it."""

import sys
import types

import pytest
import torch
from torch import nn

from model.mechanism import check_mechanisms

NORMALIZERS = [
    {"path": "model.normalizers.softmax:Softmax"},
    {"path": "model.normalizers.topk:TopK", "k": 3},
    {"path": "model.normalizers.sparsemax:Sparsemax"},
    {"path": "model.normalizers.entmax15:Entmax15"},
    {"path": "model.normalizers.entmax_alpha:EntmaxAlpha", "heads": 4},
    {"path": "model.normalizers.gumbel:Gumbel", "straight_through": True},
]


def model(node: dict) -> dict:
    """A classifier's node with a normaliser."""
    return {
        "path": "model.classifier:Classifier",
        "encoder": {"path": "model.transformer:Transformer", "heads": 4, "normalizer": node},
    }


class Constant(nn.Module):
    """Weights that no score changes."""

    def forward(self, scores):
        seen = scores.isfinite().float()
        return seen / seen.sum(-1, keepdim=True)


class Careless(nn.Module):
    """A learned factor on -inf: the weights are right, and the factor's gradient is no number."""

    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.ones(()))

    def forward(self, scores):
        return (scores * self.factor).softmax(-1)


def endless(scores):
    """Softmax whose gradient is not finite."""
    return scores.softmax(-1) + 0 * (scores.detach() - scores).clamp(max=0).sqrt().nan_to_num()


FAULTS = {
    "it returns NoneType, no tensor": lambda scores: None,
    r"scores \(2, 4, 5, 7\) become weights \(2, 4, 5\)": lambda scores: scores.amax(-1),
    "some weights are not finite; take the -inf": lambda scores: (0 * scores).softmax(-1),
    "some weights are negative": lambda scores: 2 * scores.softmax(-1) - 1 / scores.shape[-1],
    "masked keys get a weight": lambda scores: torch.ones_like(scores) / scores.shape[-1],
    "rows sum to 2 to 2, not to 1": lambda scores: 2 * scores.softmax(-1),
    "the gradient of its weights is not finite": endless,
    "it fails with ZeroDivisionError: division by zero": lambda scores: 1 / 0,
}


@pytest.fixture
def own(monkeypatch):
    """A module of the user's."""
    module = types.ModuleType("own_attention")
    monkeypatch.setitem(sys.modules, "own_attention", module)
    return module


@pytest.mark.parametrize("node", NORMALIZERS, ids=lambda node: node["path"])
def test_the_projects_own_pass_and_the_random_state_stays(node):
    state = torch.get_rng_state()
    check_mechanisms(model(node))
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_no_attention_is_refused(own, fault):
    own.mine = FAULTS[fault]
    with pytest.raises(ValueError, match=f"own_attention:mine is no attention mechanism: {fault}"):
        check_mechanisms(model({"path": "own_attention:mine"}))


def test_weights_without_a_gradient_pass(own):
    own.Constant = Constant
    check_mechanisms(model({"path": "own_attention:Constant"}))


def test_a_parameter_without_a_finite_gradient_is_refused(own):
    own.Careless = Careless
    with pytest.raises(ValueError, match="the gradient of its weights is not finite; mind the"):
        check_mechanisms(model({"path": "own_attention:Careless"}))


def test_another_number_of_heads_is_refused():
    node = {"path": "model.normalizers.entmax_alpha:EntmaxAlpha", "heads": 8}
    with pytest.raises(ValueError, match="EntmaxAlpha is no attention mechanism: it fails with"):
        check_mechanisms(model(node))
