"""Copying sequences that are longer than those trained on (snell2021 section 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.architectures.copying import Copied
from model.batches.batching import BOS
from model.objectives.copying import copied
from model.probes.measure import Measured, Scalar, Subject, mean_over_examples

UNITS = {"accuracy": "%", "weight": "fraction", "empty": "fraction"}
"""Of what is said of a sequence."""


def copying_lengths(
    subject: Subject,
    multiples: Sequence[int] = (1, 2, 4, 8, 16),
    sequences: int = 100,
    seed: int = 0,
    tokens: int = 4096,
) -> Measured:
    """How well sequences of some multiples of the corpus's length are copied, and by attention.

    They are drawn as those of the corpus are: different symbols in random order, out of all.

    Args:
        subject: a trained `CopyingModel` and its data.
        multiples: of the length of the corpus's sequences.
        sequences: so many of each length.
        seed: draws them.
        tokens: most symbols in a batch.

    Returns:
        Scalars, for each multiple n and as means over sequences: `accuracy_<n>` (%); `weight_<n>`,
        the weight on the position to copy from as a share of the row's absolute weights, 0 where
        all are 0; `empty_<n>`, the share of such rows. Arrays `length`, in symbols, and of each
        length `accuracy`, `weight` and `empty`.

    Raises:
        ValueError: a sequence would be longer than there are symbols.
    """
    split = subject.corpus.split("train")
    trained, end = int(split.lengths[0]) - 1, int(split.tokens[-1])
    symbols = np.setdiff1d(split.tokens, [end])
    if max(multiples) * trained > len(symbols):
        raise ValueError(
            f"{max(multiples)} times {trained} different symbols are asked for, and the corpus has "
            f"{len(symbols)}; leave out multiples, or give the corpus more symbols."
        )
    scalars: dict[str, Scalar] = {}
    arrays: dict[str, list[Any]] = {"length": [n * trained for n in multiples]}
    for n in multiples:
        random = np.random.default_rng([seed, n])
        drawn = [[*random.permutation(symbols)[: n * trained], end] for _ in range(sequences)]
        source = torch.from_numpy(np.array(drawn, np.int64)).to(subject.device)
        parts = source.split(max(1, tokens // source.shape[1]))
        found = torch.cat([of_sequences(subject.model, part) for part in parts], dim=1)
        for (name, unit), values in zip(UNITS.items(), found.cpu().numpy(), strict=True):
            mean = scalars[f"{name}_{n}"] = mean_over_examples(values, unit)
            arrays.setdefault(name, []).append(mean["value"])
    return Measured(scalars, arrays)


def of_sequences(model: nn.Module, source: Tensor) -> Tensor:
    """What `UNITS` names of each of the sources (B, T), which end in the end symbol; (3, B).

    Means over the rows before that symbol.
    """
    with torch.no_grad():
        logits, weights = model(source, F.pad(source[:, :-1], (1, 0), value=BOS))
    size = weights.abs()
    total = size.sum(dim=-1, keepdim=True)
    empty = total == 0
    right, weight = copied(Copied(logits, size / total.masked_fill(empty, 1)), source)
    rows = torch.stack([100 * right, weight, empty[:, :-1, 0].float()])
    return rows.double().mean(dim=-1)
