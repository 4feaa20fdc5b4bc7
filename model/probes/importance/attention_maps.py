"""Attention of one translated sentence, to be drawn (zhao2019 figure 1, 4), and a number beside
it.

The text says of the top layer that the decoder's softmax attention "suffers from focusing on the
last source token"; how much weight that token has is measured over many sentences.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.architectures.translation.beam_search import Beam
from model.batches.batching import BOS
from model.batches.pairs import EOS, collate_pairs, pair_lengths
from model.layers.packing import Layout
from model.probes.measure import Measured, Scalar, Subject, scalar
from model.probes.words.subwords import vocabulary

GREEDY = Beam(beam=1)


def attention_maps(subject: Subject, shortest: int = 16, sentences: int = 200) -> Measured:
    """Attention weights, averaged over heads.

    Args:
        subject: a trained `Translator` and its data.
        shortest: the sentence is the first of the test split with so many source tokens, EOS
            counted, or where none has so many the longest.
        sentences: the first so many of the test split are what scalars are taken over.

    Returns:
        Scalars `last_bottom` and `last_top`: the weight that the source's EOS has in the decoder's
        attention to the encoder, in its first and its last layer, averaged over the positions of
        the references. Arrays of one sentence with S source tokens and T tokens of its greedy
        translation, both with EOS: `source` (S), `target` (T), `cross_bottom` and `cross_top`
        (T, S), and of the token in the middle, the number `word` of `source`, its attention in the
        encoder's first layer `own` (S).
    """
    split = subject.corpus.split("test")
    lengths = pair_lengths(split)[:, 0]
    example = int(np.argmax(lengths >= min(shortest, lengths.max())))
    source = collate_pairs(split, np.array([example])).to(subject.device).source
    model: Any = subject.model
    with torch.no_grad():
        real = torch.ones_like(source, dtype=torch.bool)
        (best,) = GREEDY.search(model, source, Layout(real)).best()
        target = torch.tensor([[BOS, *best]], device=subject.device)
        layout = Layout(torch.ones_like(target, dtype=torch.bool))
        weights = model(source, Layout(real), target, layout, need_weights=True).weights
        last = _on_the_last(subject, np.arange(min(sentences, len(split))))
    sources, targets = (vocabulary(subject.corpus, side) for side in ("source", "target"))
    word = source.shape[1] // 2
    arrays: dict[str, list[Any]] = {
        "source": [sources[token] for token in source[0].tolist()],
        "target": [targets[token] for token in [*best, EOS]],
        "word": [word],
        "own": _rounded(weights.encoder[0][0].mean(0)[word]),
        "cross_bottom": _rounded(weights.cross[0][0].mean(0)),
        "cross_top": _rounded(weights.cross[-1][0].mean(0)),
    }
    return Measured(last, arrays)


def _on_the_last(subject: Subject, examples: np.ndarray) -> dict[str, Scalar]:
    """The scalars over some pairs of the test split."""
    split, model = subject.corpus.split("test"), subject.model
    sums, positions = {"last_bottom": 0.0, "last_top": 0.0}, 0
    for chosen in np.array_split(examples, -(-len(examples) // 32)):
        batch = collate_pairs(split, chosen).to(subject.device)
        sides = (batch.source, batch.source_layout, batch.tokens[:, :-1], batch.layout)
        cross = model(*sides, need_weights=True).weights.cross
        place = batch.source_layout.real.sum(1) - 1
        for name, layer in (("last_bottom", cross[0]), ("last_top", cross[-1])):
            mean = layer.mean(1)  # (B, T, S)
            at = mean.gather(2, place[:, None, None].expand(-1, mean.shape[1], 1)).squeeze(2)
            sums[name] += float(at[batch.layout.real].sum())
        positions += len(batch.layout.places)
    return {
        name: scalar(total / positions, "fraction", n=positions) for name, total in sums.items()
    }


def _rounded(weights: Tensor) -> list[Any]:
    return np.round(weights.float().cpu().numpy().astype(float), 4).tolist()
