"""Does the prediction rest on the top tokens? Curves of deletion (DeYoung et al. 2020, ERASER)."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from model.batches.shortening import shortened
from model.probes.importance.classification import token_scores
from model.probes.measure import Measured, Subject, mean_over_examples, rounded

PERCENT = (1, 5, 10, 20, 50)
"""Shares of a text's tokens that count as its top ones, at least one token."""

RANKINGS = {"": "attention", "_gradient": "norm", "_random": None}
"""By the ending of a metric's name, the field of `TokenScores` that ranks the tokens."""


def deletion(subject: Subject, tokens: int = 8192) -> Measured:
    """Comprehensiveness and sufficiency of the tokens that a ranking puts on top.

    With p the probability of the class that is predicted for the whole text, comprehensiveness is
    p less what remains of it without the top tokens (high where they were needed), sufficiency p
    less what the top tokens alone give (low where they are enough). Tokens are taken out, so that
    the text gets shorter; <cls> stays. Both are averaged over `PERCENT`. Tokens are ranked by
    attention received, by gradient norm, or, as the control, at random, which decides ties too.

    Returns:
        Scalars `comprehensiveness` and `sufficiency` (probability, mean and standard deviation
        over test examples), the same with `_gradient` and `_random`, and arrays of these names:
        the mean at each of `percent`.
    """
    random = np.random.default_rng(subject.seed)
    split = subject.corpus.split("test")
    drops = {
        f"{measure}{ending}": np.zeros((len(split), len(PERCENT)))
        for ending in RANKINGS
        for measure in ("comprehensiveness", "sufficiency")
    }
    for batch in subject.batches(tokens):
        scores = token_scores(subject.model, batch)
        whole = _probabilities(subject.model, batch.tokens, batch.real)
        predicted = whole.argmax(dim=-1, keepdim=True)
        for ending, field in RANKINGS.items():
            by = np.zeros(batch.tokens.shape)
            if field is not None:
                by = getattr(scores, field).detach().cpu().numpy()
            place = places(by, batch.real.cpu().numpy(), random)
            for column, percent in enumerate(PERCENT):
                for measure, kept in zip(
                    ("comprehensiveness", "sufficiency"), kept_parts(place, percent), strict=True
                ):
                    part = _probabilities(subject.model, *shortened(batch, kept))
                    drop = (whole - part).gather(1, predicted)[:, 0]
                    drops[f"{measure}{ending}"][batch.examples, column] = drop.cpu().numpy()
    scalars = {n: mean_over_examples(d.mean(axis=1), "probability") for n, d in drops.items()}
    along = {name: rounded(d.mean(axis=0), 6) for name, d in drops.items()}
    return Measured(scalars, {"percent": list(PERCENT), **along})


def places(scores: np.ndarray, real: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Place (B, T) of every token in its text's ranking, 0 for the largest score.

    Args:
        scores: (B, T).
        real: (B, T).
        random: decides ties.

    Returns:
        Places; -1 at <cls> and padding.
    """
    tokens = real.copy()
    tokens[:, 0] = False
    order = np.lexsort((random.random(scores.shape), -scores, ~tokens), axis=1)
    place = np.empty(scores.shape, dtype=np.int64)
    np.put_along_axis(place, order, np.arange(scores.shape[1])[None], axis=1)
    return np.where(tokens, place, -1)


def kept_parts(place: np.ndarray, percent: int) -> tuple[np.ndarray, np.ndarray]:
    """What stays (B, T) without the top tokens, and with the top tokens alone; <cls> in both."""
    lengths = (place >= 0).sum(axis=1, keepdims=True)
    top = (place >= 0) & (place < -(-lengths * percent // 100))
    rest = (place >= 0) & ~top
    top[:, 0] = rest[:, 0] = True
    return rest, top


def _probabilities(model: nn.Module, tokens: Tensor, real: Tensor) -> Tensor:
    with torch.no_grad():
        return model(tokens, real, need_weights=False).logits.double().softmax(dim=-1)
