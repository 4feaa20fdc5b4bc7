"""CoNLL-2000 from its official files to its arrays, and a generated corpus in their format."""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workflow.datasets.kinds.recipe import complete, files, load
from workflow.errors import DataError, RecipeError

Take = Callable[..., dict[str, Any]]
Build = Callable[..., Path]
TRAIN = b"The DT B-NP\ndog NN I-NP\nsleeps VBZ B-VP\n. . O\n\nIt PRP B-NP\n\n"
TEST = b"The DT B-NP\ncat NN I-NP\n"
GENERATED = {"dataset": "conll2000", "source": "generated", "train": 60, "test": 20, "seed": 3}


def read(encoded: Path) -> dict[str, list[list[tuple[str, str, str]]]]:
    """Read back every sentence as (word, part of speech, chunk tag)."""
    names = json.loads((encoded / "manifest.json").read_text())["statistics"]
    words = (encoded / "vocabulary.txt").read_text(encoding="utf-8").split("\n")
    found = {}
    for split in ("train", "test"):
        columns = {
            "tokens": words,
            **{column: names[column] for column in ("pos", "chunk")},
        }
        rows = [
            [known[number] for number in np.load(encoded / f"{split}.{column}.npy")]
            for column, known in columns.items()
        ]
        offsets = np.load(encoded / f"{split}.offsets.npy")
        flat = list(zip(*rows, strict=True))
        found[split] = [flat[a:b] for a, b in pairwise(offsets)]
    return found


def test_a_hand_worked_corpus(take: Take, tmp_path: Path) -> None:
    manifest = take({"dataset": "conll2000"}, {"train.txt": TRAIN, "test.txt": TEST})
    encoded = tmp_path / "data" / "encoded"
    assert read(encoded) == {
        "train": [
            [
                ("The", "DT", "B-NP"),
                ("dog", "NN", "I-NP"),
                ("sleeps", "VBZ", "B-VP"),
                (".", ".", "O"),
            ],
            [("It", "PRP", "B-NP")],
        ],
        "test": [[("The", "DT", "B-NP"), ("cat", "NN", "I-NP")]],
    }
    assert manifest["splits"] == {
        "train": {"examples": 2, "tokens": 5},
        "test": {"examples": 1, "tokens": 2},
    }
    vocabulary = (encoded / "vocabulary.txt").read_text().splitlines()
    assert vocabulary == ["<pad>", "<bos>", "<unk>", ".", "It", "The", "cat", "dog", "sleeps"]
    stages = files({"dataset": "conll2000"})
    assert stages["sources"] == ["train.txt", "test.txt"] and stages["raw"] == []
    assert sorted(path.name for path in encoded.iterdir()) == sorted(stages["encoded"])
    prepared = tmp_path / "data" / "prepared"
    assert sorted(path.name for path in prepared.iterdir()) == sorted(stages["prepared"])


@pytest.mark.parametrize("line", ["dog NN", "dog NN I-NP x", "dog NN NP", "dog NN E-NP"])
def test_a_wrong_line_is_named(take: Take, line: str, tmp_path: Path) -> None:
    wrong = TRAIN + line.encode() + b"\n\n"
    with pytest.raises(DataError, match=r"train\.txt, line 8: expected a word, its part of speech"):
        take({"dataset": "conll2000"}, {"train.txt": wrong, "test.txt": TEST})
    assert not (tmp_path / "data" / "prepared").exists()


def test_an_empty_file_is_named(take: Take) -> None:
    with pytest.raises(DataError, match=r"test\.txt: this file is empty"):
        take({"dataset": "conll2000"}, {"train.txt": TRAIN, "test.txt": b""})
    with pytest.raises(DataError, match=r"test\.txt has no sentence"):
        take({"dataset": "conll2000"}, {"train.txt": TRAIN, "test.txt": b"\n\n"}, "blank")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"train": 5}, "`train` of dataset `conll2000` is for `source: generated` only"),
        ({"source": "generated", "train": 5, "test": 5}, "`conll2000` .* needs the option `seed`"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RecipeError, match=sentence):
        load({"dataset": "conll2000", **options})


def test_defaults_are_the_official_files() -> None:
    assert complete({"dataset": "conll2000"}) == {"dataset": "conll2000", "source": "official"}


def test_generated_sentences_come_back(build: Build) -> None:
    out = build(GENERATED)
    found = read(out / "encoded")
    for split, count in (("train", 60), ("test", 20)):
        blocks = (out / "raw" / f"{split}.txt").read_text().strip().split("\n\n")
        assert len(blocks) == count
        assert found[split] == [[tuple(x.split()) for x in block.split("\n")] for block in blocks]


def test_the_real_files_have_the_tasks_sizes_and_baseline(
    take: Take, mirror: Path, tmp_path: Path
) -> None:
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
