"""Tiny encoder-decoders with every mechanism, and sentence pairs, for the tests of translation."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.architectures.translation.encoder_decoder import EncoderDecoder
from model.architectures.translation.translator import Translator
from model.architectures.translation.two_stream import TwoStreamEncoderDecoder
from model.batches.corpus import Split
from model.batches.pairs import EOS
from model.layers.packing import Layout
from model.normalizers.entmax15 import Entmax15
from model.normalizers.entmax_alpha import EntmaxAlpha
from model.normalizers.gumbel import Gumbel
from model.normalizers.softmax import Softmax
from model.normalizers.sparsemax import Sparsemax
from model.normalizers.topk import TopK

MECHANISMS = {
    "softmax": (EncoderDecoder, Softmax),
    "top-k": (EncoderDecoder, lambda: TopK(2)),
    "sparsemax": (EncoderDecoder, Sparsemax),
    "entmax": (EncoderDecoder, Entmax15),
    "learned alpha": (EncoderDecoder, lambda: EntmaxAlpha(2)),
    "discrete": (EncoderDecoder, Gumbel),
    "two-stream": (TwoStreamEncoderDecoder, Gumbel),
    "two-stream top-k": (TwoStreamEncoderDecoder, lambda: TopK(2)),
}
SIZES = {"width": 8, "hidden": 12, "layers": 2, "heads": 2}


def write_pairs(folder: Path, pairs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Split:
    """Write pairs of words, EOS not among them, as an encoded split `train`."""
    folder.mkdir(exist_ok=True, parents=True)
    examples = [[*source, EOS, *target, EOS] for source, target in pairs]
    offsets = np.cumsum([0, *map(len, examples)]).astype(np.int64)
    np.save(folder / "train.tokens.npy", np.concatenate(examples).astype(np.int32))
    np.save(folder / "train.offsets.npy", offsets)
    lengths = np.array([len(source) + 1 for source, _ in pairs], np.int32)
    np.save(folder / "train.source.npy", lengths)
    return Split(folder, "train")


def make(mechanism: str, vocabulary: int = 20, **changes: Any) -> Translator:
    """A tiny model in double precision, in evaluation mode."""
    kind, normalizer = MECHANISMS[mechanism]
    model = kind(vocabulary, **{**SIZES, "normalizer": normalizer(), **changes})
    return model.double().eval()


def sentences(lengths: Sequence[int], vocabulary: int = 20) -> tuple[Tensor, Layout]:
    """Random sentences of these lengths side by side, and their layout."""
    real = torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]
    words = torch.randint(3, vocabulary, real.shape) * real
    return words, Layout(real)
