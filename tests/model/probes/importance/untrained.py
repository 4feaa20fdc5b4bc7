"""Untrained classifiers of every kind, and texts for them."""

import numpy as np
import pytest
import torch

from model.batches.batching import Batch, collate
from model.build import build
from tests.model.specs import GUMBEL, SOFTMAX, part

ENCODERS = ["transformer:Transformer", "two_stream:TwoStreamTransformer"]
either = pytest.mark.parametrize("encoder", ENCODERS)
both = pytest.mark.parametrize("normalizer", [SOFTMAX, GUMBEL], ids=["softmax", "gumbel"])


def model_of(spec, encoder: str, normalizer=SOFTMAX, **more):
    spec["model"]["encoder"] |= part(f"architectures.{encoder}", normalizer=normalizer, **more)
    torch.manual_seed(0)
    return build(spec["model"], vocabulary_size=9).double().eval()


def biased(model):
    """The model with biases and gains drawn, which start at 0 and 1."""
    for parameter in model.parameters():
        if parameter.ndim == 1:
            parameter.data += torch.randn_like(parameter) / 5
    return model


def texts(corpus, count: int = 6) -> Batch:
    return collate(corpus.split("test"), np.arange(count))


def alone(corpus, example: int) -> Batch:
    return collate(corpus.split("test"), np.array([example]))


def layers_of(model):
    encoder = model.encoder
    return encoder.model_stream if hasattr(encoder, "model_stream") else encoder.layers


def states_of(model, batch: Batch) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """What every layer reads of one text, one layer after another, and all weights."""
    weights = [w.detach() for w in model(batch.tokens, batch.real).weights]
    h, states = model.encoder.embedding(batch.tokens).detach(), []
    for layer, w in zip(layers_of(model), weights, strict=True):
        states.append(h)
        out = layer(h, None, w, True) if hasattr(layer, "routing") else layer(h, w)
        h = (out[0] if isinstance(out, tuple) else out).detach()
    return states, weights
