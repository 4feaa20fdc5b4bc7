"""A map of the embeddings of every stream, coloured by part of speech (kinley2020 figure 6.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from model.batches.corpus import Corpus
from model.probes.measure import Measured, Subject, mean_over_examples, rounded, scalar
from model.probes.words.states import embeddings
from model.probes.words.subwords import (
    SubWords,
    english_side,
    frequent_words,
    unigram_tags,
    vocabulary,
)

LEGEND = ("VBG", "VBN", "NNS", "RB", "VB", "NN", "NNP", "JJ")
"""Parts of speech that are drawn."""
NEAREST = 10
"""Neighbours that the purity is taken over."""
PERPLEXITY = 30


def embedding_map(
    subject: Subject, tagged: Corpus, most: int = 10_000, legend: Sequence[str] = LEGEND
) -> Measured:
    """t-SNE of the most frequent English words' embeddings, and how far parts of speech cluster.

    The map is made of all these words, by the cosine of their embeddings. Of those whose tag is in
    the legend the *purity* is the mean share, among a word's 10 nearest of them, of words with its
    tag; that of a random choice is `chance`. It is given for the embeddings themselves, by cosine,
    and for the map, by distance.

    Args:
        subject: a trained `Translator` and its data, one side of which is English.
        tagged: English text with the column `pos`; a word's tag is its most frequent one there.
        most: so many words are mapped.
        legend: the tags that are drawn.

    Returns:
        Scalars `chance`, and for each stream `<stream>_purity` and `<stream>_map_purity`, with the
        standard deviation over words. Arrays of the drawn words: `word`, `tag`, and for each stream
        `<stream>_x` and `<stream>_y`.

    Raises:
        ValueError: no side is English, or fewer than two words have a tag of the legend.
    """
    side = english_side(subject.corpus)
    subwords = SubWords(subject.corpus, side)
    tags = unigram_tags(tagged, subwords)
    symbols = vocabulary(subject.corpus, side)
    words = frequent_words(subject.corpus, side)[:most]
    drawn = [place for place, word in enumerate(words) if tags.get(symbols[word]) in legend]
    if len(drawn) < 2:
        raise ValueError(
            f"{tagged.folder} tags {len(drawn)} of the {len(words)} most frequent words by "
            f"{', '.join(legend)}: name a tagged corpus with more of the run's words."
        )
    of_drawn = [tags[symbols[words[place]]] for place in drawn]
    arrays: dict[str, list[Any]] = {
        "word": [symbols[words[place]] for place in drawn],
        "tag": of_drawn,
    }
    scalars = {"chance": scalar(chance(of_drawn), "fraction", n=len(drawn))}
    for stream, table in embeddings(subject.model, side).items():
        unit = table[words] / np.linalg.norm(table[words], axis=1, keepdims=True)
        place = tsne(unit, subject.seed)[drawn]
        for name, points in (("purity", unit[drawn]), ("map_purity", place)):
            shares = purity(points, of_drawn)
            scalars[f"{stream}_{name}"] = mean_over_examples(shares, "fraction")
        for axis, values in zip("xy", place.T, strict=True):
            arrays[f"{stream}_{axis}"] = rounded(values, 3)
    return Measured(scalars, arrays)


def tsne(unit: np.ndarray, seed: int) -> np.ndarray:
    """Places (V, 2) of rows of length 1 (V, D), by t-SNE (van der Maaten and Hinton, 2008).

    Between rows of length 1 the squared distance is 2 - 2 cos.
    """
    from sklearn.manifold import TSNE  # type: ignore[import-untyped]

    perplexity = min(PERPLEXITY, (len(unit) - 1) / 3)
    made = TSNE(perplexity=perplexity, init="pca", random_state=seed, n_jobs=1)
    return np.asarray(made.fit_transform(unit))


def purity(points: np.ndarray, tags: Sequence[str]) -> np.ndarray:
    """The share (V,) of each point's 10 nearest others that have its tag.

    Args:
        points: (V, D).
        tags: of each point.
    """
    from sklearn.neighbors import NearestNeighbors  # type: ignore[import-untyped]

    number = {tag: n for n, tag in enumerate(dict.fromkeys(tags))}
    of_point = np.array([number[tag] for tag in tags])
    search = NearestNeighbors(n_neighbors=min(NEAREST, len(points) - 1)).fit(points)
    near = search.kneighbors(return_distance=False)
    return np.asarray((of_point[near] == of_point[:, None]).mean(axis=1))


def chance(tags: Sequence[str]) -> float:
    """The probability that another point, drawn at random, has the tag of a point drawn so."""
    n = len(tags)
    return sum(count * (count - 1) for count in Counter(tags).values()) / (n * (n - 1))
