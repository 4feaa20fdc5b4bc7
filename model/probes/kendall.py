"""Kendall's tau-b of many pairs of rankings at once, each in O(n log n)."""

from __future__ import annotations

import numpy as np


def tau_b(x: np.ndarray, y: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Kendall's tau-b of every pair of rows.

    (concordant - discordant) / sqrt((pairs not tied in x) (pairs not tied in y)), as in Knight
    (1966): with the pairs in order of x, and of y where x ties, the discordant ones are the
    inversions of y.

    Args:
        x: (N, L) scores; row n has `lengths[n]` of them, and anything behind.
        y: likewise.
        lengths: (N,).

    Returns:
        (N,) tau-b; NaN where a row is all ties, has fewer than two scores, or a NaN among them.
    """
    inside = np.arange(x.shape[1]) < lengths[:, None]
    odd = (inside & (np.isnan(x) | np.isnan(y))).any(axis=1)
    # Stable sorts keep what is behind a row behind it, even where its own scores are infinite.
    x, y = np.where(inside, x, np.inf), np.where(inside, y, np.inf)
    order = np.argsort(y, axis=1, kind="stable")
    x, y = np.take_along_axis(x, order, 1), np.take_along_axis(y, order, 1)
    tied_y = _tied_pairs(_changes(y), inside)
    order = np.argsort(x, axis=1, kind="stable")
    x, y = np.take_along_axis(x, order, 1), np.take_along_axis(y, order, 1)
    tied_x = _tied_pairs(_changes(x), inside)
    tied_both = _tied_pairs(_changes(x) | _changes(y), inside)
    pairs = lengths.astype(np.int64) * (lengths - 1) // 2
    surplus = pairs - tied_x - tied_y + tied_both - 2 * _inversions(y)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau = surplus / np.sqrt(pairs - tied_x) / np.sqrt(pairs - tied_y)
    return np.where(odd, np.nan, np.clip(tau, -1, 1))


def _changes(rows: np.ndarray) -> np.ndarray:
    """Where sorted rows (N, L) differ from the entry before; the first entry of a row does."""
    different = np.ones(rows.shape, dtype=bool)
    different[:, 1:] = rows[:, 1:] != rows[:, :-1]
    return different


def _tied_pairs(starts: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Pairs (N,) of equal entries, of where runs of them start: each pairs with those before it."""
    position = np.arange(starts.shape[1])
    first = np.maximum.accumulate(np.where(starts, position, 0), axis=1)
    return ((position - first) * inside).sum(axis=1)


def _inversions(rows: np.ndarray) -> np.ndarray:
    """Pairs (N,) of entries of rows (N, L) of which the earlier is the larger.

    Ranks, ties in their order, are a permutation of 0 .. P - 1, filled up to a power of two. Taken
    apart by their highest bit it falls into halves, each a permutation again; an inversion across
    is a 1 before a 0, and their number is the sum of how far each 0 moves.
    """
    count, length = rows.shape
    size = 1 << max(length - 1, 0).bit_length()
    rank = np.empty((count, size), dtype=np.int32)
    rank[:, length:] = np.arange(length, size)
    np.put_along_axis(rank, np.argsort(rows, 1, kind="stable"), np.arange(length)[None], 1)
    inversions = np.zeros(count, dtype=np.int64)
    while size > 1:
        half = size // 2
        low = (rank & half) == 0
        positions = np.broadcast_to(np.arange(size), (rank.size // size, size))
        moved = positions[low.reshape(-1, size)].reshape(-1, half) - np.arange(half)
        inversions += moved.reshape(count, -1).sum(axis=1)
        rank = np.stack([rank[low].reshape(-1, half), rank[~low].reshape(-1, half)], axis=1)
        rank, size = rank.reshape(count, -1), half
    return inversions
