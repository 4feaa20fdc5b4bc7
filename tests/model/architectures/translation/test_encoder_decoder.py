"""Encoder-decoders against independent implementations and invariances."""

import math

import pytest
import torch
from torch import Tensor, nn

from benchmarks.baseline import TorchTransformer, same_weights
from model.architectures.translation.encoder_decoder import EncoderDecoder
from model.architectures.translation.translator import Attentions
from model.architectures.translation.two_stream import TwoStreamEncoderDecoder
from model.build import build
from model.layers.cached_attention import Attend
from model.normalizers.gumbel import Gumbel
from model.normalizers.softmax import Softmax
from model.normalizers.topk import TopK
from tests.model.compare import close
from tests.model.specs import part
from tests.model.translators import MECHANISMS, SIZES, make, sides
from workflow.runtime.mechanism_check import check_mechanisms


def linear(layer: nn.Linear, x: Tensor, part: int = 0, parts: int = 1) -> Tensor:
    """One part of a packed projection."""
    return x @ layer.weight.chunk(parts)[part].T + layer.bias.chunk(parts)[part]


def loop_weights(q: Tensor, k: Tensor, normalizer: nn.Module, allowed, heads: int) -> list[Tensor]:
    """Weights (T, S) of every head: scores one pair at a time, then the normaliser on them."""
    size = q.shape[1] // heads
    result = []
    for head in range(heads):
        part = slice(head * size, (head + 1) * size)
        scores = torch.full((len(q), len(k)), -math.inf, dtype=q.dtype)
        for i in range(len(q)):
            for j in range(len(k)):
                if allowed(i, j):
                    scores[i, j] = float(q[i, part] @ k[j, part]) / math.sqrt(size)
        result.append(scores)
    return list(normalizer(torch.stack(result)[None])[0])


EVERYWHERE, BACKWARDS = (lambda i, j: True), (lambda i, j: j <= i)


def loop_read(weights: list[Tensor], v: Tensor) -> Tensor:
    size = v.shape[1] // len(weights)
    return torch.cat([w @ v[:, n * size : (n + 1) * size] for n, w in enumerate(weights)], 1)


@pytest.mark.parametrize("mechanism", ["softmax", "top-k", "discrete", "learned alpha"])
@torch.no_grad()
def test_one_stream_equals_the_papers_equations(mechanism):
    """Post-norm: h <- norm(h + A V), then h <- norm(h + FFN(h)), one sentence by itself.

    Its attention is that of zhao2019 eq. 1, 4, 7, 8.
    """
    model = make(mechanism)
    inputs = source, _, target, _ = sides([5, 3], [4, 6])
    found, expected = model(*inputs).states.split([4, 6]), []
    for row, (s, t) in enumerate([(5, 4), (3, 6)]):
        e = model.source.tokens(source[row, :s]) + model.source.position[:s]
        for layer in model.encoder:
            q, k, v = (linear(layer.read.project, e, n, 3) for n in range(3))
            a = loop_weights(q, k, layer.read.attend.normalizer, EVERYWHERE, 2)
            e = layer.attend.norm(e + linear(layer.read.output, loop_read(a, v)))
            e = layer.transform.norm(e + layer.feed_forward(e))
        d = model.target.tokens(target[row, :t]) + model.target.position[:t]
        for layer in model.decoder:
            q, k, v = (linear(layer.read.project, d, n, 3) for n in range(3))
            a = loop_weights(q, k, layer.read.attend.normalizer, BACKWARDS, 2)
            d = layer.attend.norm(d + linear(layer.read.output, loop_read(a, v)))
            q = linear(layer.cross.query, d)
            k, v = (linear(layer.cross.memory, e, n, 2) for n in range(2))
            a = loop_weights(q, k, layer.cross.attend.normalizer, EVERYWHERE, 2)
            d = layer.consult.norm(d + linear(layer.cross.output, loop_read(a, v)))
            d = layer.transform.norm(d + layer.feed_forward(d))
        expected.append(d)
    assert close(found, expected, atol=1e-9)


