"""Pairs as arrays: against subword-nmt on running text, against NumPy, and read by the model."""

import io
import random
import tempfile
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from subword_nmt.apply_bpe import BPE

from model.batches.corpus import Corpus
from tests.datasets.folders import names, rows
from workflow.datasets.encoded import byte_pairs, subwords
from workflow.datasets.encoded.encoding import array_file
from workflow.datasets.encoded.moses import Pair
from workflow.datasets.io.checksums import read_manifest
from workflow.datasets.io.left_out import Dropped
from workflow.datasets.iwslt14 import Data
from workflow.datasets.iwslt14_30 import Data as GivenCodes
from workflow.datasets.kinds.parallel_text import ParallelText
from workflow.runtime.errors import DataError

SOURCE = ("haus", "häuser", "baum", "bäume", "klein", "kleine", "kleinen", "sieht", "sehen")
TARGET = ("house", "houses", "tree", "trees", "small", "smaller", "sees", "see", "seen")
SPLITS = {"train": 60, "dev": 7, "test": 5}

Encode = Callable[..., Path]


def pairs(split: str, count: int, seed: int = 0) -> Iterator[Pair]:
    """Random pairs, of test also with a word and a letter that no other split has."""
    generator = random.Random(f"{split} {seed}")
    for _ in range(count):
        words = [generator.choices(side, k=generator.randint(1, 6)) for side in (SOURCE, TARGET)]
        if split == "test":
            words[0].append("häuschen")
            words[1].append("qi")
        source, target = map(" ".join, words)
        yield Pair(source, target, target.upper())


@pytest.fixture
def encoded(tmp_path: Path) -> Encode:
    """Return a function that prepares and encodes random pairs."""

    def run(corpus: ParallelText, folder: str = "data", train: int = SPLITS["train"]) -> Path:
        prepared, out = tmp_path / folder / "prepared", tmp_path / folder / "encoded"
        sizes = {**SPLITS, "train": train}
        made = ((split, pair) for split in corpus.splits for pair in pairs(split, sizes[split]))
        corpus.write(prepared, made, Dropped())
        corpus.encode(prepared, out)
        return out

    return run


def sentences(
    out: Path, split: str, vocabularies: Sequence[str] = ("vocabulary.txt",) * 2
) -> list[tuple[str, str]]:
    """Read the arrays back as sub-words, by NumPy alone."""
    known = [(out / name).read_text().rstrip("\n").split("\n") for name in vocabularies]
    found = []
    for ids, cut in zip(rows(out, split), np.load(out / f"{split}.source.npy"), strict=True):
        sides = ids[:cut], ids[cut:]
        assert all(side[-1] == 2 and 2 not in side[:-1] for side in sides)
        pairs = zip(known, sides, strict=True)
        found.append(tuple(" ".join(words[token] for token in side[:-1]) for words, side in pairs))
    return found


def known_only(pieces: str, vocabulary: set[str]) -> str:
    """Put the unknown in the place of pieces that are out of a vocabulary."""
    return " ".join(piece if piece in vocabulary else "<unk>" for piece in pieces.split())


def expected(split: str, codes: str, vocabulary: set[str]) -> list[tuple[str, ...]]:
    """Apply subword-nmt to the lines, a piece out of the vocabulary being unknown."""
    applied = BPE(io.StringIO(codes))
    return [
        tuple(known_only(applied.process_line(side), vocabulary) for side in pair[:2])
        for pair in pairs(split, SPLITS[split])
    ]


def test_joint_sub_words(encoded):
    out = encoded(Data(merges=40))
    vocabulary = names(out)
    assert vocabulary[:4] == ["<pad>", "<bos>", "<eos>", "<unk>"]
    codes = (out / "codes.txt").read_text()
    both = " ".join(side for pair in pairs("train", 60) for side in pair[:2]).split()
    assert codes == byte_pairs.learn({word: both.count(word) for word in both}, 40)
    for split in SPLITS:
        found = sentences(out, split)
        assert found == expected(split, codes, {*vocabulary})
    pieces = " ".join(" ".join(pair) for pair in expected("train", codes, {*vocabulary})).split()
    assert vocabulary[4:] == sorted({*pieces}, key=lambda piece: (-pieces.count(piece), piece))


