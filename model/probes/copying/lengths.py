"""Copying sequences that are longer than those trained on (snell2021 section 3.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from model.architectures.copying import Copied
from model.batches.batching import BOS
from model.objectives.copying import copied
from model.probes.measure import Measured, Scalar, Subject, mean_over_examples


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
    for n in multiples:
        random = np.random.default_rng([seed, n])
        drawn = np.array([random.permutation(symbols)[: n * trained] for _ in range(sequences)])
        source = torch.from_numpy(
            np.pad(drawn.astype(np.int64), ((0, 0), (0, 1)), constant_values=end)
        )
        parts = source.to(subject.device).split(max(1, tokens // source.shape[1]))
        with torch.no_grad():
            found = torch.cat([of_sequences(subject.model, part) for part in parts], dim=1)
        accuracy, weight, empty = found.double().cpu().numpy()
        scalars |= {
            f"accuracy_{n}": mean_over_examples(100 * accuracy, "%"),
            f"weight_{n}": mean_over_examples(weight, "fraction"),
            f"empty_{n}": mean_over_examples(empty, "fraction"),
        }
    along = {
        name: [scalars[f"{name}_{n}"]["value"] for n in multiples]
        for name in ("accuracy", "weight", "empty")
    }
    return Measured(scalars, {"length": [n * trained for n in multiples], **along})


def of_sequences(model: torch.nn.Module, source: Tensor) -> Tensor:
    """Accuracy, weight on the right position and empty rows of sources (B, T), (3, B).

    Each is a mean over the rows before the end symbol, which is the last.
    """
    before = torch.nn.functional.pad(source[:, :-1], (1, 0), value=BOS)
    logits, weights = model(source, before)
    size = weights.abs()
    total = size.sum(dim=-1, keepdim=True)
    shares = size / total.masked_fill(total == 0, 1)
    right, weight = copied(Copied(logits, shares), source)
    empty = (total[:, :-1, 0] == 0).float()
    return torch.stack([part.mean(dim=1) for part in (right, weight, empty)])
