"""Precision and recall of chunks, as the CoNLL-2000 shared task scores them.

Tags are `O`, `B-<type>` and `I-<type>`. A chunk begins at a `B`, and at an `I` that follows `O`,
another type or the start of its sentence; so every sequence of tags has a reading. Source: Tjong
Kim Sang and Buchholz (2000), Introduction to the CoNLL-2000 shared task, and its `conlleval`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

Chunk = tuple[int, int, str]
"""First word, the word behind the last, type."""


class ChunkScores(NamedTuple):
    """Scores in %.

    Attributes:
        accuracy: share of the words whose tag is right.
        precision: share of the predicted chunks that are right: words and type.
        recall: share of the true chunks that are found.
        f1: harmonic mean of both.
    """

    accuracy: float
    precision: float
    recall: float
    f1: float


def chunks(tags: Sequence[str]) -> set[Chunk]:
    """The chunks of a sentence."""
    spans, start, within = set(), 0, ""
    for place, tag in enumerate([*tags, "O"]):
        mark, _, kind = tag.partition("-")
        if within and (mark != "I" or kind != within):
            spans.add((start, place, within))
            within = ""
        if mark != "O" and not within:
            start, within = place, kind
    return spans


def conlleval(true: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> ChunkScores:
    """Score the predicted tags of sentences; what has no denominator is 0.

    Args:
        true: the tags of every sentence.
        predicted: of the same lengths.
    """
    words = right = existing = proposed = correct = 0
    for of_sentence, guess in zip(true, predicted, strict=True):
        right += sum(a == b for a, b in zip(of_sentence, guess, strict=True))
        words += len(of_sentence)
        wanted, got = chunks(of_sentence), chunks(guess)
        existing, proposed = existing + len(wanted), proposed + len(got)
        correct += len(wanted & got)
    precision, recall = _percent(correct, proposed), _percent(correct, existing)
    f1 = 2 * precision * recall / (precision + recall) if correct else 0.0
    return ChunkScores(_percent(right, words), precision, recall, f1)


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0
