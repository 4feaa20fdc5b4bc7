"""Words whose embeddings are nearest to a word's, in every stream (kinley2020 table 6.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from model.batches.corpus import Corpus
from model.probes.measure import Measured, Subject, scalar
from model.probes.words.states import embeddings
from model.probes.words.subwords import (
    SubWords,
    english_side,
    frequent_words,
    unigram_tags,
    vocabulary,
)


def neighbours(
    subject: Subject, tagged: Corpus, words: Sequence[str], nearest: int = 10
) -> Measured:
    """The whole English words nearest to each word by the cosine of their embeddings.

    Parts of words, words that occur in the other language only, and the word itself are no
    neighbours.

    Args:
        subject: a trained `Translator` and its data, one side of which is English.
        tagged: English text with the column `pos`; a word's tag is its most frequent one there.
        words: to look up; those that are no whole word of the vocabulary have no neighbours.
        nearest: neighbours of each word.

    Returns:
        Scalars `found`, how many of the words are in the vocabulary, and for each stream
        `<stream>_same_tag`, the share of neighbours with a tag whose tag is the word's. Arrays
        `word`, `tag`, and for each stream by word `<stream>`, its neighbours, `<stream>_cosine`
        and `<stream>_tag`.

    Raises:
        ValueError: no side is English.
    """
    side = english_side(subject.corpus)
    subwords = SubWords(subject.corpus, side)
    tags = unigram_tags(tagged, subwords)
    symbols = vocabulary(subject.corpus, side)
    candidates = np.array(frequent_words(subject.corpus, side))
    places = {symbols[number]: place for place, number in enumerate(candidates)}
    wanted = [places.get(subwords.form(word)) for word in words]
    arrays: dict[str, list[Any]] = {
        "word": list(words),
        "tag": [tags.get(subwords.form(word)) for word in words],
    }
    scalars = {"found": scalar(sum(place is not None for place in wanted), "words", n=len(words))}
    for stream, table in embeddings(subject.model, side).items():
        near, cosines = nearest_rows(table[candidates], wanted, nearest)
        texts = [[symbols[candidates[place]] for place in row] for row in near]
        arrays[stream] = texts
        arrays[f"{stream}_cosine"] = [[round(c, 4) for c in row] for row in cosines]
        arrays[f"{stream}_tag"] = [[tags.get(text) for text in row] for row in texts]
        same = [
            other == own
            for own, row in zip(arrays["tag"], arrays[f"{stream}_tag"], strict=True)
            for other in row
            if own and other
        ]
        share = float(np.mean(same)) if same else None
        scalars[f"{stream}_same_tag"] = scalar(share, "fraction", n=len(same))
    return Measured(scalars, arrays)


def nearest_rows(
    table: np.ndarray, wanted: Sequence[int | None], nearest: int
) -> tuple[list[list[int]], list[list[float]]]:
    """The rows of a table (V, D) nearest to some of its rows by cosine, and the cosines.

    Args:
        table: no row is zero.
        wanted: numbers of rows; None has no neighbours.
        nearest: how many, the nearest first; of equals the first.
    """
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    rows: list[list[int]] = []
    cosines: list[list[float]] = []
    for place in wanted:
        if place is None:
            rows.append([])
            cosines.append([])
            continue
        cosine = unit @ unit[place]
        cosine[place] = -np.inf
        order = np.argsort(-cosine, kind="stable")[: min(nearest, len(table) - 1)]
        rows.append(order.tolist())
        cosines.append(cosine[order].tolist())
    return rows, cosines
