"""What another word in the place of a token does to a classifier's prediction.

A token of the effective field is read. One outside is not, yet another word in its place may route
otherwise (`model.probes.fields.flips`). Whether any does, and by how much words change the
prediction on average, is found by trying them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from model.layers.receptive_field import receptive_field
from model.probes.fields.flips import FIRST_WORD
from model.probes.next_symbol import at_predicting

TOGETHER = 16384
"""Most tokens of the texts that are tried at once."""
SAME = 1e-5
"""Distributions no further apart are the same; in single precision batches differ by less."""


class Influence(NamedTuple):
    """Of the tokens of a text, each (T,); <cls> has no meaning in the last two.

    Attributes:
        field: whether the token is in the effective field.
        largest: the largest total variation distance, over the words tried in its place, between
            the predicted distribution and that for the text as it is.
        mean: their mean.
    """

    field: Tensor
    largest: Tensor
    mean: Tensor

    @property
    def matters(self) -> Tensor:
        """Whether a token is in the field, or changes the prediction from outside."""
        return self.field | (self.largest > SAME)


def words_to_try(vocabulary: int, replacements: int, seed: int) -> Tensor:
    """The known words of a vocabulary, or so many of them, drawn without replacement."""
    drawn = np.random.default_rng(seed).permutation(np.arange(FIRST_WORD, vocabulary))
    return torch.from_numpy(drawn[:replacements])


def influence(model: nn.Module, text: Tensor, words: Tensor) -> Influence:
    """Try words in the place of every token of a text, one at a time.

    Args:
        model: a `Classifier` in evaluation mode.
        text: (T,), <cls> first.
        words: (R,). With all words of the vocabulary the answer is exact; with fewer, `largest` may
            be too small, and `mean` is an estimate.
    """
    length = len(text)
    places = torch.arange(1, length, device=text.device)
    largest, total = torch.zeros(2, length, dtype=torch.double, device=text.device)
    with torch.no_grad():
        real = torch.ones_like(text[None], dtype=torch.bool)
        whole = model(text[None], real)
        reads = receptive_field([(layer != 0).double() for layer in whole.weights])
        before = whole.logits.double().softmax(dim=-1)
        for some in words.split(max(1, TOGETHER // length**2)):
            tried = text.repeat(length - 1, len(some), 1)
            tried[places - 1, :, places] = some
            tried = tried.flatten(0, 1)
            after = model(tried, torch.ones_like(tried, dtype=torch.bool), need_weights=False)
            moved = (after.logits.double().softmax(dim=-1) - before).abs().sum(dim=-1) / 2
            moved = moved.view(length - 1, len(some))
            largest[1:] = largest[1:].maximum(moved.amax(dim=1))
            total[1:] += moved.sum(dim=1)
    field = at_predicting(model, real, reads)[0] > 0
    return Influence(field, largest, total / len(words))
