"""CoNLL-2000 from its official files to its arrays, and a generated corpus in their format."""

from pathlib import Path

import numpy as np
import pytest

from tests.datasets.folders import decoded, names, rows
from workflow.datasets.io.checksums import read_manifest
from workflow.datasets.kinds.recipe import files

TRAIN = b"The DT B-NP\ndog NN I-NP\nsleeps VBZ B-VP\n. . O\n\nIt PRP B-NP\n\n"
TEST = b"The DT B-NP\ncat NN I-NP\n"
GENERATED = {"dataset": "conll2000", "source": "generated", "train": 60, "test": 20, "seed": 3}


def read(encoded: Path, split: str) -> list[list[str]]:
    """Read back every sentence of a split as `word part-of-speech chunk-tag`."""
    tags = read_manifest(encoded)["statistics"]
    words = decoded(encoded, split)
    columns = [
        [[tags[column][number] for number in row] for row in rows(encoded, split, column)]
        for column in ("pos", "chunk")
    ]
    sentences = zip(words, *columns, strict=True)
    return [[*map(" ".join, zip(*parts, strict=True))] for parts in sentences]


def test_a_hand_worked_corpus(take, tmp_path):
    manifest = take({"dataset": "conll2000"}, {"train.txt": TRAIN, "test.txt": TEST})
    encoded = tmp_path / "data" / "encoded"
    assert read(encoded, "train") == [
        ["The DT B-NP", "dog NN I-NP", "sleeps VBZ B-VP", ". . O"],
        ["It PRP B-NP"],
    ]
    assert read(encoded, "test") == [["The DT B-NP", "cat NN I-NP"]]
    sizes = {"train": {"examples": 2, "tokens": 5}, "test": {"examples": 1, "tokens": 2}}
    assert manifest["splits"] == sizes
    words = [".", "It", "The", "cat", "dog", "sleeps"]
    assert names(encoded) == ["<pad>", "<bos>", "<unk>", *words]
    stages = files({"dataset": "conll2000"})
    assert stages["sources"] == ["train.txt", "test.txt"] and stages["raw"] == []
    assert sorted(path.name for path in encoded.iterdir()) == sorted(stages["encoded"])
    prepared = tmp_path / "data" / "prepared"
    assert sorted(path.name for path in prepared.iterdir()) == sorted(stages["prepared"])


def test_a_word_that_is_spelt_as_a_reserved_one_is_unknown(take, tmp_path):
    train = b"<pad> NN B-NP\n<unk> NN I-NP\n<a> NN I-NP\n"
    take({"dataset": "conll2000"}, {"train.txt": train, "test.txt": TEST})
    encoded = tmp_path / "data" / "encoded"
    assert names(encoded) == ["<pad>", "<bos>", "<unk>", "<a>", "The", "cat"]
    assert decoded(encoded, "train") == [["<unk>", "<unk>", "<a>"]]


@pytest.mark.parametrize("line", ["a NN", "a NN I-NP x", "a NN NP", "a NN E-NP", "1\x1c000 I-NP"])
def test_a_wrong_line_is_named(refuse, line):
    files = {"train.txt": TRAIN + line.encode() + b"\n\n", "test.txt": TEST}
    sentence = r"train\.txt, line 8: expected a word, its part of speech"
    refuse({"dataset": "conll2000"}, files, sentence)


def test_tags_that_a_byte_cannot_number_are_refused(take, refuse, tmp_path):
    lines = [f"dog P{n} B-NP\n".encode() for n in range(300)]
    some = {"train.txt": b"".join(lines[:200]), "test.txt": b"".join(lines[100:256])}
    take({"dataset": "conll2000"}, some)
    [line] = read(tmp_path / "data" / "encoded", "train")
    assert line[199] == "dog P199 B-NP"
    refuse(
        {"dataset": "conll2000"},
        {**some, "test.txt": b"".join(lines[200:257])},
        r"train\.txt and test\.txt have 257 parts of speech, of which 256 can be numbered; take",
    )


def test_a_file_without_a_sentence_is_named(refuse):
    files = {"train.txt": TRAIN, "test.txt": b"\n\n"}
    refuse({"dataset": "conll2000"}, files, r"test\.txt has no sentence")


def test_generated_sentences_come_back(build):
    out = build(GENERATED)
    for split, count in (("train", 60), ("test", 20)):
        blocks = (out / "raw" / f"{split}.txt").read_text().strip().split("\n\n")
        assert len(blocks) == count
        assert read(out / "encoded", split) == [block.split("\n") for block in blocks]


def test_the_real_files_have_the_tasks_sizes_and_baseline(take, mirror, tmp_path):
    """The baseline of the shared task and of kinley2020 table 6.4, exact to its last digit."""
    from model.batches.corpus import Corpus
    from model.probes.words.chunking import baseline
    from model.probes.words.conlleval import conlleval

    real = {f"{split}.txt": mirror / "conll2000" / f"{split}.txt" for split in ("train", "test")}
    manifest = take({"dataset": "conll2000"}, real)
    assert manifest["splits"] == {
        "train": {"examples": 8936, "tokens": 211727},
        "test": {"examples": 2012, "tokens": 47377},
    }
    corpus = Corpus(tmp_path / "data" / "encoded")
    names = manifest["statistics"]["chunk"]
    test = corpus.split("test")
    parts = len(manifest["statistics"]["pos"])
    guess = baseline(corpus.split("train"), test, parts, len(names))
    tags = [
        [[names[number] for number in part] for part in np.split(numbers, test.offsets[1:-1])]
        for numbers in (test.columns["chunk"], guess)
    ]
    scores = conlleval(*tags)
    found = [round(value, 2) for value in (scores.precision, scores.recall, scores.f1)]
    assert found == [72.58, 82.14, 77.07]
