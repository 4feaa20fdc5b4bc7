"""The transformer that reads the whole contract: as the other where there is no more to read."""

import copy
import math

import pytest
import torch

from model.architectures.context_transformer import ContextTransformer
from model.architectures.transformer import Transformer
from model.layers.attention import merge_heads, padding_mask, split_heads
from model.normalizers.differential import Differential
from model.normalizers.entmax_alpha import EntmaxAlpha
from model.normalizers.rela import ReLA
from model.normalizers.softmax import Softmax
from model.probes.fields.effective_field import effective_field
from model.probes.importance.classification import attention_importance
from model.probes.importance.deletion import deletion
from tests.model.corpora import learned, values
from tests.model.specs import part

SIZES = {"width": 8, "hidden": 12, "layers": 2, "heads": 2}


def scored():
    """Tokens with padding, and their mask."""
    tokens = torch.randint(3, 20, (3, 6)) * (torch.arange(6) < torch.tensor([[6], [4], [1]]))
    return tokens, padding_mask(tokens != 0)


@pytest.mark.parametrize("more", [{}, {"norm": "post", "positions": "learned", "dropout": 0.3}])
@pytest.mark.parametrize("normalizer", [Softmax(), EntmaxAlpha(2)])
def test_without_a_step_after_reading_it_is_the_transformer(normalizer, more):
    models = []
    for kind in (Transformer, ContextTransformer):
        torch.manual_seed(1)
        models.append(kind(20, **SIZES, normalizer=normalizer, **more))
    one, two = (dict(model.named_parameters()) for model in models)
    assert one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one)
    encoded = []
    for model in models:
        torch.manual_seed(2)
        encoded.append(model(*scored()))
    assert torch.equal(encoded[0].state, encoded[1].state)
    assert all(map(torch.equal, encoded[0].weights, encoded[1].weights))


class Doubling(Softmax):
    """Softmax whose step after reading is one that a doubled value projection would be."""

    def after(self, context):
        return 2 * context


def test_the_step_is_taken_on_what_every_head_reads():
    model = ContextTransformer(20, **SIZES, normalizer=Doubling()).double()
    plain = Transformer(20, **SIZES, normalizer=Softmax()).double()
    plain.load_state_dict(model.state_dict())
    tokens, mask = scored()
    found = model(tokens, mask)
    assert not torch.allclose(found.state, plain(tokens, mask).state)
    for layer in plain.layers:
        for parameter in layer.values.value.parameters():
            parameter.data *= 2
    assert torch.allclose(found.state, plain(tokens, mask).state)
    held = model(tokens, mask, routing=found.weights, need_weights=False)
    assert torch.equal(held.state, found.state)


def test_a_layer_of_rela_equals_its_equations():
    """The gated norm is over all heads together, before the output projection."""
    model = ContextTransformer(20, **{**SIZES, "layers": 1}, normalizer=ReLA(8)).double()
    tokens, mask = scored()
    layer, h = model.layers[0], model.embedding(tokens)
    x = layer.attend.norm(h)
    q, k, v = (split_heads(one(x), 2) for one in (
        layer.routing.query, layer.routing.key, layer.values.value))  # fmt: skip
    w = ((q @ k.transpose(-1, -2)) / 2 + mask).clamp(min=0)
    o = merge_heads(w @ v)
    norm = layer.normalizer
    z = norm.gain * o / (o.square().mean(-1, keepdim=True) + 1e-8).sqrt()
    h = h + layer.values.output(z * torch.sigmoid(norm.gate * o))
    h = h + layer.feed_forward(layer.transform.norm(h))
    found = model(tokens, mask)
    assert torch.allclose(found.weights[0], w) and torch.allclose(found.state, model.norm(h))


def test_each_layer_has_its_depth_and_its_own_start():
    torch.manual_seed(0)
    given = Differential(4)
    model = ContextTransformer(20, **SIZES, normalizer=given)
    first, second = (layer.normalizer for layer in model.layers)
    assert [first.depth, second.depth, given.depth] == [0, 1, 0]
    assert torch.equal(first.keys, given.keys) and not torch.equal(second.keys, given.keys)
    again = copy.deepcopy(model).layers[1].normalizer
    assert again.depth == 1 and torch.equal(again.keys, second.keys)


CONTEXT = "context_transformer:ContextTransformer"
STATES = "state_transformer:StateTransformer"
NORMED = "normed_transformer:NormedTransformer"


@pytest.mark.parametrize(("encoder", "name", "arguments"), [
    (CONTEXT, "rela:ReLA", {"width": 16}), (CONTEXT, "softpick:Softpick", {}),
    (CONTEXT, "length_scaled:ASEntmax", {"heads": 2}),
    (CONTEXT, "differential:Differential", {"head_width": 8}),
    (CONTEXT, "argmax:Argmax", {}), (CONTEXT, "sigmoid:Sigmoid", {}),
    (CONTEXT, "sink:Sink", {"heads": 2}), (CONTEXT, "stick_breaking:StickBreaking", {}),
    (STATES, "gated:Gated", {"width": 16, "heads": 2}),
    (STATES, "forgetting:Forgetting", {"width": 16, "heads": 2}),
    (STATES, "lightning_indexer:LightningIndexer", {"width": 16, "k": 3}),
    (NORMED, "threshold_relative:ThresholdRelative", {"width": 16, "heads": 2}),
    (NORMED, "threshold_differential:ThresholdDifferential", {"head_width": 8}),
])  # fmt: skip
def test_a_classifier_learns_the_keyword_and_is_measured(
    keywords, classifier_spec, encoder, name, arguments
):
    """All that the table of mechanisms shows is defined, also where weights are negative."""
    normalizer = part(f"normalizers.{name}", **arguments)
    classifier_spec["model"]["encoder"] |= part(f"architectures.{encoder}", normalizer=normalizer)
    classifier_spec["training"]["epochs"] = 8
    subject, rows = learned(classifier_spec, keywords)
    assert max(row["accuracy"] for row in rows if row["split"] == "dev") > 90
    for probe in (attention_importance, effective_field, deletion):
        found = values(probe(subject))
        assert all(math.isfinite(value) for value in found.values())
