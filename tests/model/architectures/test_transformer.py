"""The architectures against slow loops over positions and heads."""

import math

import pytest
import torch
from torch import Tensor

from model.architectures.classifier import Classifier
from model.architectures.language_model import LanguageModel
from model.architectures.transformer import Transformer
from model.architectures.two_stream import TwoStreamTransformer
from model.kernels.dropout import Dropout
from model.layers.attention import Routing, Values, causal_mask, padding_mask
from model.layers.blocks import Embedding, sinusoids
from model.normalizers.gumbel import Gumbel
from model.normalizers.softmax import Softmax
from model.objectives.language_modelling import LanguageModelling

SIZES = {"width": 8, "hidden": 12, "layers": 2, "heads": 2}


def loop_attention(routing: Routing, values: Values, x: Tensor, allowed) -> tuple[Tensor, Tensor]:
    """Soft attention over x (T, D), one query, key and head at a time."""
    length, width = x.shape
    size = width // routing.heads
    q = x @ routing.query.weight.T + routing.query.bias
    k = x @ routing.key.weight.T + routing.key.bias
    v = x @ values.value.weight.T + values.value.bias
    context, weights = torch.zeros(length, width).double(), torch.zeros(2, length, length).double()
    for head in range(routing.heads):
        part = slice(head * size, (head + 1) * size)
        for i in range(length):
            keys = [j for j in range(length) if allowed(i, j)]
            e = [math.exp(float(q[i, part] @ k[j, part]) / math.sqrt(size)) for j in keys]
            for j, value in zip(keys, e, strict=True):
                weights[head, i, j] = value / sum(e)
                context[i, part] += weights[head, i, j] * v[j, part]
    return context @ values.output.weight.T + values.output.bias, weights


def loop_stack(model: Transformer, tokens: Tensor, allowed) -> Tensor:
    """A pre-norm stack on one sequence, layer by layer."""
    h = model.embedding(tokens[None])[0]
    for layer in model.layers:
        h = h + loop_attention(layer.routing, layer.values, layer.attend.norm(h), allowed)[0]
        h = h + layer.feed_forward(layer.transform.norm(h))
    return model.norm(h)


def test_a_causal_stack_and_a_padded_one_equal_the_loop_on_the_real_tokens():
    """With attention as in kinley2020 eq. 3.1."""
    model = Transformer(20, **SIZES, normalizer=Softmax()).double().eval()
    tokens = torch.randint(3, 20, (3, 6))
    padded = torch.cat([tokens, torch.zeros(3, 3, dtype=torch.long)], 1)
    causal = model(tokens, causal_mask(6, torch.device("cpu"))).state
    masked = model(padded, padding_mask(padded != 0)).state[:, :6]
    for row in range(3):
        assert torch.allclose(causal[row], loop_stack(model, tokens[row], lambda i, j: j <= i))
        assert torch.allclose(masked[row], loop_stack(model, tokens[row], lambda i, j: True))


def test_the_two_stream_update_equals_the_papers_equations():
    """Controller: soft attention on itself. Model stream: V'_z with z from the controller.

    kinley2020 section 4.2; discrete2020 section 5.
    """
    model = TwoStreamTransformer(20, **SIZES, normalizer=Gumbel()).double().eval()
    tokens = torch.randint(0, 20, (5,))
    encoded = model(tokens[None], torch.zeros(1, 1, 1, 5))
    g, h = model.controller_embedding(tokens[None])[0], model.embedding(tokens[None])[0]
    for number, (left, right) in enumerate(zip(model.controller, model.model_stream, strict=True)):
        b, c = left.attend.norm(g), right.attend.norm(h)
        read, soft = loop_attention(left.routing, left.values, b, lambda i, j: True)
        v = c @ right.values.value.weight.T + right.values.value.bias
        context = torch.zeros(5, 8).double()
        for head in range(2):
            for i in range(5):
                z = int(soft[head, i].argmax())
                assert encoded.weights[number][0, head, i].tolist() == [
                    float(j == z) for j in range(5)
                ]
                context[i, head * 4 : head * 4 + 4] = v[z, head * 4 : head * 4 + 4]
        g = g + read
        g = g + left.feed_forward(left.transform.norm(g))
        h = h + context @ right.values.output.weight.T + right.values.output.bias
        h = h + right.feed_forward(right.transform.norm(h))
    assert torch.allclose(encoded.state[0], model.norm(h))