@torch.no_grad()
def test_two_streams_equal_the_papers_equations():
    """Pre-norm. K and V from the encoder's controller, V' from its model stream, Q from the
    decoder's controller; z is the argmax of the controller's scores.

    kinley2020 section 4.2; discrete2020 section 5.
    """
    model = make("two-stream", norm="pre")
    inputs = source, _, target, _ = sides([5], [4])
    soft, hard = Softmax(), Gumbel().eval()
    g = model.controller_source.tokens(source[0]) + model.source.position[:5]
    h = model.source.tokens(source[0]) + model.source.position[:5]
    for left, right in zip(model.encoder_controller, model.encoder_stream, strict=True):
        b, c = left.read.residual.norm(g), right.read.residual.norm(h)
        q, k, v = (linear(left.read.project, b, n, 3) for n in range(3))
        a, z = (loop_weights(q, k, f, EVERYWHERE, 2) for f in (soft, hard))
        g = g + linear(left.read.output, loop_read(a, v))
        h = h + linear(right.read.output, loop_read(z, linear(right.read.value, c)))
        g = g + left.transform.feed_forward(left.transform.residual.norm(g))
        h = h + right.transform.feed_forward(right.transform.residual.norm(h))
    g_source, h_source = model.controller_norm(g), model.encoder_norm(h)
    g = model.controller_target.tokens(target[0]) + model.source.position[:4]
    h = model.target.tokens(target[0]) + model.source.position[:4]
    for left, right in zip(model.decoder_controller, model.decoder_stream, strict=True):
        b, c = left.read.residual.norm(g), right.read.residual.norm(h)
        q, k, v = (linear(left.read.project, b, n, 3) for n in range(3))
        a, z = (loop_weights(q, k, f, BACKWARDS, 2) for f in (soft, hard))
        g = g + linear(left.read.output, loop_read(a, v))
        h = h + linear(right.read.output, loop_read(z, linear(right.read.value, c)))
        last = left is model.decoder_controller[-1]
        b = (left.cross.norm if last else left.cross.residual.norm)(g)
        q = linear(left.cross.query if last else left.cross.project, b)
        k = linear(left.cross.memory, g_source, 0, 1 if last else 2)
        a, z = (loop_weights(q, k, f, EVERYWHERE, 2) for f in (soft, hard))
        if not last:
            v = linear(left.cross.memory, g_source, 1, 2)
            g = g + linear(left.cross.output, loop_read(a, v))
            g = g + left.transform.feed_forward(left.transform.residual.norm(g))
        h = h + linear(right.cross.output, loop_read(z, linear(right.cross.value, h_source)))
        h = h + right.transform.feed_forward(right.transform.residual.norm(h))
    assert torch.allclose(model(*inputs).states, model.decoder_norm(h), atol=1e-9)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_every_parameter_is_trained(mechanism, norm):
    model = make(mechanism, norm=norm, tie="none").train()
    states = model(*sides([5, 4], [3, 6])).states
    (model.logits(states) * torch.randn(9, 20).double()).sum().backward()
    assert [name for name, p in model.named_parameters() if p.grad is None] == []


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("norm", ["pre", "post"])
@torch.no_grad()
def test_padding_changes_nothing(mechanism, norm):
    model = make(mechanism, norm=norm)
    alone, together = sides([4], [3]), sides([4, 9], [3, 7])
    together[0][0, :4], together[2][0, :3] = alone[0][0], alone[2][0]
    assert torch.allclose(model(*alone).states, model(*together).states[:3], atol=1e-10)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@torch.no_grad()
def test_no_later_word_changes_an_earlier_prediction(mechanism):
    model = make(mechanism)
    source, source_layout, target, layout = sides([5], [7])
    changed = target.clone()
    changed[0, 4:] = 3 + (target[0, 4:] - 2) % 17
    one, two = (model(source, source_layout, t, layout).states for t in (target, changed))
    assert torch.allclose(one[:4], two[:4], atol=1e-12)
    assert not torch.allclose(one[4:], two[4:])


@torch.no_grad()
def test_every_place_has_its_normalizer():
    places = {"encoder_normalizer": TopK(1), "cross_normalizer": Gumbel()}
    for kind in (EncoderDecoder, TwoStreamEncoderDecoder):
        model = kind(20, **SIZES, normalizer=Softmax(), **places).double().eval()
        weights = model(*sides([5, 4], [6, 3]), need_weights=True).weights
        for one_hot in (weights.encoder[0][0], weights.cross[1][0]):
            assert set(one_hot.unique().tolist()) == {0.0, 1.0}
        assert ((weights.decoder[0][0] > 0) == torch.ones(6, 6).tril().bool()).all()
        assert (weights.encoder[1][1, :, :, 4:] == 0).all()