def test_the_manifest_describes_the_corpus(encoded):
    out = encoded(Data(merges=40))
    found = read_manifest(out)
    assert found["languages"] == {"source": "en", "target": "de"}
    assert found["lowercase"] is True
    assert "vocabulary_sizes" not in found
    for split, count in SPLITS.items():
        texts = sentences(out, split)
        sizes = found["splits"][split]
        for side, lines in zip(("source", "target"), zip(*texts, strict=True), strict=True):
            lines = [line.split() for line in lines]
            assert sizes[f"{side}_tokens"] == sum(map(len, lines)) + count
            median = float(np.median([len(line) for line in lines]))
            assert found["statistics"]["median_length"][split][side] == median
        assert sizes["examples"] == count
        assert sizes["tokens"] == sizes["source_tokens"] + sizes["target_tokens"]
    statistics = found["statistics"]
    words = [pair.source.split() for pair in pairs("train", 60)]
    assert statistics["words"]["train"]["source"] == sum(map(len, words))
    assert statistics["median_words"]["train"]["source"] == float(np.median([*map(len, words)]))
    # `ch` of häuschen may be known in part; `qi` has at least the letter q that no text has.
    unknown = " ".join(" ".join(pair) for pair in sentences(out, "test"))
    assert statistics["unknown_tokens"] == {"dev": 0, "test": unknown.split().count("<unk>")}
    assert unknown.split().count("<unk>") >= SPLITS["test"]
    train = [pair[:2] for pair in pairs("train", 60)]
    assert statistics["duplicates"]["train"] == 60 - len({*train})
    assert statistics["duplicates"]["dev"] == sum(p[:2] in train for p in pairs("dev", 7))
    assert {*found["files"]} == {path.name for path in out.iterdir()} - {"manifest.json"}


def test_pairs_that_repeat_are_counted(tmp_path):
    one, other = Pair("aa bb", "cc"), Pair("aa", "bb cc")
    made = [("train", one), ("train", other), ("train", one), ("dev", one), ("test", other)]
    made += [("dev", Pair("aa", "cc")), ("test", other)]
    Data().write(tmp_path / "prepared", made, Dropped())
    Data().encode(tmp_path / "prepared", tmp_path / "encoded")
    repeated = read_manifest(tmp_path / "encoded")["statistics"]["duplicates"]
    assert repeated == {"train": 1, "dev": 1, "test": 2}


def test_a_vocabulary_for_each_side(encoded):
    out = encoded(Data(merges=25, joint=False))
    found = read_manifest(out)
    vocabularies = ("source_vocabulary.txt", "vocabulary.txt")
    names = [{*(out / name).read_text().rstrip("\n").split("\n")} for name in vocabularies]
    assert found["vocabulary_sizes"] == {"source": len(names[0]), "target": len(names[1])}
    assert found["vocabulary_size"] == len(names[1])
    for side, name in enumerate(("source", "target")):
        codes = (out / f"{name}_codes.txt").read_text()
        words = " ".join(pair[side] for pair in pairs("train", 60)).split()
        assert codes == byte_pairs.learn({word: words.count(word) for word in words}, 25)
        for split in SPLITS:
            read = [pair[side] for pair in sentences(out, split, vocabularies)]
            assert read == [pair[side] for pair in expected(split, codes, names[side])]


def test_rare_sub_words_are_split_further(encoded):
    """As subword-nmt does with the vocabulary of each side and a threshold."""
    out = encoded(Data(merges=40, threshold=30))
    codes = (out / "codes.txt").read_text()
    vocabulary = {*names(out)}
    whole, further = BPE(io.StringIO(codes)), 0
    for side in (0, 1):
        lines = [whole.process_line(pair[side]) for pair in pairs("train", SPLITS["train"])]
        often = {piece for piece, n in Counter(" ".join(lines).split()).items() if n >= 30}
        applied = BPE(io.StringIO(codes), vocab=often)
        for split, count in SPLITS.items():
            found = [t[side] for t in sentences(out, split)]
            made = [applied.process_line(pair[side]) for pair in pairs(split, count)]
            assert found == [known_only(pieces, vocabulary) for pieces in made]
        texts = [pair[side] for pair in pairs("train", SPLITS["train"])]
        further += sum(applied.process_line(t) != whole.process_line(t) for t in texts)
    assert further