def test_the_controller_never_reads_the_model_stream():
    model = TwoStreamTransformer(20, **SIZES, normalizer=Softmax()).double().eval()
    tokens, mask = torch.randint(0, 20, (2, 5)), torch.zeros(1, 1, 1, 5)
    h0 = model.embedding(tokens)
    one, two = model(tokens, mask, h0=h0), model(tokens, mask, h0=h0 * torch.randn_like(h0))
    assert all(torch.equal(a, b) for a, b in zip(one.weights, two.weights, strict=True))
    assert not torch.allclose(one.state, two.state)


def test_the_streams_have_embeddings_of_their_own_unless_shared():
    own = TwoStreamTransformer(20, **SIZES, normalizer=Gumbel())
    shared = TwoStreamTransformer(20, **SIZES, normalizer=Gumbel(), share_embeddings=True)
    assert own.embedding.token.weight.data_ptr() != own.controller_embedding.token.weight.data_ptr()
    assert not torch.equal(own.embedding.token.weight, own.controller_embedding.token.weight)
    assert shared.embedding is shared.controller_embedding


def test_attention_dropout_does_not_touch_the_sample():
    """Nor the scores of the layer that it acts in, but what the next layer's are made of."""
    model = TwoStreamTransformer(20, **{**SIZES, "layers": 2}, normalizer=Softmax(), dropout=0.5)
    tokens, mask = torch.randint(0, 20, (1, 5)), torch.zeros(1, 1, 1, 5)
    model.train()
    first = model.controller[0]
    model.controller_embedding.dropout.p = 0.0
    first.attend.dropout.p = first.transform.dropout.p = first.feed_forward[2].p = 0.0
    one, two = model(tokens, mask).weights, model(tokens, mask).weights
    assert torch.equal(one[0], two[0]) and not torch.equal(one[1], two[1])
    assert torch.allclose(one[0].sum(-1), torch.ones(1, 2, 5))


def test_a_causal_prediction_ignores_the_future():
    model = LanguageModel(20, Transformer(20, **SIZES, normalizer=Softmax())).double().eval()
    tokens = torch.randint(3, 20, (1, 7))
    real = torch.ones_like(tokens, dtype=torch.bool)
    later = tokens.clone()
    later[0, 5:] = 3 + (tokens[0, 5:] - 2) % 17
    one, two = model(tokens, real).logits, model(later, real).logits
    assert torch.equal(one[0, :5], two[0, :5])
    assert not torch.equal(one[0, 5:], two[0, 5:])


@pytest.mark.parametrize("stack", [Transformer, TwoStreamTransformer])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_class_ignores_padding(stack, norm):
    model = Classifier(stack(20, **SIZES, normalizer=Softmax(), norm=norm), 2).double().eval()
    tokens = torch.randint(3, 20, (1, 6))
    padded = torch.cat([tokens, torch.zeros(1, 4, dtype=torch.long)], 1)
    one, two = model(tokens, tokens != 0).logits, model(padded, padded != 0).logits
    assert torch.allclose(one, two, atol=1e-12)


def test_post_norm_normalises_after_the_residual():
    torch.manual_seed(0)
    model = Transformer(20, **SIZES, normalizer=Softmax(), norm="post").eval()
    state = model(torch.randint(0, 20, (2, 5)), torch.zeros(1, 1, 1, 5)).state
    assert torch.allclose(state.mean(-1), torch.zeros(2, 5), atol=1e-5)
    assert torch.allclose(state.var(-1, unbiased=False), torch.ones(2, 5), atol=1e-3)


