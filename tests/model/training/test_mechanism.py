"""A mapping that is no attention is refused before training, with what is wrong with it."""

import sys
import types

import pytest
import torch
from torch import nn

from model.training.preflight import check_mechanisms

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
        "path": "model.architectures.classifier:Classifier",
        "encoder": {
            "path": "model.architectures.transformer:Transformer",
            "heads": 4,
            "normalizer": node,
        },
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
    r"its weights have the shape \(2, 4, 5\)": lambda scores: scores.amax(-1),
    "some weights are not finite; take the -inf": lambda scores: (0 * scores).softmax(-1),
    "some weights are negative": lambda scores: 2 * scores.softmax(-1) - 1 / scores.shape[-1],
    "masked keys get a weight": lambda scores: torch.ones_like(scores) / scores.shape[-1],
    "rows sum to 2 to 2, not to 1": lambda scores: 2 * scores.softmax(-1),
    "the gradient of its weights is not finite": endless,
    "it fails with ZeroDivisionError: division by zero": lambda scores: 1 / 0,
    "it changes the scores that it is given; compute": lambda scores: scores.exp_() / scores.sum(),
}


class Hasty(nn.Module):
    """Softmax in training, and weights that do not sum to 1 afterwards."""

    def forward(self, scores):
        return scores.softmax(-1) * (1 if self.training else 3)


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
    given = r"given scores \(2, 4, 5, 7\) in training, "
    with pytest.raises(
        ValueError, match=f"own_attention:mine is no attention mechanism: {given}{fault}"
    ):
        check_mechanisms(model({"path": "own_attention:mine"}))


def said_of(node, **options):
    """The sentence about a mechanism, up to what all such sentences end with."""
    with pytest.raises(ValueError) as caught:
        check_mechanisms(node, **options)
    sentence, _, rest = str(caught.value).partition(". It maps scores (B, H, T, S), ")
    assert rest == "masked keys at -inf, to weights (docs/own_mechanism.md)."
    return sentence.partition("is no attention mechanism: ")[2]


def test_a_mechanism_for_one_number_of_keys_is_refused(own):
    own.mine = lambda scores: (scores + torch.zeros(7)).softmax(-1)
    said = said_of(model({"path": "own_attention:mine"}))
    assert said == "given scores (3, 4, 1, 1) in training, its weights have the shape (3, 4, 1, 7)"
    own.mine = lambda scores: (scores + torch.zeros(5, 7)).softmax(-1)[:, :, : scores.shape[2]]
    assert "given scores (3, 4, 1, 1) in training" in said_of(model({"path": "own_attention:mine"}))


def test_a_mechanism_that_fails_after_training_is_refused(own):
    own.Hasty = Hasty
    said = said_of(model({"path": "own_attention:Hasty"}))
    assert said == "given scores (2, 4, 5, 7) after training, rows sum to 3 to 3, not to 1"


def test_a_model_without_heads_has_one(own):
    def mine(scores):
        raise TypeError(tuple(scores.shape))

    own.mine = mine
    node = {
        "path": "model.architectures.lstm_classifier:X",
        "normalizer": {"path": "own_attention:mine"},
    }
    assert "it fails with TypeError: (2, 1, 5, 7)" in said_of(node)


def test_an_error_is_told_by_its_first_line_with_one_full_stop(own):
    def mine(scores):
        raise TypeError("It can't.\nIt really can't.")

    own.mine = mine
    assert said_of(model({"path": "own_attention:mine"})).endswith("TypeError: It can't")


def test_mechanisms_are_tried_on_the_device_of_the_run(own):
    class Placed(Careless):
        def forward(self, scores):
            raise TypeError(f"{scores.device} {self.factor.device}")

    own.Placed = Placed
    node = model({"path": "own_attention:Placed"})
    assert said_of(node, device=torch.device("meta")).endswith("TypeError: meta meta")


def test_what_is_the_gpus_fault_is_not_the_mechanisms(own):
    def mine(scores):
        raise RuntimeError("CUDA error: unspecified launch failure")

    own.mine = mine
    with pytest.raises(RuntimeError, match=r"^CUDA error"):
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
    with pytest.raises(ValueError, match=r"EntmaxAlpha is no attention mechanism: given .* fails"):
        check_mechanisms(model(node))
