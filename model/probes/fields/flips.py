"""How often a token outside the receptive field still matters, by flipping a routing decision.

With the routing held fixed such a token changes nothing (see `model.layers.receptive_field`); but
the routing is computed from every token, so this is measured, not guaranteed.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from model.layers.receptive_field import receptive_field
from model.probes.measure import Measured, Scalar, Subject, scalar

FIRST_WORD = 3
"""Ids below are <pad>, <bos> and <unk>, which no replacement should be."""


def routing_flips(subject: Subject, causal: bool, tokens: int = 4096) -> Measured:
    """Replace one token outside the field of a prediction and see whether its routing changes.

    For each test example one prediction (for a causal model a random position, else position 0)
    and one random token outside its field (and before it, if causal) are drawn, and the token is
    replaced by another of the vocabulary. A flip is any change among the routing decisions that
    the prediction is built on: those of the prediction's position at the last layer, of the
    positions that it reads one layer below, and so on.

    Returns:
        Scalars `flip_rate`, the fraction of replacements with a flip; `change_rate`, the fraction
        after which the predicted class or symbol is another; and `outside`, the mean fraction of
        tokens outside the field. Examples whose field is full are not replaced.
    """
    random = np.random.default_rng(subject.seed)
    flips, changes, outside = [], [], []
    for batch in subject.batches(tokens):
        last = -1 if causal else None
        seen, real = batch.tokens[:, :last], batch.real[:, :last]
        lengths = real.sum(1).cpu().numpy()
        chosen = random.integers(1, lengths) if causal else np.zeros(len(lengths), np.int64)
        at = torch.from_numpy(chosen).to(seen.device)
        rows = torch.arange(len(seen), device=seen.device)
        with torch.no_grad():
            before = subject.model(seen, real)
            field = receptive_field(before.weights)[rows, at] > 0
            eligible = real & (torch.arange(seen.shape[1], device=seen.device) > 0)
            if causal:
                eligible &= torch.arange(seen.shape[1], device=seen.device) <= at[:, None]
            free = eligible & ~field
            changed = _replace_one(seen, free, len(subject.corpus.vocabulary), random)
            after = subject.model(changed, real)
        some = free.any(1)
        outside.append(free.sum(1) / eligible.sum(1))
        flips.append(tree_differs(before.weights, after.weights, at)[some])
        changes.append((_choices(before.logits, at) != _choices(after.logits, at))[some])
    return Measured(
        {
            "flip_rate": _rate(flips),
            "change_rate": _rate(changes),
            "outside": _rate(outside),
        },
        {},
    )


def _replace_one(
    tokens: Tensor, free: Tensor, vocabulary: int, random: np.random.Generator
) -> Tensor:
    """Tokens (B, T) with one of the free ones (B, T) of each row replaced by another known word."""
    rows = torch.arange(len(tokens), device=tokens.device)
    draw = torch.from_numpy(random.random(free.shape)).to(tokens.device)
    where = draw.masked_fill(~free, -1).argmax(1)
    words = vocabulary - FIRST_WORD
    shift = torch.from_numpy(random.integers(1, words, len(tokens))).to(tokens.device)
    old = (tokens[rows, where] - FIRST_WORD).clamp(min=0)
    changed = tokens.clone()
    changed[rows, where] = FIRST_WORD + (old + shift) % words
    return torch.where(free.any(1, keepdim=True), changed, tokens)


def _rate(parts: list[Tensor]) -> Scalar:
    """Their mean as a scalar; undefined where there is none."""
    values = torch.cat(parts).double()
    value = float(values.mean()) if len(values) else None
    return scalar(value, "fraction", n=len(values))


def tree_differs(before: list[Tensor], after: list[Tensor], at: Tensor) -> Tensor:
    """Whether the routing decisions behind the state at position `at` differ.

    Args:
        before: one-hot weights (B, H, T, T) of every layer.
        after: likewise.
        at: (B,) positions.

    Returns:
        (B,) booleans.
    """
    active = torch.zeros(before[0].shape[0], before[0].shape[2], dtype=torch.bool, device=at.device)
    active[torch.arange(len(at), device=at.device), at] = True
    differs = torch.zeros_like(at, dtype=torch.bool)
    for old, new in zip(reversed(before), reversed(after), strict=True):
        moved = (old != new).any(-1).any(1)
        differs |= (moved & active).any(1)
        reads = (old * active[:, None, :, None]).sum((1, 2)) > 0
        active = active | reads
    return differs


def _choices(logits: Tensor, at: Tensor) -> Tensor:
    """The predicted class (B,), of logits (B, C), or symbol at `at`, of logits (B, T, V)."""
    if logits.ndim == 3:
        logits = logits[torch.arange(len(at), device=at.device), at]
    return logits.argmax(-1)
