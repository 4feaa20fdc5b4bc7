"""The words that the page knows: those of a corpus, or the most frequent of them."""

from dataclasses import dataclass

import numpy as np

from model.batches.corpus import Corpus
from workflow.datasets.encoded.encoding import RESERVED


@dataclass(frozen=True)
class Words:
    """Words that are kept of a vocabulary; the page numbers them from 0."""

    texts: list[str]
    """Of each word; the reserved ones are the first."""
    kept: np.ndarray
    """The number (W,) of each in the corpus, ascending."""
    whole: int
    """How many words the corpus has."""

    @classmethod
    def of(cls, corpus: Corpus, most: int | None) -> "Words":
        """Return the words of a corpus: all, or the reserved and the `most` of the train split.

        Of equally frequent words those with smaller numbers are kept.
        """
        size = len(corpus.vocabulary)
        kept = np.arange(size)
        if most is not None:
            counts = np.bincount(corpus.split("train").tokens, minlength=size)
            counts[: len(RESERVED)] = counts.max() + 1
            kept = np.sort(np.argsort(-counts, kind="stable")[: len(RESERVED) + most])
        return cls([corpus.vocabulary[number] for number in kept], kept, size)

    def numbers(self, tokens: np.ndarray) -> list[int] | None:
        """Return the page's numbers of a corpus's tokens (T,), None where one is not kept."""
        if not np.isin(tokens, self.kept).all():
            return None
        numbers: list[int] = np.searchsorted(self.kept, tokens).tolist()
        return numbers