def test_fixed_routing_is_used_as_it_is():
    model = Transformer(20, **SIZES, normalizer=Softmax()).double().eval()
    tokens, mask = torch.randint(0, 20, (2, 5)), torch.zeros(1, 1, 1, 5)
    free = model(tokens, mask)
    held = model(tokens, mask, routing=free.weights)
    assert torch.equal(free.state, held.state)
    other = model(tokens, mask, routing=[w.roll(1, -1) for w in free.weights])
    assert not torch.allclose(free.state, other.state)


def test_fused_attention_equals_explicit_attention():
    routing, values = Routing(8, 2).double(), Values(8, 2).double()
    x, mask = torch.randn(3, 6, 8).double(), causal_mask(6, torch.device("cpu")).double()
    explicit = values(x, routing(x, x, mask).softmax(-1))
    assert torch.allclose(routing.read_fused(x, x, mask, values), explicit)


def test_embeddings_have_unit_scale_and_sinusoids_are_the_papers():
    embedding = Embedding(5000, 64, "sinusoidal", 32, 0.0)
    embedded = embedding.tokens(torch.arange(5000)[None]).detach()
    assert float(embedded.std()) == pytest.approx(1, abs=0.02)
    table = sinusoids(50, 64)
    assert table[7, 0] == pytest.approx(math.sin(7))
    assert table[7, 32] == pytest.approx(math.cos(7))
    assert table[3, 31] == pytest.approx(math.sin(3e-4), abs=1e-6)


@pytest.mark.parametrize("p", [0.1, 0.4, 0.75])
def test_dropout_drops_and_rescales(p):
    torch.manual_seed(0)
    dropout = Dropout(p)
    x = torch.ones(301, 333)
    y = dropout(x)
    assert float((y == 0).float().mean()) == pytest.approx(p, abs=0.01)
    assert float(y.max()) == pytest.approx(1 / (1 - p), rel=1e-4)
    assert float(y.mean()) == pytest.approx(1, abs=0.02)
    assert torch.equal(dropout.eval()(x), x)
    # No pattern from drawing four elements at once: neighbours agree no more than chance.
    kept = (y.flatten() > 0).float()
    assert float((kept[1:] * kept[:-1]).mean()) == pytest.approx((1 - p) ** 2, abs=0.01)


@pytest.mark.parametrize("p", [0.1, 0.15, 0.3, 0.4])
def test_dropout_in_bf16_rescales_as_torch_does(p):
    x = torch.randn(3000).bfloat16().abs() + 1
    ours, theirs = Dropout(p)(x), torch.nn.functional.dropout(x, p)
    both = (ours != 0) & (theirs != 0)
    assert both.sum() > 500
    assert torch.equal(ours[both], theirs[both])


def test_the_objective_adds_lambda_times_the_mean_field(copies, language_spec):
    from model.batches.batching import in_order
    from model.build import build
    from model.layers.receptive_field import mean_field_size, receptive_field

    model = build(language_spec["model"], vocabulary_size=9).eval()
    batch = next(iter(in_order(copies.split("dev"), 4096, torch.device("cpu"))))
    plain = LanguageModelling().loss(model, batch, epoch=9)
    ramped = [
        float(LanguageModelling(0.1, 2).loss(model, batch, epoch=e).mean.detach())
        for e in (0, 1, 5)
    ]
    weights = model(batch.tokens[:, :-1], batch.real[:, :-1]).weights
    size = mean_field_size(receptive_field(weights), batch.real[:, :-1])
    nll, size = float(plain.mean.detach()), float(size.detach())
    assert ramped == pytest.approx([nll, nll + 0.05 * size, nll + 0.1 * size], rel=1e-5)
    assert size > 0.1
    assert plain.units == batch.tokens[:, 1:].numel()
