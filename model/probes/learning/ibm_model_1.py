"""IBM Model 1 of word translation (Brown et al. 1993), as in snell2021 section 4.2.

Pairs of an input x (L words) and an output y (T words) are lists of word numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

TokenPair = tuple[Sequence[int], Sequence[int]]
"""The words of an input, and of the output that goes with it."""


def count_table(pairs: Iterable[TokenPair], inputs: int, outputs: int) -> np.ndarray:
    """C, (inputs, outputs): 1 / L for every time that i and o occur together (snell2021 eq. 13).

    Args:
        pairs: none of whose inputs is empty.
        inputs: number of input words.
        outputs: number of output words.

    Raises:
        ValueError: an input has no word.
    """
    table = np.zeros((inputs, outputs))
    for x, y in pairs:
        if not len(x):
            raise ValueError("an input without words translates to nothing; leave the pair out.")
        of_x = np.bincount(np.asarray(x, dtype=np.int64), minlength=inputs) / len(x)
        of_y = np.bincount(np.asarray(y, dtype=np.int64), minlength=outputs)
        rows, columns = np.flatnonzero(of_x), np.flatnonzero(of_y)
        table[np.ix_(rows, columns)] += np.outer(of_x[rows], of_y[columns])
    return table


def translations(counts: np.ndarray) -> np.ndarray:
    """Trans(o | i), the rows of C by their sums (snell2021 eq. 14); 0 for a word never seen."""
    total = counts.sum(axis=1, keepdims=True)
    return np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)


def lexical(trans: np.ndarray, x: Sequence[int], y: Sequence[int]) -> np.ndarray:
    """beta, (T, L): the probability that x_l is translated to y_t (snell2021 eq. 15)."""
    beta: np.ndarray = trans[np.ix_(x, y)].T
    return beta


def alignment(trans: np.ndarray, x: Sequence[int], y: Sequence[int]) -> np.ndarray:
    """alpha, (T, L): the probability that x_l is responsible for y_t (snell2021 eq. 16).

    Uniform for an output word that no input word is ever translated to.
    """
    beta = lexical(trans, x, y)
    total = beta.sum(axis=1, keepdims=True)
    return np.divide(beta, total, out=np.full_like(beta, 1 / len(x)), where=total > 0)


def expectation_maximisation(
    pairs: Sequence[TokenPair], inputs: int, outputs: int, rounds: int
) -> np.ndarray:
    """Trans after rounds of alignment and counting, the first of them with uniform alignment.

    One round is the table of snell2021 eq. 14; the paper goes no further. Each round adds the
    alignment of every output word to the counts of its input words, and no round lowers the
    likelihood.

    Raises:
        ValueError: there are fewer than one round, or an input has no word.
    """
    if rounds < 1:
        raise ValueError(f"rounds is {rounds}; the first counts what occurs together, give 1.")
    trans = translations(count_table(pairs, inputs, outputs))
    for _ in range(rounds - 1):
        counts = np.zeros_like(trans)
        for x, y in pairs:
            rows, columns = np.asarray(x, dtype=np.int64), np.asarray(y, dtype=np.int64)
            np.add.at(counts, (rows[None], columns[:, None]), alignment(trans, x, y))
        trans = translations(counts)
    return trans
