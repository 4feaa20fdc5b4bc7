"""Words by their embeddings: neighbours against a slow search, and a map that keeps clusters."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.architectures.translation.encoder_decoder import EncoderDecoder
from model.architectures.translation.two_stream import TwoStreamEncoderDecoder
from model.normalizers.gumbel import Gumbel
from model.normalizers.softmax import Softmax
from model.probes.measure import Subject
from model.probes.words.embedding_map import chance, embedding_map, purity
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
        vectors, tags = {word: table[symbols.index(word)] for word in WORDS}, []
        for place, word in ((0, "slightly"), (2, "dog")):
            near = {w: cosine(vectors[word], vectors[w]) for w in WORDS if w != word}
            ranked = sorted(near, key=lambda other, near=near: -near[other])[:3]
            assert found.arrays[stream][place] == ranked
            assert found.arrays[f"{stream}_tag"][place] == [known.get(other) for other in ranked]
            first = found.arrays[f"{stream}_cosine"][place][0]
            assert first == pytest.approx(near[ranked[0]], abs=1e-4)
            tags += [known[other] == known[word] for other in ranked if other in known]
        assert found.arrays[stream][1] == []
        share = found.scalars[f"{stream}_same_tag"]
        assert (share["value"], share["n"]) == (pytest.approx(np.mean(tags)), len(tags))


def test_no_word_found_has_no_share(subject, tagged):
    found = neighbours(subject, tagged, ["absent"])
    assert found.scalars["model_same_tag"]["value"] is None


@given(st.integers(2, 30), st.integers(0, 10**6))
def test_purity_is_the_share_of_near_points_with_the_same_tag(n, seed):
    random = np.random.default_rng(seed)
    points = random.normal(size=(n, 3))
    tags = random.choice(["NN", "VB", "JJ"], n).tolist()
    expected = []
    for i in range(n):
        others = sorted({*range(n)} - {i}, key=lambda k: sum((points[i] - points[k]) ** 2))
        near = others[:10]
        expected.append(sum(tags[k] == tags[i] for k in near) / len(near))
    assert purity(points, tags) == pytest.approx(expected)


def test_chance_is_the_purity_of_all_pairs():
    tags = ["a", "a", "a", "b", "b", "c"]
    pairs = [(i, k) for i in range(6) for k in range(6) if i != k]
    assert chance(tags) == pytest.approx(np.mean([tags[i] == tags[k] for i, k in pairs]))


def test_clusters_are_seen_and_noise_is_not(tmp_path):
    """Embeddings with a direction for each part of speech, then without."""
    nouns, verbs, others = ([f"{kind}{n}" for n in range(20)] for kind in ("n", "v", "o"))
    words = [*nouns, *verbs, *others]
    corpus = write_parallel(tmp_path / "c", {"train": [(" ".join(words), "x")]})
    tags = dict.fromkeys(nouns, "NN") | dict.fromkeys(verbs, "VB") | dict.fromkeys(others, "CD")
    tagged = write_tagged(tmp_path / "t", {"train": [[(w, tags[w], "O") for w in words]]})
    torch.manual_seed(0)
    model = EncoderDecoder(len(corpus.vocabulary), 16, 8, 1, 2, Softmax()).eval()
    noise = embedding_map(Subject(model, corpus, CPU, 0), tagged)
    with torch.no_grad():
        for place, word in enumerate(corpus.vocabulary):
            if word in tags:
                model.source.token.weight[place, 0 if tags[word] == "NN" else 1] += 3
    found = embedding_map(Subject(model, corpus, CPU, 0), tagged)
    assert found.arrays["word"] == sorted([*nouns, *verbs], key=corpus.vocabulary.index)
    assert found.arrays["tag"] == [tags[word] for word in found.arrays["word"]]
    assert len(found.arrays["model_x"]) == len(found.arrays["model_y"]) == 40
    assert found.scalars["chance"]["value"] == pytest.approx(19 / 39)
    for name in ("model_purity", "model_map_purity"):
        assert found.scalars[name]["value"] > 0.95
        assert noise.scalars[name]["value"] < 0.75
        assert found.scalars[name]["n"] == 40
    again = embedding_map(Subject(model, corpus, CPU, 0), tagged)
    assert again == found


def test_too_few_tagged_words_are_refused(tmp_path):
    corpus = write_parallel(tmp_path / "c", {"train": [("a b", "x")]})
    tagged = write_tagged(tmp_path / "t", {"train": [[("a", "NN", "O"), ("z", "NN", "O")]]})
    model = EncoderDecoder(len(corpus.vocabulary), 8, 8, 1, 2, Softmax()).eval()
    with pytest.raises(ValueError, match="tags 1 of the 2 most frequent words"):
        embedding_map(Subject(model, corpus, CPU, 0), tagged)
