"""What the rows of attention are like: those that attend to nothing, and the first token as a sink.

Both hold for every mechanism, whatever its weights sum to and whatever their sign.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from model.probes.measure import Measured, Subject, mean_over_examples, rounded


def rows(subject: Subject, causal: bool, tokens: int = 8192) -> Measured:
    """What the rows (query, head, layer) of each test example are like.

    Args:
        subject: a trained classifier, or a language model.
        causal: whether it is a language model, which does not read the last symbol.
        tokens: most tokens in a batch.

    Returns:
        Scalars `empty`, the share of rows whose weights are all exactly 0, and `first`, the weight
        of the first token (<cls>, or BOS) as a share of the row's absolute weights: for positive
        weights that sum to 1 the weight itself. Means over examples; rows that are empty count in
        `empty` alone, and an example without others has no `first`. Arrays of the same names: of
        each example in the order of the test split, what is undefined as None.
    """
    split = subject.corpus.split("test")
    found = np.full((2, len(split)), np.nan)
    last = -1 if causal else None
    for batch in subject.batches(tokens):
        seen, real = batch.tokens[:, :last], batch.real[:, :last]
        if causal:
            real = real & batch.real[:, 1:]
        with torch.no_grad():
            weights = subject.model(seen, real).weights
        found[:, batch.examples] = of_rows(weights, real).cpu().numpy()
    by_name = dict(zip(("empty", "first"), found, strict=True))
    return Measured(
        {name: mean_over_examples(values, "fraction") for name, values in by_name.items()},
        {name: rounded(values, 5) for name, values in by_name.items()},
    )


def of_rows(weights: Sequence[Tensor], real: Tensor) -> Tensor:
    """Share of empty rows, and mean share of the first token in others, (2, B).

    Args:
        weights: (B, H, T, T) of every layer.
        real: (B, T), true at queries that count.
    """
    queries = real[:, None]
    every, empty, others, first = torch.zeros(4, len(real), dtype=torch.double, device=real.device)
    for layer in weights:
        size = layer.double().abs()
        total = size.sum(dim=-1)
        read = (total > 0) & queries
        every += layer.shape[1] * real.sum(dim=1)
        empty += ((total == 0) & queries).sum(dim=(1, 2))
        others += read.sum(dim=(1, 2))
        first += (size[..., 0] / total).masked_fill(~read, 0).sum(dim=(1, 2))
    return torch.stack([empty / every, first / others])
