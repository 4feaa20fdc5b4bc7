"""How far two rankings of a text's positions agree on the highest one (snell2021 section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

ONE_IN = 20
"""Positions of which one counts as among the highest: 5 %."""


class Xi(NamedTuple):
    """An agreement in terms of performance.

    Attributes:
        value: the performance, in its own unit.
        exceeded: whether training ever agreed more; if not, the paper marks the value with "*".
    """

    value: float
    exceeded: bool


def agreement(u: np.ndarray, v: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """A(u, v): whether the highest position of u is among the 5 % highest of v (snell2021 eq. 7).

    It is where fewer than 5 % of the positions are strictly higher in v, so ties in v count for it
    (a constant v agrees with everything: rank logits, not saturated probabilities). Where several
    positions are highest in u, the first of them is taken.

    Args:
        u: (N, L) values; row n has `lengths[n]` of them, one or more, and anything behind.
        v: likewise.
        lengths: (N,).

    Returns:
        (N,) bool.
    """
    inside = np.arange(u.shape[1]) < lengths[:, None]
    highest = np.where(inside, u, -np.inf).argmax(axis=1)
    there = np.take_along_axis(v, highest[:, None], axis=1)
    higher = ((v > there) & inside).sum(axis=1)
    hit: np.ndarray = ONE_IN * higher < lengths
    return hit


def chance(v: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """A-hat: the agreement with v to expect of a position drawn at random, exactly.

    That is its mean over all ways to shuffle v. Without ties it is ceil(L / 20) / L.

    Args:
        v: (N, L) values; row n has `lengths[n]` of them, one or more, and anything behind.
        lengths: (N,).

    Returns:
        (N,) fractions.
    """
    inside = np.arange(v.shape[1]) < lengths[:, None]
    falling = -np.sort(np.where(inside, -v, np.inf), axis=1)
    # What is strictly below the ceil(L / 20)-th highest value has that many or more above it.
    place = -(-lengths // ONE_IN) - 1
    least = np.take_along_axis(falling, place[:, None], axis=1)
    fractions: np.ndarray = ((v >= least) & inside).sum(axis=1) / lengths
    return fractions


def xi(reached: float, along: Sequence[float], performance: Sequence[float]) -> Xi:
    """An agreement as the performance of a run when it first agrees more (snell2021 eq. 8).

    Args:
        reached: A(u, v), the mean over all output words.
        along: A(alpha, alpha-hat) at each checkpoint of another run, in the order of training.
        performance: of that run at each checkpoint.

    Returns:
        The performance at the first checkpoint with a higher agreement; where there is none, the
        best performance (the paper's tables have xi* there, with a "*").

    Raises:
        ValueError: there is no checkpoint, or not a performance for each.
    """
    if not along or len(along) != len(performance):
        raise ValueError(
            f"{len(along)} agreements and {len(performance)} performances: give one of each for "
            "every checkpoint, at least one."
        )
    for agreed, performed in zip(along, performance, strict=True):
        if agreed > reached:
            return Xi(performed, True)
    return Xi(max(performance), False)
