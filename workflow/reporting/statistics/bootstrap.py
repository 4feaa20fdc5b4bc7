"""Differences of BLEU between systems: paired bootstrap (Koehn 2004).

The test set is drawn anew ten thousand times, with replacement, the same sentences for both
systems. Of each sentence the counts of words and n-grams are kept, and BLEU (Papineni et al. 2002)
is that of their sums; words are what spaces separate, in lower case.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workflow.reporting.statistics.intervals import LEVEL, common
from workflow.runtime.errors import ReportingError

SAMPLES, SEED = 10_000, 12345
CHUNK = 500
"""Samples at a time: one holds a number for each sentence."""
ORDERS = 4


@dataclass(frozen=True)
class Resampled:
    """A difference, averaged over seeds."""

    estimate: float
    per_seed: list[float]
    low: float
    """2.5th percentile of the samples"""
    high: float
    """97.5th percentile"""
    sentences: int
    common: float | None
    """What seeds have in common of the variance over samples, see `intervals.common`."""


def statistics(hypotheses: Sequence[str], references: Sequence[str]) -> NDArray[np.int64]:
    """Return the counts behind BLEU of each sentence, (N, 10).

    They are the words of hypothesis and reference, then for n = 1 to 4 the n-grams that both have,
    then those of the hypothesis.

    Raises ReportingError when the sides have different numbers of sentences.
    """
    if len(hypotheses) != len(references):
        raise ReportingError(
            f"There are {len(hypotheses)} hypotheses and {len(references)} references; measure the "
            "run again."
        )
    pairs = zip(hypotheses, references, strict=True)
    return np.array([_counts(*(text.lower().split() for text in pair)) for pair in pairs])


def bleu(sums: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return BLEU, 0 to 100, of counts (..., 10) that are summed over a corpus; 0 without a match
    of some order."""
    sums = sums.astype(float)
    words, of_reference = sums[..., 0], sums[..., 1]
    both, own = sums[..., 2 : 2 + ORDERS], sums[..., 2 + ORDERS :]
    with np.errstate(divide="ignore", invalid="ignore"):
        brevity = np.minimum(0, 1 - of_reference / words)
        score = 100 * np.exp(brevity + np.log(both / own).mean(-1))
    return np.where((both > 0).all(-1), score, 0.0)


def resample(pairs: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> Resampled:
    """Compare two systems, left - right.

    Args:
        pairs: by seed the counts of both systems, (N, 10) each.

    Raises ReportingError when they are of different numbers of sentences.
    """
    sizes = {len(side) for pair in pairs for side in pair}
    if len(sizes) != 1:
        raise ReportingError(
            f"The runs translated different numbers of sentences ({sorted(sizes)}); measure all of "
            "them on the same data."
        )
    (size,) = sizes
    per_seed = [float(bleu(left.sum(0)) - bleu(right.sum(0))) for left, right in pairs]
    counts = np.stack([np.stack(pair) for pair in pairs]).astype(float)  # (pairs, 2, N, 10)
    sampled = []
    for times in _times(size):
        left, right = np.moveaxis(bleu(times @ counts), 1, 0)
        sampled.append(left - right)
    by_seed = np.concatenate(sampled, axis=1)  # (pairs, SAMPLES)
    low, high = np.quantile(by_seed.mean(0), [0.5 - LEVEL / 2, 0.5 + LEVEL / 2])
    estimate = float(np.mean(per_seed))
    return Resampled(estimate, per_seed, float(low), float(high), size, common(by_seed))


def _times(size: int) -> Iterator[NDArray[np.float64]]:
    """Yield how often each example is drawn in each sample, (CHUNK, N) at a time."""
    generator, first = np.random.default_rng(SEED), np.arange(CHUNK)[:, None] * size
    for _ in range(SAMPLES // CHUNK):
        drawn = generator.integers(size, size=(CHUNK, size)) + first
        yield np.bincount(drawn.ravel(), minlength=CHUNK * size).reshape(CHUNK, size).astype(float)


def _counts(hypothesis: Sequence[str], reference: Sequence[str]) -> list[int]:
    both, own = [], []
    for n in range(1, ORDERS + 1):
        mine, theirs = _ngrams(hypothesis, n), _ngrams(reference, n)
        both.append((mine & theirs).total())
        own.append(mine.total())
    return [len(hypothesis), len(reference), *both, *own]


def _ngrams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[start : start + n]) for start in range(len(words) - n + 1))
