"""Scores of normed queries and keys against cosines one by one."""

import math

import pytest
import torch

from model.architectures.normed_transformer import NormedTransformer
from model.architectures.state_transformer import StateTransformer
from model.layers.attention import Routing, causal_mask
from model.layers.qk_norm import NormedRouting
from model.normalizers.softmax import Softmax


def test_scores_are_cosines_times_the_root_of_the_size():
    torch.manual_seed(0)
    routing = Routing(8, 2).double()
    x, mask = torch.randn(2, 4, 8).double(), causal_mask(4, torch.device("cpu"))
    scores = NormedRouting(routing)(x, x, mask)
    q, k = routing.query(x), routing.key(x)
    for b, h, t, s in torch.cartesian_prod(*map(torch.arange, scores.shape)).tolist():
        one, other = (side[b, i, 4 * h : 4 * h + 4] for side, i in ((q, t), (k, s)))
        cosine = float(one @ other) / math.sqrt(float(one @ one) * float(other @ other))
        expected = 2 * cosine if s <= t else -math.inf
        assert scores[b, h, t, s].item() == pytest.approx(expected)


def test_a_normed_transformer_differs_in_its_scores_alone():
    sizes = {"vocabulary_size": 9, "width": 8, "hidden": 12, "layers": 2, "heads": 2}
    models = []
    for kind in (StateTransformer, NormedTransformer):
        torch.manual_seed(1)
        models.append(kind(**sizes, normalizer=Softmax()))
    usual, normed = models
    assert all(map(torch.equal, usual.state_dict().values(), normed.state_dict().values()))
    tokens, mask = torch.arange(3, 8)[None], causal_mask(5, torch.device("cpu"))
    layer = normed.layers[0]
    x = layer.attend.enter(normed.embedding(tokens))
    assert torch.equal(normed(tokens, mask).weights[0], layer.routing(x, x, mask).softmax(-1))
    assert not torch.allclose(normed(tokens, mask).state, usual(tokens, mask).state)
