"""How many parameters every architecture has, counted by hand."""

import pytest
import torch

from model.build import build
from tests.model.specs import GUMBEL, SOFTMAX, Node, part
from tests.model.translators import KINDS

V = 10_000
LAYERED = ("width", "hidden", "layers", "heads")
SHAPES = {
    "iwslt": (512, 1024, 6, 4),
    "base": (512, 2048, 6, 8),
    "big": (1024, 4096, 6, 16),
    "small": (256, 512, 3, 4),
}
PLAIN = {"iwslt": 36_663_296, "base": 49_258_496, "big": 186_597_376, "small": 6_513_664}
"""Encoder-decoders with one matrix for all words."""


def count(path: str, vocabulary: int, **arguments: object) -> int:
    """Parameters of an architecture, which is built without memory for them."""
    node = part(f"architectures.{path}", **arguments)
    with torch.device("meta"):
        model = build(node, vocabulary_size=vocabulary)
    return sum(parameter.numel() for parameter in model.parameters())


def stack(path: str, *shape: int, normalizer: Node = SOFTMAX, **more: object) -> Node:
    """The arguments of a stack, or with a path its node."""
    node = part(f"architectures.{path}") if path else {}
    return node | dict(zip(LAYERED, shape, strict=True)) | {"normalizer": normalizer} | more


def linear(inputs: int, outputs: int) -> int:
    return inputs * outputs + outputs


def layers(d: int, f: int, attentions: int = 1, projections: int = 4) -> int:
    """A layer with attention of some projections, a feed-forward network, and norms."""
    norms = (attentions + 1) * 2 * d
    return attentions * projections * linear(d, d) + linear(d, f) + linear(f, d) + norms


def lstm(d: int, h: int) -> int:
    return 4 * (d * h + h * h + 2 * h)


@pytest.mark.parametrize(("v", "d", "h"), [(44, 256, 256), (5, 1, 2), (20, 7, 3), (84, 16, 32)])
@pytest.mark.parametrize("heads", [0, 1, 8])
def test_copying(v, d, h, heads):
    """Forty symbols, the end and three reserved; every size 256, as in the authors' code."""
    sizes = {"width": d, "hidden": h}
    if heads:
        path = "multihead_copying:MultiheadCopyingModel"
        found = count(path, v, **sizes, heads=heads, normalizer=SOFTMAX)
    else:
        found = count("copying:CopyingModel", v, **sizes)
    one = v * d + 2 * lstm(d, h) + 2 * linear(h, h) + linear(2 * h, h) + linear(h, v)
    assert found == one + max(0, heads - 1) * linear(h, h)
    assert one == 1_338_156 or d != 256


def test_those_that_papers_state():
    """Without embeddings 1,274,882 of the classifiers and 6,132,544 of the recurrent translator."""
    sizes = {"width": 300, "hidden": 256, "normalizer": SOFTMAX}
    assert count("lstm_classifier:LSTMClassifier", 11, **sizes) == 1_274_882 + 11 * 300
    sizes |= {"width": 256, "layers": 2, "dropout": 0.5}
    found = count("translation.recurrent:RecurrentTranslator", 8000, **sizes)
    assert found == 8_180_544 == 6_132_544 + 8000 * 256
    assert count("class_proxy:ClassProxy", 900, width=64) == 900 * 64 + 2 * 64
    assert count("lexical_proxy:LexicalProxy", 500, width=64) == 2 * 500 * 64


def test_text_classifiers():
    """d 64, d_ff 128, L 6, h 4, 1,000 words; the model stream has neither queries nor keys."""
    rest = 2 * 64 + linear(64, 2) + 1000 * 64
    single = stack("transformer:Transformer", 64, 128, 6, 4)
    found = count("classifier:Classifier", 1000, encoder=single, classes=2)
    assert found == 6 * layers(64, 128) + rest
    double = stack("two_stream:TwoStreamTransformer", 64, 128, 6, 4)
    found += 6 * layers(64, 128, projections=2) + 1000 * 64
    assert count("classifier:Classifier", 1000, encoder=double, classes=2) == found


