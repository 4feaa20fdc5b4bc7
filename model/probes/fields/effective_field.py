"""How many tokens a classifier's prediction can be built on, given its routing
(discrete2020 section 5).

`model.layers.receptive_field` defines the field for one-hot routing. Here a token belongs to it
where any weight other than 0 leads to it, so sparse weights are counted too; softmax's field is the
whole text.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from model.probes.measure import Measured, Subject, mean_over_examples, rounded


def effective_field(subject: Subject, tokens: int = 8192) -> Measured:
    """Tokens of each test example whose values can reach the state at <cls>, <cls> left out.

    With the routing held fixed, the other tokens cannot change the prediction.

    Returns:
        Scalars `field_size` (tokens) and `field_fraction` (of the example's tokens), means over
        examples. Arrays of the same names: of each example in the order of the test split.
    """
    split = subject.corpus.split("test")
    size, fraction = np.zeros(len(split)), np.zeros(len(split))
    for batch in subject.batches(tokens):
        with torch.no_grad():
            weights = subject.model(batch.tokens, batch.real).weights
        sizes = field_of_first(weights)[:, 1:].sum(dim=1).cpu().numpy()
        size[batch.examples] = sizes
        fraction[batch.examples] = sizes / (batch.real.sum(dim=1).cpu().numpy() - 1)
    return Measured(
        {
            "field_size": mean_over_examples(size, "tokens"),
            "field_fraction": mean_over_examples(fraction, "fraction"),
        },
        {
            "field_size": [int(n) for n in size],
            "field_fraction": rounded(fraction, 5),
        },
    )


def field_of_first(weights: Sequence[Tensor]) -> Tensor:
    """Which positions (B, T) the last state at position 0 is made of.

    Args:
        weights: (B, H, T, T) of every layer, first layer first.
    """
    field = torch.zeros_like(weights[0][:, 0, 0], dtype=torch.bool)
    field[:, 0] = True
    for layer in reversed(weights):
        reads = (layer != 0).any(dim=1)
        field = field | (reads & field[:, :, None]).any(dim=1)
    return field
