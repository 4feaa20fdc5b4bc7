"""A few translations with all their attention, to be looked at without the model."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.batches.pairs import collate_pairs, pair_lengths
from model.probes.importance.translation import prediction_scores
from model.probes.measure import Measured, Subject
from model.probes.words.subwords import vocabulary

DIGITS = 3


def recorded_translation(subject: Subject, sentences: int = 3, longest: int = 16) -> Measured:
    """Attention and importance of short sentences, each word predicted behind the reference.

    Args:
        subject: a trained `Translator` and its data.
        sentences: the first so many of the test split that are short enough.
        longest: most source tokens, EOS counted.

    Returns:
        No scalars. Arrays with an entry for each sentence of S source and T target tokens, both
        with EOS: `source` (S), `target` (T), the reference, and `predicted` (T), all as texts;
        weights `encoder` (L, H, S, S), `decoder` (L, H, T, T) and `cross` (L, H, T, S); and
        `importance` (T, S), || d y_hat / d h0_j ||_2 of the prediction at a target position and a
        source token. All have 3 significant digits, so that only a weight of 0 is 0.
    """
    split, model = subject.corpus.split("test"), subject.model
    short = np.flatnonzero(pair_lengths(split)[:, 0] <= longest)
    sources, targets = (vocabulary(subject.corpus, side) for side in ("source", "target"))
    arrays: dict[str, list[Any]] = {
        name: []
        for name in (
            *("source", "target", "predicted"),
            *("encoder", "decoder", "cross", "importance"),
        )
    }
    for example in islice(short, sentences):
        batch = collate_pairs(split, np.array([example])).to(subject.device)
        sides = (batch.source, batch.source_layout, batch.tokens[:, :-1], batch.layout)
        with torch.no_grad():
            states, weights = model(*sides, need_weights=True)
            predicted = model.logits(states).argmax(dim=-1)  # type: ignore[operator]
        arrays["source"].append([sources[token] for token in batch.source[0].tolist()])
        arrays["target"].append([targets[token] for token in batch.tokens[0, 1:].tolist()])
        arrays["predicted"].append([targets[token] for token in predicted.tolist()])
        for name, layers in weights._asdict().items():
            arrays[name].append(_rounded(torch.stack([layer[0] for layer in layers])))
        norms = [scores.norm[0] for scores in prediction_scores(model, batch)]
        arrays["importance"].append(_rounded(torch.stack(norms)))
    return Measured({}, arrays)


def _rounded(values: Tensor) -> list[Any]:
    digits = np.vectorize(lambda value: float(f"{value:.{DIGITS}g}"), otypes=[float])
    rounded: list[Any] = digits(values.double().cpu().numpy()).tolist()
    return rounded
