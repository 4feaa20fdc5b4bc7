"""The proxy of translation: its loss by hand, and a dictionary that it learns."""

import math

import numpy as np
import pytest
import torch

from model.architectures.lexical_proxy import LexicalProxy
from model.batches.batching import BOS
from model.batches.corpus import Corpus
from model.batches.pairs import EOS, collate_pairs
from model.objectives.translation_proxy import TranslationProxy
from tests.model.corpora import encoded, learned, write_corpus
from tests.model.specs import brief, part
from tests.model.translators import write_pairs


def test_the_loss_is_that_of_every_word_of_the_target(tmp_path):
    """snell2021 eq. 11, 55."""
    pairs = [([4, 5, 6], [7, 4]), ([7], [5, 5, 6, 4])]
    batch = collate_pairs(write_pairs(tmp_path, pairs), np.arange(2))
    model = LexicalProxy(8, 3).double().requires_grad_(False)
    found = TranslationProxy().loss(model, batch, epoch=0)
    total, words = 0.0, 0
    for source, target in pairs:
        read = [BOS, *source, EOS]
        mean = sum(model.embedding.weight[word] for word in read) / len(read)
        p = (model.output.weight @ mean).softmax(dim=0)
        total -= sum(math.log(float(p[word])) for word in [*target, EOS])
        words += len(target) + 1
    assert found.units == words
    assert float(found.mean) == pytest.approx(total / words)
    assert float(found.sums["loss"]) == pytest.approx(total)


def trained(corpus: Corpus, width: int, epochs: int, lr: float) -> LexicalProxy:
    """A proxy, trained in batches of 16."""
    spec = brief(
        part("architectures.lexical_proxy:LexicalProxy", width=width),
        "model.objectives.translation_proxy:TranslationProxy",
        epochs, batch={"examples": 16}, optimizer={"lr": lr, "betas": [0.9, 0.999]},
        select={"metric": "loss", "mode": "min"},
    )  # fmt: skip
    return learned(spec, corpus)[0].model


def test_it_learns_which_word_translates_which(tmp_path):
    """Words 4 to 8 stand for 9 to 13; the order of the target is of no account."""
    random = np.random.default_rng(0)

    def pair():
        source = random.permutation(np.arange(4, 9))[: random.integers(1, 4)]
        return [*source.tolist(), EOS, *random.permutation(source + 5).tolist(), EOS]

    splits = {"train": [pair() for _ in range(300)], "dev": [pair() for _ in range(20)]}
    columns = {s: {"source": [p.index(EOS) + 1 for p in pairs]} for s, pairs in splits.items()}
    corpus = write_corpus(tmp_path / "c", splits, 14, {}, columns)
    theta = trained(corpus, width=32, epochs=8, lr=3e-2).of_words()
    assert theta[4:9, 9:14].argmax(dim=1).tolist() == [0, 1, 2, 3, 4]


def test_it_finds_the_translations_of_the_generated_corpus(tmp_path):
    """Of a noun's forms, the word that beta is highest at is one that the lexicon names."""
    recipe = {"dataset": "multi30k", "source": "generated", "train": 800, "dev": 50, "test": 2}
    corpus = Corpus(encoded(tmp_path, recipe | {"seed": 1, "vocabulary": 300}))
    numbers = {piece: number for number, piece in enumerate(corpus.vocabulary)}
    known: dict[int, set[int]] = {}
    rows = (line.split("\t") for line in (corpus.folder / "lexicon.tsv").read_text().split("\n"))
    for source, target, kind in (row for row in rows if len(row) == 3):
        pieces = [f" {word}@@" for word in (source, target)]
        if kind == "noun" and all(piece in numbers for piece in pieces):
            known.setdefault(numbers[pieces[1]], set()).add(numbers[pieces[0]])
    theta = trained(corpus, width=32, epochs=5, lr=1e-2).of_words()
    split = corpus.split("train")
    of_source = np.concatenate(
        [
            split.tokens[start : start + count]
            for start, count in zip(split.offsets, split.columns["source"], strict=False)
        ]
    )
    read = torch.from_numpy(np.flatnonzero(np.bincount(of_source) >= 10))
    found = [int(read[theta[read, word].argmax()]) in sources for word, sources in known.items()]
    assert len(found) >= 10
    assert np.mean(found) > 0.8