def test_a_threshold_that_no_sub_word_reaches(encoded, tmp_path):
    with pytest.raises(DataError, match="No sub-word of dataset `iwslt14` comes 9999 times in the"):
        encoded(Data(merges=40, threshold=9999))
    assert not list(tmp_path.glob("data/encoded/*"))


def test_the_texts_are_kept_for_scores(encoded):
    out = encoded(Data(merges=40))
    for split in ("dev", "test"):
        made = list(pairs(split, SPLITS[split]))
        for name, kind in (("source", 0), ("reference", 1), ("raw_reference", 2)):
            lines = (out / f"{split}.{name}.txt").read_text()
            assert lines == "".join(f"{pair[kind]}\n" for pair in made)


def test_the_model_reads_the_corpus(encoded):
    corpus = Corpus(encoded(Data(merges=40)))
    split = corpus.split("dev")
    assert len(split) == 7 and split.columns["source"].shape == (7,)
    assert len(corpus.vocabulary) == corpus.manifest["vocabulary_size"]
    assert (np.asarray(split.columns["source"]) < split.lengths).all()


@pytest.mark.parametrize("joint", [True, False])
def test_a_vocabulary_that_is_too_large_for_its_ids(encoded, tmp_path, monkeypatch, joint):
    monkeypatch.setattr(subwords, "ID", np.dtype(np.int8))
    monkeypatch.setattr("workflow.datasets.encoded.parallel_encoding.ID", np.dtype(np.int8))
    encoded(Data(merges=1, joint=joint), "small")
    monkeypatch.setattr(subwords, "RESERVED", tuple(f"<{n}>" for n in range(120)))
    sentence = (
        r"The vocabulary of dataset `iwslt14` has \d+ entries, and int8 holds ids up to 127; "
        "lower `merges` or raise `threshold`."
    )
    with pytest.raises(DataError, match=sentence):
        encoded(Data(merges=1, joint=joint), "large")
    assert not list(tmp_path.glob("large/encoded/*"))


def test_codes_of_another_corpus(tmp_path):
    corpus = GivenCodes(merges=10)
    made = ((split, pair) for split in SPLITS for pair in pairs(split, SPLITS[split]))
    prepared = tmp_path / "prepared"
    corpus.write(prepared, made, Dropped())
    other = byte_pairs.learn({"хорошо": 5, "хороший": 4, "плохо": 3, "плохой": 3}, 10)
    (prepared / "codes.txt").write_text(other)
    with pytest.raises(DataError, match=r"codes.txt: the words of this corpus use 0 of the 10 mer"):
        corpus.encode(prepared, tmp_path / "encoded")
    assert not (tmp_path / "encoded" / "manifest.json").exists()
    own = byte_pairs.learn(dict.fromkeys(SOURCE + TARGET, 5), 10)
    (prepared / "codes.txt").write_text(own)
    replace(corpus, merges=6).encode(prepared, tmp_path / "encoded")
    used = (tmp_path / "encoded" / "codes.txt").read_text()
    assert used == "\n".join([*own.split("\n")[:7], ""])


@settings(max_examples=25)
@given(st.lists(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=9), max_size=5))
def test_a_growing_array_is_the_one_that_numpy_saves(parts):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.npy"
        with array_file(path, np.int32) as stream:
            for part in parts:
                stream.write(np.array(part, dtype=np.int32).tobytes())
        saved = io.BytesIO()
        np.save(saved, np.array([n for part in parts for n in part], dtype=np.int32))
        assert path.read_bytes() == saved.getvalue()


def test_encoding_holds_numbers_about_sentences_but_no_sentences(encoded):
    def peak(train: int) -> int:
        tracemalloc.start()
        encoded(Data(merges=10), f"data{train}", train)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(10)  # what is loaded once
    # Lengths and the like take about 60 bytes a pair; the pairs themselves would take 350.
    assert (peak(8000) - peak(2000)) / 6000 < 90
