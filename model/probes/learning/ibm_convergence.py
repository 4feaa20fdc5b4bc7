"""IBM Model 1 beyond the count table: expectation maximisation until it has converged
(snell2021 section 4.2).

The paper stops at the count table, the first round. A sentence is a bag of words to the model, so
with M and Y, how often each word occurs in each input and output, the rounds are matrix products:

    D   = M Trans                        what the words of an input give to each output word
    C   = Trans * (M^T (Y / D))          the alignment of every output word, counted
    Trans(o|i) = C_io / sum_o' C_io'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from model.probes.learning.ibm_model_1 import TokenPair, translations

CHUNK = 4096
"""Pairs whose D is held at a time."""


class Converged(NamedTuple):
    """What expectation maximisation ends with.

    Attributes:
        counted: Trans after the first round, as snell2021 eq. 14 has it, (inputs, outputs).
        trans: Trans after the last round.
        log_likelihood: of the outputs given their inputs after each round, nats per word.
    """

    counted: np.ndarray
    trans: np.ndarray
    log_likelihood: list[float]


def converge(
    pairs: Sequence[TokenPair], inputs: int, outputs: int, tolerance: float = 1e-6, most: int = 1000
) -> Converged:
    """Repeat alignment and counting until a round gains next to nothing.

    Args:
        pairs: none of whose inputs is empty.
        inputs: number of input words.
        outputs: number of output words.
        tolerance: gain in log-likelihood, nats per word, below which a round is the last.
        most: rounds after which to stop in any case.

    Raises:
        ValueError: an input has no word, or no output has one.
    """
    m = _bags([x for x, _ in pairs], inputs)
    y = _bags([y for _, y in pairs], outputs)
    lengths = m.sum(axis=1)
    if not (lengths > 0).all():
        raise ValueError("an input without words translates to nothing; leave the pair out.")
    if not y.nnz:
        raise ValueError("no output has a word; give pairs with outputs.")
    in_output = np.repeat(np.arange(len(pairs)), np.diff(y.indptr))
    given = np.full(y.nnz, 1 / outputs) * lengths[in_output]
    counted = trans = translations(_counts(m, y, given, np.full((inputs, outputs), 1 / outputs)))
    log_likelihood: list[float] = []
    while True:
        given = _given(m, y, trans)
        words = y.data * np.log(given / lengths[in_output])
        log_likelihood.append(float(words.sum() / y.data.sum()))
        gained = np.inf if len(log_likelihood) < 2 else log_likelihood[-1] - log_likelihood[-2]
        if gained < tolerance or len(log_likelihood) == most:
            return Converged(counted, trans, log_likelihood)
        trans = translations(_counts(m, y, given, trans))


def _bags(sentences: Sequence[Sequence[int]], words: int) -> csr_array:
    """How often each word occurs in each sentence, (N, words)."""
    ends = np.cumsum([0, *map(len, sentences)])
    flat = np.concatenate([np.asarray(one, dtype=np.int64) for one in sentences])
    counts = csr_array((np.ones(len(flat)), flat, ends), shape=(len(sentences), words))
    counts.sum_duplicates()
    return counts


def _given(m: csr_array, y: csr_array, trans: np.ndarray) -> np.ndarray:
    """D where Y is not 0, in the order of Y's data."""
    parts = []
    for start in range(0, m.shape[0], CHUNK):
        part = y[start : start + CHUNK]
        rows = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
        parts.append((m[start : start + CHUNK] @ trans)[rows, part.indices])
    return np.concatenate(parts)


def _counts(m: csr_array, y: csr_array, given: np.ndarray, trans: np.ndarray) -> np.ndarray:
    """C of the next round, (inputs, outputs)."""
    shares = csr_array((y.data / given, y.indices, y.indptr), shape=y.shape)
    counts: np.ndarray = trans * (m.T @ shares).toarray()
    return counts
