"""The bag-of-words yardstick on texts whose answer is known."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from model.batches.corpus import Corpus
from model.probes.measure import Subject
from model.probes.quality.bag_of_words import STRENGTHS, tfidf_regression
from tests.model.corpora import CPU, write_corpus

UNK = 2


def noisy(folder) -> Corpus:
    """Texts of random words of which a few lean to one of three classes, and <unk>."""
    random, words = np.random.default_rng(7), 30
    splits, columns = {}, {}
    for split, n in (("train", 300), ("dev", 90), ("test", 90)):
        labels = random.integers(0, 3, n)
        texts = []
        for label in labels:
            weight = np.ones(words)
            weight[UNK] = 4
            weight[3 + 4 * label : 7 + 4 * label] = 2.5
            weight[:UNK] = 0
            texts.append(random.choice(words, 12, p=weight / weight.sum()).tolist())
        splits[split], columns[split] = texts, {"label": labels.tolist()}
    return write_corpus(folder, splits, words, {}, columns)


def test_it_equals_scikit_learns_own_vectoriser(tmp_path):
    """On the words themselves, with the strength that is best on the development split."""
    corpus = noisy(tmp_path / "noisy")

    def texts(split: str) -> list[str]:
        data = corpus.split(split)
        return [
            " ".join(f"s{token}" for token in data.tokens[start:end] if token != UNK)
            for start, end in zip(data.offsets[:-1], data.offsets[1:], strict=True)
        ]

    def labels(split: str) -> np.ndarray:
        return corpus.split(split).columns["label"]

    vectoriser = TfidfVectorizer()
    train = vectoriser.fit_transform(texts("train"))
    scores = {}
    for c in STRENGTHS:
        model = LogisticRegression(C=c, max_iter=1000)
        model.fit(train, labels("train"))
        scores[c] = [
            100 * model.score(vectoriser.transform(texts(split)), labels(split))
            for split in ("dev", "test")
        ]
    best = max(STRENGTHS, key=lambda c: scores[c][0])
    found = tfidf_regression(Subject(None, corpus, CPU, 0)).scalars
    assert found["c"]["value"] == best
    assert found["accuracy"]["value"] == pytest.approx(scores[best][1])
    assert len({dev for dev, _ in scores.values()}) > 1
    assert 40 < found["accuracy"]["value"] < 100


def test_a_keyword_is_found(keywords):
    found = tfidf_regression(Subject(None, keywords, CPU, 0)).scalars
    assert found["accuracy"]["value"] == 100
    assert found["accuracy"]["n"] == 80
    assert found["c"]["value"] in STRENGTHS