def test_language_models():
    """The stack's with ten symbols and 64 learned positions, and Transformer-XL of the paper."""
    decoder = stack("transformer:Transformer", 64, 256, 4, 2, positions="learned", max_length=64)
    expected = 4 * layers(64, 256) + 2 * 64 + 10 * 64 + 64 * 64 + linear(64, 10)
    assert count("language_model:LanguageModel", 10, decoder=decoder) == expected
    # 205 bytes and three reserved; query, key, value, position and output have no bias.
    layer = 5 * 512 * 512 + linear(512, 2048) + linear(2048, 512) + 2 * 2 * 512
    shape = stack("", 512, 2048, 12, 8, memory=512, streams=22)
    found = count("transformer_xl:TransformerXL", 208, **shape)
    assert found == 12 * layer + 208 * 512 + 208 + 2 * 512 == 41_057_488


@pytest.mark.parametrize(
    ("d", "f", "n", "views"), [(64, 128, 6, 2), (8, 12, 2, 2), (8, 20, 3, 1), (12, 8, 1, 3)]
)
def test_multiview_models_are_one_model_stream_and_a_controller_per_view(d, f, n, views):
    shared = 12 * d + n * layers(d, f, projections=2) + 2 * d
    controller = 12 * d + n * layers(d, f)
    encoder = stack("multiview:MultiviewTransformer", d, f, n, 2, views=views)
    found = count("multiview:MultiviewClassifier", 12, encoder=encoder, classes=5)
    assert found == shared + views * controller + linear(d, 5)


@pytest.mark.parametrize("name", SHAPES)
def test_encoder_decoders(name):
    d, f, n, heads = SHAPES[name]
    path, words, norm = "translation.encoder_decoder:EncoderDecoder", V * d, 2 * d
    plain = n * (layers(d, f) + layers(d, f, attentions=2)) + words
    assert plain == PLAIN[name]
    shape = stack("", d, f, n, heads)
    assert count(path, V, **shape) == plain
    assert count(path, V, **shape, tie="decoder") == plain + words
    untied = count(path, V, **shape, tie="none", source_vocabulary_size=7000)
    assert untied == plain + words + 7000 * d
    assert count(path, V, **shape, norm="pre") == plain + 2 * norm
    streams = sum(n * layers(d, f, attentions, projections=2) for attentions in (1, 2))
    unread = layers(d, f, projections=2)  # what the last controller would read feeds nothing
    double = count(
        "translation.two_stream:TwoStreamEncoderDecoder", V, **shape | {"normalizer": GUMBEL}
    )
    assert double == plain + streams + words - unread


def test_captioners():
    shape = stack("", 512, 2048, 6, 8)
    images = part("layers.image_encoders:Regions", width=512, features=2048)
    found = count("translation.captioner:Captioner", V, images=images, **shape)
    assert found == PLAIN["base"] + linear(2048, 512) == 50_307_584


@pytest.mark.parametrize("r", [16, 32])
@pytest.mark.parametrize("kind", KINDS)
def test_roles_of_every_kind(kind, r):
    """Both sides' contexts, the dense layer, and what combines a role with its token."""
    options, d = dict(KINDS[kind]), 256
    if assignment := options.pop("assignment", None):
        options["assignment"] = GUMBEL if kind == "onehot" else SOFTMAX
    contexts = 2 * linear(3 * d, d) if "window" in options else 2 * lstm(d, d // 2) + lstm(d, d)
    combining = {"rank_1": r * d + 2 * d * d, "added": r * d}
    one = linear(d, r) + combining.get(options.get("combination"), r * d * d)
    one += r * r if assignment else 0
    roles = part("layers.role_interaction:Roles", number=r, **options)
    shape = stack("", *SHAPES["small"], roles=roles)
    found = count("translation.with_roles:RoleEncoderDecoder", V, **shape)
    assert found == PLAIN["small"] + contexts + 2 * one
