"""Scores of translations: the order of hypotheses, BLEU by a slow loop, sacrebleu's own numbers."""

import math
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.architectures.translation.beam_search import Beam
from model.architectures.translation.encoder_decoder import EncoderDecoder
from model.batches.corpus import Corpus
from model.normalizers.softmax import Softmax
from model.probes.measure import Subject
from model.probes.quality.translation_scores import (
    as_written,
    scores,
    translation_scores,
    without_compounds,
)
from tests.model.corpora import CPU, encoded
from tests.model.parallel import write_parallel
from tests.model.translators import hypotheses

TEST = [
    ("the dog", "der hu@@ nd"),
    ("a", "ein kl@@ ein@@ er hu@@ nd"),
    ("the old dog sees", "der alte hu@@ nd"),
    ("dog", "hu@@ nd und hu@@ nd"),
]


class Scripted:
    """A search that gives back what it was told for each source."""

    def __init__(self, corpus, translations):
        symbols = corpus.vocabulary
        self.by_source = {}
        split = corpus.split("test")
        for n, text in enumerate(translations):
            start = int(split.offsets[n])
            source = tuple(split.tokens[start : start + int(split.columns["source"][n])].tolist())
            self.by_source[source] = [symbols.index(piece) for piece in text.split()] + [2]

    def search(self, model, source, layout):
        rows = [
            self.by_source[tuple(ids[real].tolist())]
            for ids, real in zip(source, layout.real, strict=True)
        ]
        return hypotheses(rows)


class Copied:
    """A search that gives back each source."""

    def search(self, model, source, layout):
        return hypotheses(
            [ids[real].tolist() for ids, real in zip(source, layout.real, strict=True)]
        )


@pytest.fixture
def corpus(tmp_path):
    return write_parallel(tmp_path / "c", {"train": TEST, "test": TEST})


def slow_bleu(hypotheses, references):
    """Papineni et al. (2002), one reference, n up to 4, without smoothing."""
    right, made = Counter(), Counter()
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        for n in range(1, 5):
            grams = [
                Counter(tuple(text.split()[i : i + n]) for i in range(len(text.split()) - n + 1))
                for text in (hypothesis, reference)
            ]
            made[n] += sum(grams[0].values())
            right[n] += sum(min(count, grams[1][gram]) for gram, count in grams[0].items())
    if any(right[n] == 0 for n in range(1, 5)):
        return 0.0
    precision = math.prod((right[n] / made[n]) ** 0.25 for n in range(1, 5))
    lengths = [sum(len(text.split()) for text in side) for side in (hypotheses, references)]
    return 100 * precision * min(1, math.exp(1 - lengths[1] / lengths[0]))


def test_all_test_sets_of_a_corpus_are_scored_together_and_each_alone(tmp_path):
    recipe = {
        **{"dataset": "multi30k", "source": "generated", "tests": "all", "seed": 0},
        **{"merges": 200, "train": 40, "dev": 5, "test": 6},
    }
    subject = Subject(torch.nn.Identity(), Corpus(encoded(tmp_path, recipe)), CPU, 0)
    together, *alone = (
        translation_scores(subject, Copied(), split) for split in ("test", "test_2016", "test_2017")
    )
    assert [one.scalars["bleu"]["n"] for one in (together, *alone)] == [12, 6, 6]
    for kind in ("hypotheses", "references", "written"):
        assert together.arrays[kind] == [text for one in alone for text in one.arrays[kind]]


def test_hypotheses_are_in_the_order_of_the_split(corpus):
    wanted = ["der hu@@ nd", "ein hu@@ nd", "alte hu@@ nd der der", "hu@@"]
    subject = Subject(torch.nn.Identity(), corpus, CPU, 0)
    found = translation_scores(subject, Scripted(corpus, wanted), tokens=5)
    plain = ["der hund", "ein hund", "alte hund der der", "hu"]
    assert found.arrays["hypotheses"] == plain
    references = [text.replace("@@ ", "") for _, text in TEST]
    assert found.arrays["references"] == found.arrays["written"] == references
    assert found.scalars["bleu"]["value"] == pytest.approx(slow_bleu(plain, references))
    assert found.scalars["bleu"]["n"] == 4
    assert found.scalars["length_ratio"]["value"] == pytest.approx(9 / 11)


WORDS = st.sampled_from(["der", "Der", "hund", "ein-haus", "z.b.", "."])
SENTENCES = st.lists(WORDS, min_size=1, max_size=9).map(" ".join)


