"""What all parallel corpora have in common, before they become numbers."""

import gzip
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from workflow.datasets.encoded.moses import Moses, Pair
from workflow.datasets.encoded.prepared import prepared_lines
from workflow.datasets.io import multicore
from workflow.datasets.io.left_out import Dropped, read_text
from workflow.datasets.iwslt14 import Data
from workflow.datasets.kinds.parallel_text import read_sides
from workflow.datasets.kinds.recipe import files
from workflow.runtime.errors import DataError

CORPUS = Data()


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_lines_are_what_newlines_divide(tmp_path, pack):
    path = write(tmp_path / "a", pack("Käse\r\n\n\u2028 b\x85\nlast".encode()))
    assert list(read_text(path, Dropped())) == ["Käse", "", "\u2028 b\x85", "last"]


def test_files_that_can_not_be_read_are_named(tmp_path):
    with pytest.raises(DataError, match=r"none: this dataset file does not exist; fetch it again"):
        list(read_text(tmp_path / "none", Dropped()))
    with pytest.raises(DataError, match=r"empty: this file is empty; delete the file"):
        list(read_text(write(tmp_path / "empty", b""), Dropped()))
    packed = gzip.compress(b"a\n" * 999)
    for content in (packed[:-9], packed[:30] + b"\0\0\0\0" + packed[34:]):
        with pytest.raises(DataError, match=r"cut.gz: this file is damaged or cut short \("):
            list(read_text(write(tmp_path / "cut.gz", content), Dropped()))


@pytest.mark.parametrize(("first", "second"), [(3, 5), (5, 3)])
def test_sides_with_different_numbers_of_lines_are_refused(tmp_path, first, second):
    sides = write(tmp_path / "a.de", b"x\n" * first), write(tmp_path / "a.en", b"y\n" * second)
    sentence = rf"a.de has {first} lines and .*a.en has {second}, so they are not translations"
    with pytest.raises(DataError, match=sentence):
        list(read_sides(*sides, Dropped()))
    assert list(read_sides(*sides, Dropped(), 2)) == [("x", "y")] * 2


def test_empty_lines_at_the_end_of_one_side_are_no_pairs(tmp_path):
    sides = write(tmp_path / "a.de", b"x\n\nx\n\n \n"), write(tmp_path / "a.en", b"y\ny\n\n")
    assert list(read_sides(*sides, Dropped())) == [("x", "y"), ("", "y"), ("x", "")]
    sides = write(tmp_path / "a.de", b"x\n\nx\n"), write(tmp_path / "a.en", b"y\n")
    with pytest.raises(DataError, match=r"a.de has 3 lines and .*a.en has 1, so they are not"):
        list(read_sides(*sides, Dropped()))


def test_unfit_pairs_are_dropped_and_counted():
    words = " ".join
    fit = [
        Pair("a \u200b", "\u3042 ?"),
        Pair(words("a" * 175), words("b" * 117)),
        Pair("a b", "c d e"),
        Pair("x" * 1000, "y"),
    ]
    unfit = [
        Pair("", "a"),
        Pair("a", " "),
        Pair("\u200b \ufeff", "a b"),
        Pair(words("a" * 176), words("b" * 176)),
        Pair(words(["a"] * 10_000), words(["b"] * 10_000)),
        Pair("a b", "c d e f"),
        Pair("x" * 1001, "y"),
    ]
    left_out = Dropped()
    assert list(CORPUS.clean([*unfit, *fit], left_out)) == fit
    assert left_out.dropped == {
        "an empty side": 3,
        "more than 175 words": 2,
        "more than 1.5 times as long as the other side": 1,
        "a word of more than 1000 characters": 1,
    }


def test_dev_and_test_pairs_that_can_not_be_translated_are_counted():
    good, left_out = Pair("a", "b"), Dropped()
    odd = [Pair("a", ""), Pair(" ", "a"), Pair("", ""), Pair("a", "b " * 10_000)]
    odd += [Pair("\u200b", "a"), Pair("a", "b" * 60_000)]
    fit = [Pair("a \u200b", "."), Pair("x" * 1000, "b " * 1000)]
    assert list(CORPUS.clean([good, *odd, *fit], left_out, "test")) == [good, *fit]
    assert left_out.dropped == {
        "an empty side in dev or test": 4,
        "more than 1000 words in dev or test": 1,
        "a word of more than 1000 characters in dev or test": 1,
    }


def test_what_prepare_writes(tmp_path):
    left_out = Dropped(replaced_bytes=3)
    pairs = [
        ("dev", Pair("c", "d", "D")),
        ("train", Pair("a b", "ä", "Ä")),
        ("test", Pair("e", "f", "F")),
    ]
    CORPUS.write(tmp_path, pairs, left_out)
    assert {path.name for path in tmp_path.iterdir()} == {*CORPUS.prepared}
    assert [*prepared_lines(tmp_path / "train.source.txt")] == ["a b"]
    assert [*prepared_lines(tmp_path / "train.target.txt")] == ["ä"]
    assert [*prepared_lines(tmp_path / "dev.raw.txt")] == ["D"]
    assert json.loads((tmp_path / "counts.json").read_text())["replaced_bytes"] == 3


def test_an_empty_split_is_refused_and_nothing_is_left(tmp_path):
    with pytest.raises(DataError, match="the split `dev` is empty; check the files that it is"):
        CORPUS.write(tmp_path, [("train", Pair("a", "b"))], Dropped())
    assert list(tmp_path.iterdir()) == []


def test_a_prepared_file_that_is_cut_is_refused(tmp_path):
    with pytest.raises(DataError, match="x: the last line is cut short; delete the folder"):
        list(prepared_lines(write(tmp_path / "x", b"a\nb")))
    with pytest.raises(DataError, match="y: this dataset file does not exist; run the step"):
        list(prepared_lines(tmp_path / "y"))


@pytest.mark.parametrize("joint", [True, False])
def test_the_files_of_every_stage_are_announced(joint):
    named = files({"dataset": "iwslt14_30", "joint": joint})
    assert "codes.txt" in named["prepared"] and "train.raw.txt" not in named["prepared"]
    assert ("codes.txt" in named["encoded"]) == joint
    assert ("source_vocabulary.txt" in named["encoded"]) != joint
    assert {"test.source.txt", "test.reference.txt", "train.source.npy"} <= {*named["encoded"]}
    assert "test_2018.raw_reference.txt" in files({"dataset": "multi30k"})["encoded"]


def test_preparing_holds_a_few_chunks_whatever_the_length(tmp_path, monkeypatch):
    monkeypatch.setattr(multicore, "cores", lambda: 1)
    monkeypatch.setattr("workflow.datasets.encoded.moses.CHUNK", 50)
    moses = Moses(("de", "en"), lowercase=True)

    def pairs(count: int) -> Iterator[tuple[str, Pair]]:
        raw = ((f"Satz {n} ist da.", f"Sentence {n} is here.") for n in range(count))
        for number, pair in enumerate(CORPUS.clean(moses.pairs(raw), Dropped())):
            yield ("train", "dev", "test")[number % 3], pair

    def peak(count: int) -> int:
        tracemalloc.start()
        CORPUS.write(tmp_path, pairs(count), Dropped())
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(300)  # what is loaded once
    # The further 900 pairs, held as text, would take 260 kB.
    assert peak(1200) - peak(300) < 50_000
    assert len(list(pairs(900))) == 900
