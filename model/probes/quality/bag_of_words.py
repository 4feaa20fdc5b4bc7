"""What a text's words say about its class without their order: TF-IDF logistic regression."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix

from model.batches.corpus import Split
from model.probes.measure import Measured, Subject, scalar

FIRST_WORD = 3
"""Ids below are <pad>, <bos> and <unk>."""

STRENGTHS = (0.1, 1.0, 10.0, 100.0)
"""C, the inverse strengths of the regularisation that are tried."""


def tfidf_regression(subject: Subject) -> Measured:
    """Accuracy of logistic regression on the tf-idf of known words, the yardstick of a data set.

    It is fitted on the training split, with the C that is best on the development split (the
    smallest of the best). Nothing of the trained model is used.

    Returns:
        Scalars `accuracy` (%) on the test split, and `c`, the chosen C.
    """
    from sklearn.feature_extraction.text import TfidfTransformer  # type: ignore[import-untyped]
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

    words = len(subject.corpus.vocabulary)
    splits = {name: subject.corpus.split(name) for name in ("train", "dev", "test")}
    labels = {name: np.asarray(split.columns["label"]) for name, split in splits.items()}
    counts = {name: word_counts(split, words) for name, split in splits.items()}
    weighting = TfidfTransformer().fit(counts["train"])
    tfidf = {name: weighting.transform(matrix) for name, matrix in counts.items()}
    best, dev = None, -1.0
    for c in STRENGTHS:
        tried = LogisticRegression(C=c, max_iter=1000).fit(tfidf["train"], labels["train"])
        reached = tried.score(tfidf["dev"], labels["dev"])
        if reached > dev:
            best, dev = tried, reached
    assert best is not None
    accuracy = best.score(tfidf["test"], labels["test"])
    return Measured(
        {
            "accuracy": scalar(100 * float(accuracy), "%", n=len(splits["test"])),
            "c": scalar(best.C, "1"),
        },
        {},
    )


def word_counts(split: Split, words: int) -> csr_matrix:
    """How often each word (N, V - 3) occurs in each example, unknown ones left out."""
    examples = np.repeat(np.arange(len(split)), split.lengths)
    counts = coo_matrix((np.ones(len(examples)), (examples, split.tokens)), (len(split), words))
    return counts.tocsr()[:, FIRST_WORD:]
