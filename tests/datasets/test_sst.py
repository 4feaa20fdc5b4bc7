"""SST from its official file format to its arrays."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workflow.datasets.grammars.labelled_clauses import SENTIMENT
from workflow.datasets.io.files import SPLITS, read_records
from workflow.datasets.kinds.recipe import files, load
from workflow.errors import DataError

GENERATED = {
    "dataset": "sst",
    "source": "generated",
    "train": 80,
    "dev": 40,
    "test": 20,
    "seed": 3,
}
TEXTS = {
    "train": "1 a fine , fine film\n0 dull\n1 2 1\xa01/2  hours \n",
    "dev": "0 a dull café\n1 fine\n",
    "test": "1 fine fine fine fine\n0 film\n",
}
Build = Callable[..., Path]
Take = Callable[..., dict[str, Any]]


def write(folder: Path, texts: dict[str, str], classes: str = "binary") -> list[Path]:
    """Write files in the official format."""
    folder.mkdir(parents=True, exist_ok=True)
    for split, text in texts.items():
        (folder / f"stsa.{classes}.{split}").write_bytes(text.encode())
    return list(folder.iterdir())


def encode(tmp_path: Path, texts: dict[str, str], **options: object) -> Path:
    dataset = load({"dataset": "sst", **options})
    paths = write(tmp_path / "raw", texts, dataset.classes)
    dataset.prepare(paths, tmp_path / "prepared")
    dataset.encode(tmp_path / "prepared", tmp_path / "encoded")
    return tmp_path / "encoded"


def rows(encoded: Path, split: str, column: str) -> list[list[int]]:
    """Cut a per-token column into examples."""
    offsets = np.load(encoded / f"{split}.offsets.npy")
    values = np.load(encoded / f"{split}.{column}.npy")
    return [part.tolist() for part in np.split(values, offsets[1:-1])]


def test_a_hand_worked_corpus(tmp_path: Path) -> None:
    encoded = encode(tmp_path, TEXTS)
    vocabulary = (encoded / "vocabulary.txt").read_text(encoding="utf-8").split("\n")
    words = [",", "1\xa01/2", "2", "a", "dull", "film", "fine", "hours"]
    assert vocabulary == ["<pad>", "<bos>", "<unk>", *words, ""]
    assert rows(encoded, "train", "tokens") == [[6, 9, 3, 9, 8], [7], [5, 4, 10]]
    assert rows(encoded, "dev", "tokens") == [[6, 7, 2], [9]]
    assert rows(encoded, "test", "tokens") == [[9] * 4, [8]]
    labels = {split: np.load(encoded / f"{split}.label.npy") for split in SPLITS}
    assert {split: array.tolist() for split, array in labels.items()} == {
        "train": [1, 0, 1],
        "dev": [0, 1],
        "test": [1, 0],
    }
    assert labels["train"].dtype == np.int64
    manifest = json.loads((encoded / "manifest.json").read_text())
    assert manifest["vocabulary_size"] == 11
    assert manifest["splits"]["train"] == {"examples": 3, "tokens": 9}
    assert manifest["statistics"] == {
        "cut_texts": 0,
        "median_length": {"train": 3, "dev": 2, "test": 2.5},
        "labels": {
            "train": {"0": 1, "1": 2},
            "dev": {"0": 1, "1": 1},
            "test": {"0": 1, "1": 1},
        },
        "duplicates": {"train": 0, "dev": 0, "test": 0},
        "unknown_tokens": {"dev": 1, "test": 0},
        "unknown_texts": {"dev": 0, "test": 0},
        "replaced_bytes": 0,
        "dropped": {},
    }


def test_long_texts_are_cut_and_counted(tmp_path: Path) -> None:
    encoded = encode(tmp_path, TEXTS, max_tokens=3)
    assert [len(row) for row in rows(encoded, "train", "tokens")] == [3, 1, 3]
    manifest = json.loads((encoded / "manifest.json").read_text())
    assert manifest["statistics"]["cut_texts"] == 2
    assert manifest["options"] == {
        "source": "official",
        "protocol": "jain_wallace",
        "classes": "binary",
        "max_tokens": 3,
        "min_count": 1,
    }


def test_five_classes(tmp_path: Path) -> None:
    texts = {"train": "4 a\n2 b\n", "dev": "3 a\n1 b\n", "test": "0 b\n1 a\n"}
    encoded = encode(tmp_path, texts, classes="fine")
    assert np.load(encoded / "train.label.npy").tolist() == [4, 2]


def test_the_other_protocol_takes_three_of_the_five_labels(tmp_path: Path) -> None:
    dataset = load({"dataset": "sst", "protocol": "attention_learning"})
    lines = "".join(f"{label} It 's 1\\/2 a_{label} .\n" for label in (0, 1, 2, 3, 4))
    paths = write(tmp_path / "raw", {"train": lines, "test": lines, "dev": "9 unused"}, "fine")
    assert dataset.sources == ["stsa.fine.train", "stsa.fine.test"]
    dataset.prepare(paths, tmp_path)
    expected = [
        {"text": f"it s 1 2 a_{number}", "label": label}
        for number, label in ((1, 0), (2, 0), (4, 1))
    ]
    for split in SPLITS:
        assert list(read_records(tmp_path / f"{split}.jsonl")) == expected


def test_the_real_files_have_the_papers_sizes(take: Take, mirror: Path) -> None:
    real = {path.name: path for path in (mirror / "sst").iterdir()}
    manifest = take({"dataset": "sst", "protocol": "attention_learning"}, real, "al")
    assert {split: manifest["splits"][split]["examples"] for split in SPLITS} == {
        "train": 5130,
        "dev": 1421,
        "test": 1421,
    }
    assert manifest["statistics"]["median_length"] == {"train": 16, "dev": 17, "test": 17}
    assert manifest["statistics"]["dropped"] == {"label 0": 1092 + 279, "label 3": 2322 + 510}
    manifest = take({"dataset": "sst"}, real, "binary")
    assert {split: manifest["splits"][split]["examples"] for split in SPLITS} == {
        "train": 6920,
        "dev": 872,
        "test": 1821,
    }


def test_one_class_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the split `dev` has the label 0 only"):
        encode(tmp_path, {**TEXTS, "dev": "0 dull\n0 a dull film\n"})


@pytest.mark.parametrize("maximum", [500, 4])
def test_generated_sentences_come_back_and_their_salient_words_are_marked(
    build: Build, maximum: int
) -> None:
    recipe = {**GENERATED, "max_tokens": maximum}
    out = build(recipe)
    assert {s: sorted(p.name for p in (out / s).iterdir()) for s in ("raw", "encoded")} == {
        stage: sorted(files(recipe)[stage]) for stage in ("raw", "encoded")
    }
    vocabulary = (out / "encoded" / "vocabulary.txt").read_text(encoding="utf-8").splitlines()
    known = set(vocabulary)
    for split in SPLITS:
        lines = (out / "raw" / f"stsa.binary.{split}").read_text(encoding="utf-8").splitlines()
        texts = [line[2:].split(" ")[:maximum] for line in lines]
        expected = [[word if word in known else "<unk>" for word in text] for text in texts]
        tokens = rows(out / "encoded", split, "tokens")
        assert [[vocabulary[token] for token in row] for row in tokens] == expected
        marks = [[int(word in SENTIMENT.labels) for word in text] for text in texts]
        assert rows(out / "encoded", split, "salient") == marks
        labels = [int(line[0]) for line in lines]
        assert np.load(out / "encoded" / f"{split}.label.npy").tolist() == labels


@pytest.mark.parametrize(
    ("train", "sentence"),
    [
        ("1 good\n2 dull\n", "line 2: expected a label from 0 to 1 before the text, found '2'"),
        ("good film\n", "line 1: expected a label from 0 to 1 before the text, found 'good'"),
        ("1 good\n\n", "line 2: expected a label from 0 to 1 before the text, found ''"),
        ("1 good\n0 \t\n", "line 2: the text is empty; delete the file"),
        ("1\n", "line 1: the text is empty"),
        ("", "this file is empty; delete the file and fetch"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, train: str, sentence: str) -> None:
    dataset = load({"dataset": "sst"})
    paths = write(tmp_path / "raw", {**TEXTS, "train": train})
    with pytest.raises(DataError, match=sentence) as error:
        dataset.prepare(paths, tmp_path / "prepared")
    assert "stsa.binary.train" in str(error.value)
    assert not (tmp_path / "prepared").exists()


def test_wrong_bytes_are_counted_and_line_ends_are_no_words(take: Take) -> None:
    files = {f"stsa.binary.{split}": text.encode() for split, text in TEXTS.items()}
    first = take({"dataset": "sst"}, files, "first")
    files = {name: text.replace(b"\n", b"\r\n") for name, text in files.items()}
    assert take({"dataset": "sst"}, files, "crlf")["digest"] == first["digest"]
    files["stsa.binary.dev"] = "0 a dull café\n1 fine\n".encode("latin-1")
    assert take({"dataset": "sst"}, files, "latin")["statistics"]["replaced_bytes"] == 1


def test_prepared_records_keep_text_and_label(tmp_path: Path) -> None:
    encode(tmp_path, TEXTS)
    assert list(read_records(tmp_path / "prepared" / "train.jsonl")) == [
        {"text": "a fine , fine film", "label": 1},
        {"text": "dull", "label": 0},
        {"text": "2 1\xa01/2 hours", "label": 1},
    ]
