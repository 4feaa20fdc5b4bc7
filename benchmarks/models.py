"""The models that race: ours with any mechanism, and `torch.nn.Transformer` with its weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from benchmarks.baseline import TorchTransformer, same_weights
from benchmarks.made_up import VOCABULARY
from model.architectures.translation.encoder_decoder import EncoderDecoder
from model.batches.batching import BOS, PAD
from model.batches.pairs import EOS
from model.build import build

SHAPES = {
    "iwslt": {"width": 512, "hidden": 1024, "layers": 6, "heads": 4},
    "small": {"width": 256, "hidden": 512, "layers": 3, "heads": 4},
}
DROPOUT = 0.3
"""Wherever `torch.nn.Transformer` has it."""
STREAMS = (
    "model.architectures.translation.encoder_decoder:EncoderDecoder",
    "model.architectures.translation.two_stream:TwoStreamEncoderDecoder",
)
MECHANISMS: dict[str, tuple[int, dict[str, Any]]] = {
    "softmax": (1, {"path": "model.normalizers.softmax:Softmax"}),
    "top-k": (1, {"path": "model.normalizers.topk:TopK", "k": 8}),
    "sparsemax": (1, {"path": "model.normalizers.sparsemax:Sparsemax"}),
    "1.5-entmax": (1, {"path": "model.normalizers.entmax15:Entmax15"}),
    "learned alpha": (1, {"path": "model.normalizers.entmax_alpha:EntmaxAlpha", "heads": 4}),
    "discrete": (1, {"path": "model.normalizers.gumbel:Gumbel"}),
    "two-stream discrete": (2, {"path": "model.normalizers.gumbel:Gumbel"}),
}
"""How many streams, and the normalizer."""


def make_ours(shape: Mapping[str, int], mechanism: str = "softmax") -> Any:
    """The model under test from seed 0."""
    streams, normalizer = MECHANISMS[mechanism]
    dropout = dict.fromkeys(("dropout", "attention_dropout", "hidden_dropout"), DROPOUT)
    torch.manual_seed(0)
    node = {"path": STREAMS[streams - 1], "normalizer": normalizer, **shape, **dropout}
    return build(node, vocabulary_size=VOCABULARY)


def make_theirs(
    ours: EncoderDecoder, shape: Mapping[str, int], kind: type[TorchTransformer] = TorchTransformer
) -> TorchTransformer:
    """The baseline with the weights of a model of a shape."""
    theirs = kind(len(ours.output_weight), **shape, dropout=DROPOUT)
    same_weights(ours, theirs)
    return theirs


@torch.no_grad()
def enliven(model: EncoderDecoder) -> EncoderDecoder:
    """Make an untrained model translate; by itself it would say one word again and again.

    Random scales in the last norm make the next word depend on all that the state holds. The words
    PAD, BOS and EOS are 0, so that they are never among the best and all searches are as long.
    """
    model.output_weight[[PAD, BOS, EOS]] = 0
    last: Any = model.decoder[-1]
    nn.init.normal_(last.transform.norm.weight)
    return model
