"""BLEU-4 and CIDEr-D by hand, by slow loops and by the official package; what ignores the image."""

import math
from collections import Counter
from unicodedata import normalize

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.batches.caption_words import caption_words
from model.probes.measure import Subject
from model.probes.quality import coco_tools
from model.probes.quality.caption_metrics import bleu, cider
from model.probes.quality.caption_pictures import caption_pictures
from model.probes.quality.caption_scores import (
    caption_scores,
    captions_of,
    frequent_caption,
    scored,
)
from tests.model.captioned import WORDS, coloured, write_captioned
from tests.model.corpora import CPU
from tests.model.translators import hypotheses

CAPTION = st.lists(st.sampled_from("abcd"), min_size=1, max_size=7)
IMAGES = st.lists(st.tuples(CAPTION, st.lists(CAPTION, min_size=1, max_size=3)), min_size=2)


def words(*captions):
    return [caption.split() for caption in captions]


def test_bleu_by_hand():
    assert bleu(words("a b c d e"), [words("a b c d f", "a b c d e f g")]) == pytest.approx(100)
    # All n-grams are right, 4 words against 6.
    short = bleu(words("a b c d"), [words("a b c d e f")])
    assert short == pytest.approx(100 * math.exp(1 - 6 / 4))
    # 4/6, 3/5, 2/4 and 1/3 are right; of references equally near to 6 words the shorter counts.
    clipped = bleu(words("a b c d d x"), [words("a b c d e", "a b c d e f g")])
    assert clipped == pytest.approx(100 * (4 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)
    # There is no n-gram of four words: 1e-15 / 1e-9 in place of 0 / 0.
    assert bleu(words("a b c"), [words("a b c")]) == pytest.approx(100 * 1e-6**0.25)


def slow_cider(hypotheses, references):
    """Vedantam et al. (2015), equations 2 to 5, as arrays over all n-grams of a length."""

    def counts(caption, n):
        return Counter(tuple(caption[i : i + n]) for i in range(len(caption) - n + 1))

    found = np.zeros(len(hypotheses))
    for n in range(1, 5):
        seen = {g for those in [*references, hypotheses] for one in those for g in counts(one, n)}
        index = {gram: place for place, gram in enumerate(sorted(seen))}
        having = np.zeros(len(index))
        for those in references:
            for gram in {gram for one in those for gram in counts(one, n)}:
                having[index[gram]] += 1
        idf = math.log(len(references)) - np.log(np.maximum(1, having))

        def vector(caption, n=n, index=index, idf=idf):
            array = np.zeros(len(index))
            for gram, count in counts(caption, n).items():
                array[index[gram]] = count
            return array * idf

        for image, those in enumerate(references):
            mine = vector(hypotheses[image])
            for one in those:
                theirs = vector(one)
                norms = np.linalg.norm(mine) * np.linalg.norm(theirs)
                if norms > 0:
                    cosine = np.minimum(mine, theirs) @ theirs / norms
                    apart = len(hypotheses[image]) - len(one)
                    found[image] += cosine * math.exp(-(apart**2) / 72) / len(those) / 4
    return 1000 * found


@given(IMAGES)
def test_cider_is_that_of_a_slow_loop(images):
    hypotheses, references = zip(*images, strict=True)
    expected = slow_cider(hypotheses, references)
    np.testing.assert_allclose(cider(hypotheses, references), expected, atol=1e-9)


@given(IMAGES)
def test_scores_are_those_of_the_official_package(images):
    bleu_module = pytest.importorskip("pycocoevalcap.bleu.bleu_scorer")
    cider_module = pytest.importorskip("pycocoevalcap.cider.cider_scorer")
    hypotheses, references = zip(*images, strict=True)
    scorers = bleu_module.BleuScorer(n=4), cider_module.CiderScorer(n=4, sigma=6.0)
    for own, those in images:
        for scorer in scorers:
            scorer += (" ".join(own), [" ".join(one) for one in those])
    theirs, _ = scorers[0].compute_score(option="closest", verbose=0)
    assert bleu(hypotheses, references) == pytest.approx(100 * theirs[3])
    _, by_image = scorers[1].compute_score()
    np.testing.assert_allclose(cider(hypotheses, references), 100 * by_image, atol=1e-9)


PLAIN = [
    ("A man's dog doesn't bark , it runs .", "a man 's dog does n't bark it runs"),
    ("Two T-shirts: one is red; the other isn't!", "two t-shirts one is red the other is n't"),
    ('He says "go" now -- for 3.5 hours ...', "he says go now for 3.5 hours"),
    ("They're here, I'm there", "they 're here i 'm there"),
]


OTHER_SCRIPTS = [
    ("लड़की कूदती है ।", "लड़की कूदती है"),
    ("e\u0301t\u00e9 s'en va", "\u00e9t\u00e9 s en va"),
    ("\u0130stanbul'a", "i\u0307stanbul a"),
]


def test_words_are_those_of_the_penn_treebank():
    for caption, expected in PLAIN:
        assert " ".join(caption_words(caption)) == expected


@pytest.mark.parametrize(("caption", "words"), OTHER_SCRIPTS)
def test_marks_belong_to_the_letter_before_them(caption, words):
    assert caption_words(caption) == normalize("NFC", words).split()


@pytest.mark.skipif(bool(coco_tools.lacking()), reason="pycocoevalcap or Java is missing")
def test_plain_captions_are_split_as_the_official_tokeniser_does():
    assert coco_tools.split_words([caption for caption, _ in PLAIN]) == [
        expected.split() for _, expected in PLAIN
    ]
    assert coco_tools.meteor(["a dog runs"], [["a dog runs", "x"]]) == pytest.approx(100)
    assert coco_tools.meteor(["a dog runs"], [["the cat sat"]]) < 20


@pytest.fixture
def corpus(tmp_path):
    random = np.random.default_rng(0)
    told = {"train": coloured(30, random), "dev": coloured(4, random)}
    features = np.zeros((1, 6))
    told["train"] += [(features, ("a red dog", "a red dog", "a dog"))] * 9
    test = ["a red dog", "a blue cat", "a blue dog runs", "a cat"]
    told["test"] = [(features, (one, "a runs")) for one in test]
    return write_captioned(tmp_path / "c", told)


class Scripted:
    """A search that writes the first caption of each image in turn, and a model of no regions."""

    def __init__(self, captions):
        self.captions = iter(captions)

    def search(self, model, images, regions):
        rows = [[*map(WORDS.index, next(self.captions).split()), 2] for _ in range(len(images))]
        return hypotheses(rows)


class Model(torch.nn.Module):
    def regions(self, images, counts):
        return None


def test_captions_are_scored_in_the_order_of_the_split(corpus):
    told = ["a red dog", "a blue dog", "a blue dog runs", "a cat"]
    subject = Subject(Model(), corpus, CPU, 0)
    found = caption_scores(subject, Scripted(told))
    assert found.arrays["hypotheses"] == told
    assert found.arrays["exact"] == [100, 0, 100, 100]
    assert found.scalars["exact"]["value"] == 75
    references = [[one.split(), ["a", "runs"]] for one in ["a red dog", "a blue cat", *told[2:]]]
    by_image = cider(words(*told), references)
    assert found.arrays["cider"] == pytest.approx(by_image.tolist())
    assert found.scalars["cider"]["value"] == pytest.approx(by_image.mean())
    assert found.scalars["bleu_4"]["value"] == pytest.approx(bleu(words(*told), references))
    other = caption_scores(subject, Scripted(told), shuffled=True).arrays["hypotheses"]
    assert sorted(other) == sorted(told) and all(a != b for a, b in zip(told, other, strict=True))


def test_the_most_frequent_caption_is_the_one_of_the_training_set(corpus):
    read = captions_of(corpus, corpus.split("train"))
    assert len(read) == 30 * 2 + 9 * 3 and read[-3:] == ["a red dog", "a red dog", "a dog"]
    found = frequent_caption(Subject(Model(), corpus, CPU, 0))
    assert found.arrays["hypotheses"] == ["a red dog"] * 4
    assert found.scalars["exact"]["value"] == 25


@pytest.mark.parametrize("missing", ["Java", "pycocoevalcap"])
def test_without_java_the_other_scores_are_there(corpus, missing, monkeypatch):
    monkeypatch.setattr(coco_tools, "lacking", lambda: missing)
    found = scored(corpus, "test", ["a red dog"] * 4)
    assert found.scalars["meteor"]["value"] == f"needs {missing}"
    assert found.arrays["made_by"] == [f"words split without {missing}"]
    assert found.scalars["cider"]["value"] > 0


def test_java_is_looked_for(monkeypatch):
    monkeypatch.setattr(coco_tools.importlib.util, "find_spec", lambda name: None)
    assert coco_tools.lacking() == "pycocoevalcap"
    monkeypatch.setattr(coco_tools.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(coco_tools.shutil, "which", lambda name: None)
    assert coco_tools.lacking() == "Java"
    monkeypatch.setattr(coco_tools.shutil, "which", lambda name: "/usr/bin/java")
    assert coco_tools.lacking() == ""


def test_pictures_are_kept_as_the_model_sees_them(corpus, tmp_path):
    import base64
    import io

    from PIL import Image

    drawn = {s: coloured(3, np.random.default_rng(1), 8) for s in ("train", "dev", "test")}
    pixels = write_captioned(tmp_path / "pixels", drawn)
    kept = caption_pictures(Subject(Model(), pixels, CPU, 0), pictures=2).arrays
    assert kept["names"] == ["test0.jpg", "test1.jpg"]
    for text, (image, _) in zip(kept["pictures"], drawn["test"], strict=False):
        read = np.asarray(Image.open(io.BytesIO(base64.b64decode(text))))
        assert np.array_equal(read, image.transpose(1, 2, 0))
    featured = caption_pictures(Subject(Model(), corpus, CPU, 0), pictures=2).arrays
    assert featured == {"names": ["test0.jpg", "test1.jpg"], "pictures": ["", ""]}