@pytest.mark.parametrize("mechanism", ["softmax", "two-stream"])
@torch.no_grad()
def test_fixed_routing_and_given_embeddings_are_used(mechanism):
    model = make(mechanism)
    inputs = source, *_ = sides([5, 4], [6, 3])
    free = model(*inputs, need_weights=True)

    def states(**more):
        return model(*inputs, **more).states

    assert torch.allclose(free.states, states(routing=free.weights), atol=1e-12)
    rolled = Attentions(*([w.roll(1, -1) for w in place] for place in free.weights))
    assert not torch.allclose(free.states, states(routing=rolled))
    h0 = model.source.tokens(source) + model.source.position[:5]
    assert torch.allclose(free.states, states(h0=h0), atol=1e-12)
    assert not torch.allclose(free.states, states(h0=h0.roll(1, 1)))
    assert model(*inputs).weights.cross == []


@torch.no_grad()
def test_the_controller_never_reads_the_model_stream():
    model = make("two-stream")
    inputs, h0 = sides([5, 4], [6, 3]), torch.randn(2, 5, 8).double()
    runs = [model(*inputs, h0=x, need_weights=True) for x in (h0, -h0)]
    assert all(close(*place, atol=0) for place in zip(*(run.weights for run in runs), strict=True))
    assert not torch.allclose(runs[0].states, runs[1].states)


def test_attention_dropout_does_not_touch_the_samples():
    model = make("two-stream top-k", attention_dropout=0.5, layers=1).train()
    inputs = sides([5], [6])
    one, two = (model(*inputs, need_weights=True) for _ in "ab")
    assert torch.equal(one.weights.decoder[0], two.weights.decoder[0])
    assert not torch.equal(one.weights.cross[0], two.weights.cross[0])  # the controller's reading


def test_tied_words_are_one_matrix():
    everything = make("softmax")
    assert everything.source is everything.target
    assert everything.output_weight is everything.source.token.weight
    decoder = make("softmax", tie="decoder", source_vocabulary_size=30)
    assert decoder.source.token.weight.shape == (30, 8)
    assert decoder.output_weight is decoder.target.token.weight
    untied = make("softmax", tie="none")
    assert untied.output_weight is not untied.target.token.weight
    two = make("two-stream")
    assert two.controller_source is two.controller_target is not two.source
    shared = make("two-stream", share_embeddings=True)
    assert shared.controller_source is shared.source


@torch.no_grad()
def test_fused_attention_equals_explicit_attention():
    q, k, v = torch.randn(3, 2, 2, 5, 4).double()
    mask = torch.zeros(2, 1, 1, 5).double()
    mask[1, ..., 3:] = -math.inf
    explicit, _ = Attend(Softmax(), 0.0)(q, k, v, mask, None, True)
    fused = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    assert torch.allclose(explicit, fused)


def test_a_model_is_built_from_its_node():
    node = {
        "path": "model.architectures.translation.two_stream:TwoStreamEncoderDecoder", **SIZES,
        "normalizer": part("normalizers.gumbel:Gumbel", temperature=2.0),
        "cross_normalizer": part("normalizers.topk:TopK", k=3),
        "norm": "pre", "dropout": 0.1,
    }  # fmt: skip
    check_mechanisms(node)
    model = build(node, vocabulary_size=11)
    assert model.output_weight.shape == (11, 8)
    assert model.cross_normalizers[1].k == 3
    assert model.encoder_normalizers[0].temperature == 2.0
    assert model.encoder_normalizers[0] is not model.encoder_normalizers[1]


@torch.no_grad()
def test_the_same_weights_in_torchs_transformer_give_the_same_logits():
    ours = make("softmax", width=16)
    theirs = TorchTransformer(20, **{**SIZES, "width": 16}, dropout=0.1).double().eval()
    same_weights(ours, theirs)
    source, source_layout, target, layout = sides([5, 3, 7], [4, 6, 2])
    logits = ours.logits(ours(source, source_layout, target, layout).states)
    states = theirs.stacks(
        theirs.embed(source), theirs.embed(target),
        tgt_mask=torch.full((6, 6), -math.inf).triu(1).double(),
        src_key_padding_mask=~source_layout.real, memory_key_padding_mask=~source_layout.real,
    )  # fmt: skip
    assert torch.allclose(logits, layout.pack(states) @ theirs.embedding.weight.T, atol=1e-10)


def test_dropout_is_drawn_from_the_global_generator():
    """So that a run resumes from the state of that generator."""
    model = make("two-stream", dropout=0.3, hidden_dropout=0.2, attention_dropout=0.1).train()
    both = sides([5], [6])
    states = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        states.append(model(*both).states)
    assert torch.equal(states[0], states[1])
    assert not torch.equal(states[0], states[2])
