"""The reduced IWSLT'14, from made-up samples and from the real ones."""

import lzma
from typing import Any

import pytest

from tests.datasets.folders import examples, texts
from workflow.datasets import iwslt14_30
from workflow.datasets.encoded import byte_pairs
from workflow.datasets.fetched.sources import load
from workflow.datasets.iwslt14_30 import SAMPLES

Files = dict[str, bytes]
RECIPE = {"dataset": "iwslt14_30", "merges": 8, "direction": "de_en"}


PACKED = "train_sample_E.train.en"


def lines(*texts: str) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> Files:
    """Samples of three real pairs each, where they are not used whole."""
    cut = {name: 3 if count else None for name, count in SAMPLES.items()}
    monkeypatch.setattr(iwslt14_30, "SAMPLES", cut)
    found: Files = {}
    for name, count in SAMPLES.items():
        letter = name.split("_")[2][0]
        rest = ("<T_1> x", "<T_2> x y") if count else ()
        found[f"{name}.de"] = lines(*(f"{letter.lower()}@@ atz {n}" for n in range(3)), *rest)
        found[f"{name}.en"] = lines(*(f"{letter.lower()} sent@@ ence {n}" for n in range(3)), *rest)
    found["train_sample_E.train.en"] += b"more\n" * 9
    found["train_sample_B.train.de"] = found["train_sample_B.train.de"][:-1]  # no last newline
    found["train_sample_G.sample.de-en"] = lines("g@@ atz 1\tg sentence 1", "ja .\tyes .")
    for split in ("valid", "test"):
        found[f"fairseq.{split}.de"] = lines(f"{split} eins", "b atz 9")
        found[f"fairseq.{split}.en"] = lines(f"{split} one", "b sentence 9")
    words = ["atz", "batz", "catz", "sentence", "sentences", "eins", "one"]
    found["fairseq.code"] = byte_pairs.learn(dict.fromkeys(words, 5), 8).encode()
    return found


def test_the_samples_make_up_the_train_set(take, files, tmp_path):
    manifest = take(RECIPE, files)
    pairs = [
        *((f"{letter}atz {n}", f"{letter} sentence {n}") for letter in "abcdef" for n in range(3)),
        ("gatz 1", "g sentence 1"),
        ("ja .", "yes ."),
    ]
    folder = tmp_path / "data"
    found = zip(texts(folder, "train.source"), texts(folder, "train.target"), strict=True)
    assert list(found) == pairs
    assert texts(folder, "dev.source") == ["valid eins", "b atz 9"]
    assert texts(folder, "test.target") == ["test one", "b sentence 9"]
    assert manifest["statistics"]["dropped"] == {}


def test_pairs_that_repeat_or_are_held_out_are_left_out(take, files):
    files["train_sample_G.sample.de-en"] = lines(
        "aatz 0\ta sentence 0",
        "aatz 0\tanother sentence",
        "valid@@ eins\tnot the pair of dev",
        "vali@@ d eins\tvalid one",
        "test eins\ttest o@@ ne",
        "\t",
        "",
    )
    files["train_sample_F.train.de"] = files["train_sample_A.train.de"].split(b"<")[0]
    files["train_sample_F.train.en"] = files["train_sample_A.train.en"].split(b"<")[0]
    manifest = take(RECIPE, files)
    assert manifest["splits"]["train"]["examples"] == 15 + 2
    assert manifest["statistics"]["dropped"] == {
        "an empty line": 1,
        "an empty side": 1,
        "in the dev set too": 1,
        "in the test set too": 1,
        "more than once in the train set": 4,
    }
    assert manifest["statistics"]["duplicates"] == {"train": 0, "dev": 0, "test": 0}


def test_the_standard_codes_or_own_ones(take, files, tmp_path):
    take(RECIPE, files)
    assert (tmp_path / "data" / "encoded" / "codes.txt").read_bytes() == files["fairseq.code"]
    take({**RECIPE, "codes": "learned"}, files, "own")
    assert (tmp_path / "own" / "encoded" / "codes.txt").read_bytes() != files["fairseq.code"]
    assert not (tmp_path / "own" / "prepared" / "codes.txt").exists()


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("train_sample_G.sample.de-en", b"no tab\n", "line 1: expected a sentence, a tab and its"),
        ("train_sample_C.train.en", b"one\n", "C.train.de has 3 lines and .*C.train.en has 1, so"),
    ],
)
def test_wrong_files_are_a_sentence(refuse, files, name, content, sentence):
    refuse(RECIPE, files | {name: content}, sentence)


def test_the_real_samples(take, mirror, tmp_path):
    index = (mirror / "SOURCES.tsv").read_text(encoding="utf-8").split("\n")
    stored = {row.split("\t")[0]: row.split("\t")[1] for row in index if "\t" in row}
    real: dict[str, Any] = {
        file: mirror / stored[source.url]
        for (dataset, file), source in load().items()
        if dataset == "iwslt14_30"
    }
    real[PACKED] = lzma.decompress(real[PACKED].read_bytes())
    manifest = take({"dataset": "iwslt14_30"}, real)
    sizes = examples(manifest)
    assert sizes == {"train": 48_880, "dev": 7_283, "test": 6_750}
    dropped = manifest["statistics"]["dropped"]
    # 9,999 + 10,000 + 10,000 + 9,999 + 9,999 + 4,600 + 4,200 pairs in all samples.
    assert sum(dropped.values()) + sizes["train"] == 58_797
    assert dropped["an empty side"] == 1
    assert manifest["statistics"]["duplicates"] == {"train": 0, "dev": 0, "test": 0}
    for split, name in (("dev", "valid"), ("test", "test")):
        standard = (mirror / "iwslt14_de_en" / "fairseq" / f"{name}.en").read_text("utf-8")
        assert texts(tmp_path / "data", f"{split}.source") == standard.rstrip("\n").split("\n")
    assert manifest["vocabulary_size"] == 10_079
