"""Neighbours of words in both streams, against a slow search."""

import math

import numpy as np
import pytest
import torch

from model.architectures.translation.two_stream import TwoStreamEncoderDecoder
from model.normalizers.gumbel import Gumbel
from model.probes.measure import Subject
from model.probes.words.neighbours import nearest_rows, neighbours
from model.probes.words.states import embeddings
from tests.model.corpora import CPU
from tests.model.parallel import write_parallel, write_tagged

WORDS = ["big", "dog", "slightly", "small", "somewhat", "cat", "the"]


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(
        sum(x * x for x in a) * sum(y * y for y in b)
    )


def test_nearest_rows_by_hand():
    table = np.array([[1.0, 0], [2, 0.2], [0, 3], [-1, 0], [1, 1]])
    rows, cosines = nearest_rows(table, [0, None], 3)
    assert rows == [[1, 4, 2], []]
    assert cosines[0] == pytest.approx([2 / math.sqrt(4.04), math.sqrt(0.5), 0])
    assert nearest_rows(table, [0], 10)[0] == [[1, 4, 2, 3]]


@pytest.fixture
def subject(tmp_path):
    pairs = [(" ".join(WORDS), "hund katze big"), ("dog un@@ slightly", "hund")]
    corpus = write_parallel(tmp_path / "c", {"train": pairs})
    torch.manual_seed(0)
    model = TwoStreamEncoderDecoder(len(corpus.vocabulary), 8, 8, 1, 2, Gumbel())
    return Subject(model.eval(), corpus, CPU, 0)


@pytest.fixture
def tagged(tmp_path):
    tags = zip(["big", "dog", "slightly", "small", "somewhat"], ["JJ", "NN", "RB", "JJ", "RB"],
               strict=True)  # fmt: skip
    return write_tagged(tmp_path / "t", {"train": [[(word, tag, "O") for word, tag in tags]]})


def test_each_stream_has_its_own_neighbours(subject, tagged):
    found = neighbours(subject, tagged, ["Slightly", "absent", "dog"], nearest=3)
    symbols = subject.corpus.vocabulary
    assert found.scalars["found"]["value"] == 2
    assert found.arrays["word"] == ["Slightly", "absent", "dog"]
    assert found.arrays["tag"] == ["RB", None, "NN"]
    tables = embeddings(subject.model, "source")
    assert sorted(tables) == ["controller", "model"]
    assert not np.allclose(tables["model"], tables["controller"])
    known = {"big": "JJ", "dog": "NN", "slightly": "RB", "small": "JJ", "somewhat": "RB"}
    for stream, table in tables.items():
        same, judged = 0, 0
        for place, word in ((0, "slightly"), (2, "dog")):
            ranked = sorted(
                (other for other in WORDS if other != word),
                key=lambda other: (
                    -cosine(
                        table[symbols.index(word)],
                        table[symbols.index(other)],
                    )
                ),
            )
            assert found.arrays[stream][place] == ranked[:3]
            tags = [known.get(other) for other in ranked[:3]]
            assert found.arrays[f"{stream}_tag"][place] == tags
            first = cosine(table[symbols.index(word)], table[symbols.index(ranked[0])])
            assert found.arrays[f"{stream}_cosine"][place][0] == pytest.approx(first, abs=1e-4)
            same += sum(tag == known[word] for tag in tags)
            judged += sum(tag is not None for tag in tags)
        assert found.arrays[stream][1] == []
        share = found.scalars[f"{stream}_same_tag"]
        assert share["value"] == pytest.approx(same / judged)
        assert share["n"] == judged


def test_no_word_found_has_no_share(subject, tagged):
    found = neighbours(subject, tagged, ["absent"])
    assert found.scalars["model_same_tag"]["value"] is None
