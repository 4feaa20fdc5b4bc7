"""Beam search as plainly as it can be said, one sentence and one hypothesis at a time.

It has the rules of `model.architectures.translation.beam_search` and none of its means: no cache,
no ancestors, every prefix is read anew. The tests compare with it, and the baseline decodes with
it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from model.architectures.translation.beam_search import Beam
from model.batches.batching import BOS, PAD
from model.batches.pairs import EOS


class Found(NamedTuple):
    """A finished hypothesis: its score, and its words with EOS."""

    score: float
    words: list[int]


def plain_search(
    log_p: Callable[[Tensor, Tensor], Tensor], longest: list[int], settings: Beam
) -> list[list[Found]]:
    """Search.

    Args:
        log_p: maps prefixes (R, t), BOS first, and the numbers of their sentences (R,) to log p of
            the next word (R, V).
        longest: most words of each sentence's translation, EOS included.
        settings: beam and length penalty.

    Returns:
        For each sentence its best finished hypotheses, best first.
    """
    beams = settings.beam
    live: list[list[Found]] = [[Found(0.0, [])] for _ in longest]
    finished: list[list[Found]] = [[] for _ in longest]
    counts = [0] * len(longest)
    for step in range(1, max(longest) + 1):
        rows = [(n, found) for n, all_found in enumerate(live) for found in all_found]
        if not rows:
            break
        prefixes = torch.tensor([[BOS, *found.words] for _, found in rows])
        following = log_p(prefixes, torch.tensor([n for n, _ in rows]))
        following[:, [PAD, BOS]] = -math.inf
        best = following.topk(min(2 * beams, following.shape[1]))
        extended: list[list[Found]] = [[] for _ in longest]
        for row, (n, found) in enumerate(rows):
            if step == longest[n]:
                words, values = [EOS], [float(following[row, EOS])]
            else:
                words, values = best.indices[row].tolist(), best.values[row].tolist()
            extended[n] += [
                Found(found.score + value, [*found.words, word])
                for word, value in zip(words, values, strict=True)
                if value > -math.inf
            ]
        for n, candidates in enumerate(extended):
            ranked = sorted(candidates, key=lambda found: -found.score)[: 2 * beams]
            ends = [found for found in ranked[:beams] if found.words[-1] == EOS]
            scored = [Found(found.score / settings.divisor(step), found.words) for found in ends]
            finished[n] = sorted(finished[n] + scored, key=lambda found: -found.score)[:beams]
            counts[n] += len(ends)
            done = counts[n] >= beams or step == longest[n]
            going = [found for found in ranked if found.words[-1] != EOS]
            live[n] = [] if done else going[:beams]
    return finished