@given(st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=6))
def test_bleu_in_words_is_papinenis(tmp_path_factory, pairs):
    folder = tmp_path_factory.mktemp("x") / "c"
    corpus = write_parallel(folder, {"train": [("a", "der")]}, lowercase=False)
    hypotheses, references = (list(side) for side in zip(*pairs, strict=True))
    written = as_written(corpus, "test", references)
    found, signatures = scores(corpus, hypotheses, references, written)
    lower = [[text.lower() for text in side] for side in (hypotheses, references)]
    assert found["bleu"]["value"] == pytest.approx(slow_bleu(*lower), abs=1e-6)
    apart = [without_compounds(side) for side in (hypotheses, references)]
    assert found["compound_bleu"]["value"] == pytest.approx(slow_bleu(*apart), abs=1e-6)
    names = [text.split()[0] for text in signatures]
    assert names == ["bleu", "compound_bleu", "sacrebleu", "chrf"]


def test_sacrebleu_reads_texts_as_they_were_written(tmp_path):
    """Escapes and spaces are undone; the raw reference is used, in lower case as the corpus is."""
    import sacrebleu

    corpus = write_parallel(tmp_path / "c", {"train": [("x", "hund")], "test": [("x", "hund")] * 2})
    raw = ['Der Hund sagt: "Ja, gern!"', "Er hat Peters Boot."]
    (corpus.folder / "test.raw_reference.txt").write_text("".join(f"{line}\n" for line in raw))
    hypotheses = ["der hund sagt : &quot; ja , gern ! &quot;", "er hat ein boot ."]
    references = ["der hund sagt : &quot; ja , gern ! &quot;", "er hat peters boot ."]
    assert as_written(corpus, "test", references) == raw
    found, signatures = scores(corpus, hypotheses, references, raw)
    texts = ['der hund sagt: "ja, gern!"', "er hat ein boot."]
    expected = sacrebleu.corpus_bleu(texts, [raw], lowercase=True)
    assert 20 < expected.score < 100
    assert found["sacrebleu"]["value"] == pytest.approx(expected.score)
    lower = [line.lower() for line in raw]
    assert found["chrf"]["value"] == pytest.approx(sacrebleu.corpus_chrf(texts, [lower]).score)
    assert signatures[2].startswith("sacrebleu nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:")
    assert signatures[0].startswith("bleu nrefs:1|case:lc|eff:no|tok:none|smooth:none|version:")
    # Without it both sides are put together in the same way.
    (corpus.folder / "test.raw_reference.txt").unlink()
    written = as_written(corpus, "test", references)
    assert written == ['der hund sagt: "ja, gern!"', "er hat peters boot."]
    found, _ = scores(corpus, references, references, written)
    assert found["sacrebleu"]["value"] == pytest.approx(100)


def test_compounds_are_taken_apart_as_the_papers_did():
    texts = ["rich-text format", "a - b", "x-y-z", "ab-cd-ef", "-x y-"]
    assert without_compounds(texts) == [
        "rich ##AT##-##AT## text format",
        "a - b",
        "x ##AT##-##AT## y-z",
        "ab ##AT##-##AT## cd ##AT##-##AT## ef",
        "-x y-",
    ]


def test_a_real_search_translates_every_sentence(corpus):
    torch.manual_seed(0)
    model = EncoderDecoder(len(corpus.vocabulary), 8, 8, 1, 2, Softmax()).eval()
    subject = Subject(model, corpus, CPU, 0)
    whole = translation_scores(subject, Beam(2, length_extra=3))
    apart = translation_scores(subject, Beam(2, length_extra=3), tokens=3)
    assert whole.arrays == apart.arrays
    assert len(whole.arrays["hypotheses"]) == len(TEST)


def test_references_that_do_not_fit_are_named(corpus):
    subject = Subject(torch.nn.Identity(), corpus, CPU, 0)
    path = corpus.folder / "test.reference.txt"
    path.write_text("eine\nzwei\n")
    with pytest.raises(ValueError, match=r"test\.reference\.txt has 2 lines and the split 4"):
        translation_scores(subject, Scripted(corpus, ["", "", "", ""]))
    path.unlink()
    with pytest.raises(ValueError, match=r"test\.reference\.txt cannot be read"):
        translation_scores(subject, Scripted(corpus, ["", "", "", ""]))


def test_right_translations_have_all_scores_full(tmp_path):
    pairs = [("a b", "der alte hund sieht ein boot"), ("b", "ein boot und ein hund ist da")]
    corpus = write_parallel(tmp_path / "c", {"train": pairs, "test": pairs})
    subject = Subject(torch.nn.Identity(), corpus, CPU, 0)
    found = translation_scores(subject, Scripted(corpus, [text for _, text in pairs])).scalars
    for name in ("bleu", "compound_bleu", "sacrebleu", "chrf"):
        assert found[name]["value"] == pytest.approx(100)
    assert found["length_ratio"]["value"] == 1
