"""The released code's dropout, initial values and positions, in both encoders."""

import math

import pytest
import torch
from torch import Tensor

from model.architectures.classifier import Classifier
from model.architectures.released_classifier import ReleasedClassifier
from model.architectures.transformer import Transformer
from model.architectures.two_stream import TwoStreamTransformer
from model.kernels.dropout import Dropout
from model.normalizers.softmax import Softmax

WIDTH, HIDDEN, CLASSES = 64, 128, 2
ENCODERS = [Transformer, TwoStreamTransformer]


def encoder_of(kind, positions="sinusoidal"):
    return kind(20, WIDTH, HIDDEN, 2, 4, Softmax(), positions=positions, dropout=0.4)


def xavier(weight: Tensor) -> float:
    return math.sqrt(6 / sum(weight.shape))


@pytest.mark.parametrize("kind", ENCODERS)
def test_dropout_is_on_embeddings_and_on_what_sub_layers_add_alone(kind):
    model = ReleasedClassifier(encoder_of(kind), CLASSES)
    for name, part in model.named_modules():
        if isinstance(part, Dropout):
            inner = name.endswith(("attention_dropout", "feed_forward.2"))
            assert part.p == (0 if inner else 0.4), name


@pytest.mark.parametrize("kind", ENCODERS)
def test_positions_are_counted_from_2(kind):
    """A text in the plain classifier, behind two words of another, has the same embedding."""
    encoder = encoder_of(kind).eval()
    tokens = torch.tensor([[7, 7, 3, 4, 5]])
    with torch.no_grad():
        behind = encoder.embedding(tokens)[:, 2:]
        ReleasedClassifier(encoder, CLASSES)
        assert torch.equal(encoder.embedding(tokens[:, 2:]), behind)
    assert len(encoder.embedding.position) == 512


@pytest.mark.parametrize("kind", ENCODERS)
def test_initial_values_reach_the_bounds_of_xavier(kind):
    model = ReleasedClassifier(encoder_of(kind), CLASSES)
    assert torch.equal(model.output.bias, torch.zeros(CLASSES))
    largest = {
        name: float(weight.detach().abs().max()) for name, weight in model.named_parameters()
    }
    bounds = {
        name: xavier(weight) for name, weight in model.named_parameters() if weight.dim() == 2
    }
    assert 0.9 * bounds["output.weight"] < largest["output.weight"] <= bounds["output.weight"]
    for name in largest:
        if name.endswith("values.value.weight"):
            gain = 1 if "model_stream" in name else 2**-0.5
            assert 0.99 * gain < largest[name] / bounds[name] <= gain, name


@pytest.mark.parametrize("kind", ENCODERS)
def test_the_plain_classifier_differs_in_each(kind):
    """What the note below the table says of the published runs."""
    model = Classifier(encoder_of(kind), CLASSES)
    stream = model.encoder.model_stream if kind is TwoStreamTransformer else model.encoder.layers
    assert stream[0].feed_forward[2].p == 0.4
    assert torch.equal(model.encoder.embedding.position[0, WIDTH // 2 :], torch.ones(WIDTH // 2))
    assert model.output.bias.abs().max() > 0
    assert model.output.weight.abs().max() <= WIDTH**-0.5 < xavier(model.output.weight)
    if kind is TwoStreamTransformer:
        assert model.encoder.controller[0].attention_dropout.p == 0.4
        value = model.encoder.model_stream[0].values.value.weight
        assert 0.15 < value.abs().max() <= xavier(value) * 2**-0.5 < 0.1532
        assert 0.216 < xavier(value) < 0.217


def test_learned_positions_are_refused():
    with pytest.raises(ValueError, match="sinusoidal, not learned"):
        ReleasedClassifier(encoder_of(Transformer, "learned"), CLASSES)
