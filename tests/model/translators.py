"""Tiny encoder-decoders with every mechanism and with roles of every kind, and sentence pairs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from model.architectures.translation.beam_search import Beam, Hypotheses
from model.architectures.translation.encoder_decoder import EncoderDecoder
from model.architectures.translation.translator import Translator
from model.architectures.translation.two_stream import TwoStreamEncoderDecoder
from model.architectures.translation.with_roles import RoleEncoderDecoder
from model.batches.corpus import Corpus, Split
from model.batches.pairs import EOS, PairBatch, collate_pairs
from model.layers.packing import Layout
from model.layers.role_interaction import Roles
from model.normalizers.entmax15 import Entmax15
from model.normalizers.entmax_alpha import EntmaxAlpha
from model.normalizers.gumbel import Gumbel
from model.normalizers.softmax import Softmax
from model.normalizers.sparsemax import Sparsemax
from model.normalizers.topk import TopK
from model.objectives.loss import Objective
from tests.model.corpora import write_corpus

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
    examples = [[*source, EOS, *target, EOS] for source, target in pairs]
    columns = {"train": {"source": [len(source) + 1 for source, _ in pairs]}}
    return write_corpus(folder / "pairs", {"train": examples}, 9, {}, columns).split("train")


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


def sides(source: Sequence[int], target: Sequence[int]) -> tuple[Tensor, Layout, Tensor, Layout]:
    """What a translator reads: random sentences of these lengths on either side."""
    return *sentences(source), *sentences(target)


def unpadded(words: Tensor) -> tuple[Tensor, Layout]:
    """Sentences of one length, and their layout."""
    return words, Layout(torch.ones_like(words, dtype=torch.bool))


def read_by(batch: PairBatch) -> tuple[Tensor, Layout, Tensor, Layout]:
    """What a translator reads of a batch."""
    return batch.source, batch.source_layout, batch.tokens[:, :-1], batch.layout


def hypotheses(rows: Sequence[Sequence[int]]) -> Hypotheses:
    """What a search gives back that has one hypothesis for each source."""
    tokens = torch.zeros(len(rows), 1, max(map(len, rows)), dtype=torch.long)
    for row, ids in zip(tokens, rows, strict=True):
        row[0, : len(ids)] = torch.tensor(ids)
    return Hypotheses(tokens, torch.zeros(len(rows), 1))


def repeated_pairs(folder: Path, longest: int = 6, repeats: int = 1) -> Corpus:
    """Pairs of fewer words than `longest`, and the same so often, as a corpus."""
    random = np.random.default_rng(0)
    splits, columns = {}, {}
    for split, count in (("train", 60), ("dev", 6)):
        texts = [random.integers(4, 9, random.integers(1, longest)).tolist() for _ in range(count)]
        splits[split] = [[*text, EOS, *(text * repeats), EOS] for text in texts]
        columns[split] = {"source": [len(text) + 1 for text in texts]}
    return write_corpus(folder, splits, 9, {}, columns)


def assert_copied(model: Translator, objective: Objective, updates: int, folder: Path) -> None:
    """Train, translate, score: after so many updates the model says again what it reads."""
    torch.manual_seed(0)
    random = np.random.default_rng(0)
    texts = [random.integers(4, 9, random.integers(2, 5)).tolist() for _ in range(60)]
    batch = collate_pairs(write_pairs(folder, [(t, t) for t in texts]), np.arange(60))
    optimizer = torch.optim.Adam(model.train().parameters(), lr=0.0, betas=(0.9, 0.98), fused=True)
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = 1e-2 * min(1, (update + 1) / 20)
        optimizer.zero_grad()
        objective.loss(model, batch, update).mean.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    found = Beam(2).search(model.eval(), batch.source, batch.source_layout).best()
    assert sum(one == two for one, two in zip(found, texts, strict=True)) >= 45


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
