"""Tiny encoder-decoders with a Role Interaction Layer of every kind, for the tests of it."""

from typing import Any

from torch import nn

from model.architectures.translation.with_roles import RoleEncoderDecoder
from model.layers.role_interaction import Roles
from model.normalizers.gumbel import Gumbel
from model.normalizers.softmax import Softmax
from tests.model.translators import SIZES

KINDS: dict[str, dict[str, Any]] = {
    "dense": {},
    "softmax": {"assignment": Softmax()},
    "onehot": {"assignment": Gumbel()},
    "plain": {"assignment": Softmax(), "residual": False},
    "rank 1": {"combination": "rank_1"},
    "contextualised": {"combination": "added"},
    "convolution": {"assignment": Softmax(), "window": 3},
    "exclusive": {"assignment": Softmax(), "inclusive": False},
    "exclusive convolution": {"window": 3, "inclusive": False},
}


def make_roles(kind: str, vocabulary: int = 20, **changes: Any) -> RoleEncoderDecoder:
    """A tiny model in double precision, in evaluation mode; onehot takes the largest role."""
    roles = Roles(5, **KINDS[kind])
    settings = {**SIZES, "normalizer": Softmax(), "roles": roles, **changes}
    model = RoleEncoderDecoder(vocabulary, **settings).double().eval()
    for layer in model.modules():
        if isinstance(layer, nn.LSTM):  # gates that depend on their input, and biases
            for parameter in layer.parameters():
                nn.init.normal_(parameter, std=0.5)
    return model
