"""Which tokens a classifier's prediction depends on: those of its field, and those that flip it.

A token of the effective field is read. One outside is not, yet another word in its place may route
otherwise (`model.probes.fields.flips`): whether any does is found by trying them.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from model.probes.fields.effective_field import field_of_first
from model.probes.fields.flips import FIRST_WORD

TOGETHER = 16384
"""Most tokens of the texts that are tried at once."""
SAME = 1e-5
"""Probabilities no further apart are the same; in single precision batches differ by less."""


def words_to_try(vocabulary: int, replacements: int, seed: int) -> Tensor:
    """The known words of a vocabulary, or so many of them, drawn without replacement."""
    drawn = np.random.default_rng(seed).permutation(np.arange(FIRST_WORD, vocabulary))
    return torch.from_numpy(drawn[:replacements])


def field_and_flips(model: nn.Module, text: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
    """The field of one text's prediction, and the tokens outside that can change it.

    Args:
        model: a `Classifier` in evaluation mode.
        text: (T,), <cls> first.
        words: (R,), each of which is tried in the place of every token outside the field. With
            all words of the vocabulary the answer is exact; with fewer, flips may be missed.

    Returns:
        Two (T,) booleans: whether a token is in the effective field, <cls> counted, and whether
        it is outside and a word in its place changes the probability of some class.
    """
    with torch.no_grad():
        whole = model(text[None], torch.ones_like(text[None], dtype=torch.bool))
        before = whole.logits.softmax(dim=-1)
        field = field_of_first(whole.weights)[0]
        outside = (~field).nonzero()[:, 0]
        flips = torch.zeros_like(field)
        for some in words.split(max(1, TOGETHER // (len(text) * max(1, len(outside))))):
            if not len(outside):
                break
            tried = text.repeat(len(outside), len(some), 1)
            tried[torch.arange(len(outside)), :, outside] = some
            tried = tried.flatten(0, 1)
            after = model(tried, torch.ones_like(tried, dtype=torch.bool), need_weights=False)
            far = (after.logits.softmax(dim=-1) - before).abs().amax(dim=-1) > SAME
            changed = far.view(len(outside), len(some)).any(dim=1)
            flips[outside[changed]] = True
            outside = outside[~changed]
    return field, flips
