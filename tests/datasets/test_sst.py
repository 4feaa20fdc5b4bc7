"""SST from its official file format to its arrays."""

from collections.abc import Mapping

import numpy as np
import pytest

from tests.datasets.folders import decoded, examples, labelled, names, records, rows
from workflow.datasets.grammars.labelled_clauses import SENTIMENT
from workflow.datasets.io.dataset_files import SPLITS
from workflow.datasets.kinds.recipe import files

GENERATED = {"dataset": "sst", "source": "generated", "train": 80, "dev": 40, "test": 20, "seed": 3}
OTHER = {"dataset": "sst", "protocol": "attention_learning"}
TEXTS = {
    "train": "1 a fine , fine film\n0 dull\n1 2 1\xa01/2  hours \n",
    "dev": "0 a dull café\n1 fine\n",
    "test": "1 fine fine fine fine\n0 film\n",
}


def official(texts: Mapping[str, str], classes: str = "binary") -> dict[str, bytes]:
    """Return files in the official format."""
    return {f"stsa.{classes}.{split}": text.encode() for split, text in texts.items()}


@pytest.fixture
def encode(take, tmp_path):
    """Return a function that encodes texts, and returns the manifest and the folder."""

    def run(texts, **options):
        files = official(texts, options.get("classes", "binary"))
        return take({"dataset": "sst", **options}, files), tmp_path / "data" / "encoded"

    return run


def test_a_hand_worked_corpus(encode):
    manifest, encoded = encode(TEXTS)
    words = [",", "1\xa01/2", "2", "a", "dull", "film", "fine", "hours"]
    assert names(encoded) == ["<pad>", "<bos>", "<unk>", *words]
    assert rows(encoded, "train") == [[6, 9, 3, 9, 8], [7], [5, 4, 10]]
    assert rows(encoded, "dev") == [[6, 7, 2], [9]]
    assert rows(encoded, "test") == [[9] * 4, [8]]
    for split, labels in (("train", [1, 0, 1]), ("dev", [0, 1]), ("test", [1, 0])):
        written = np.load(encoded / f"{split}.label.npy")
        assert written.tolist() == labels and written.dtype == np.int64
    assert manifest["vocabulary_size"] == 11
    assert manifest["splits"]["train"] == {"examples": 3, "tokens": 9}
    assert manifest["statistics"]["median_length"] == {"train": 3, "dev": 2, "test": 2.5}
    assert manifest["statistics"]["unknown_tokens"] == {"dev": 1, "test": 0}
    assert records(encoded.parent, "train") == [
        {"text": "a fine , fine film", "label": 1},
        {"text": "dull", "label": 0},
        {"text": "2 1\xa01/2 hours", "label": 1},
    ]


def test_long_texts_are_cut_and_counted(encode):
    manifest, encoded = encode(TEXTS, max_tokens=3)
    assert [len(row) for row in rows(encoded, "train")] == [3, 1, 3]
    assert manifest["statistics"]["cut_texts"] == 2
    defaults = {"source": "official", "protocol": "jain_wallace", "classes": "binary"}
    assert manifest["options"] == {**defaults, "max_tokens": 3, "min_count": 1}


def test_five_classes(encode):
    texts = {"train": "4 a\n2 b\n", "dev": "3 a\n1 b\n", "test": "0 b\n1 a\n"}
    _, encoded = encode(texts, classes="fine")
    assert np.load(encoded / "train.label.npy").tolist() == [4, 2]


def test_the_other_protocol_takes_three_of_the_five_labels(take, tmp_path):
    lines = "".join(f"{label} It 's 1\\/2 a_{label} .\n" for label in (0, 1, 2, 3, 4))
    assert files(OTHER)["sources"] == ["stsa.fine.train", "stsa.fine.test"]
    take(OTHER, official({"train": lines, "test": lines, "dev": "9 unused"}, "fine"))
    expected = [(f"it s 1 2 a_{number}", label) for number, label in ((1, 0), (2, 0), (4, 1))]
    for split in SPLITS:
        assert labelled(tmp_path / "data", split) == expected


def test_the_real_files_have_the_papers_sizes(take, mirror):
    real = {path.name: path for path in (mirror / "sst").iterdir()}
    manifest = take(OTHER, real, "al")
    assert examples(manifest) == {"train": 5130, "dev": 1421, "test": 1421}
    assert manifest["statistics"]["median_length"] == {"train": 16, "dev": 17, "test": 17}
    assert manifest["statistics"]["dropped"] == {"label 0": 1092 + 279, "label 3": 2322 + 510}
    manifest = take({"dataset": "sst"}, real, "binary")
    assert examples(manifest) == {"train": 6920, "dev": 872, "test": 1821}


@pytest.mark.parametrize("maximum", [500, 4])
def test_generated_sentences_come_back_and_their_salient_words_are_marked(build, maximum):
    recipe = {**GENERATED, "max_tokens": maximum}
    out = build(recipe)
    for stage in ("raw", "encoded"):
        assert sorted(path.name for path in (out / stage).iterdir()) == sorted(files(recipe)[stage])
    known = {*names(out / "encoded")}
    for split in SPLITS:
        lines = (out / "raw" / f"stsa.binary.{split}").read_text(encoding="utf-8").splitlines()
        texts = [line[2:].split(" ")[:maximum] for line in lines]
        expected = [[word if word in known else "<unk>" for word in text] for text in texts]
        assert decoded(out / "encoded", split) == expected
        marks = [[int(word in SENTIMENT.labels) for word in text] for text in texts]
        assert rows(out / "encoded", split, "salient") == marks
        labels = [int(line[0]) for line in lines]
        assert np.load(out / "encoded" / f"{split}.label.npy").tolist() == labels


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1 good\n2 dull\n", "line 2: expected a label from 0 to 1 before the text, found '2'"),
        ("good film\n", "line 1: expected a label from 0 to 1 before the text, found 'good'"),
        ("1 good\r0 bad\r1 fine", "line 1: a carriage return is inside this row, so rows may run"),
    ],
)
def test_a_wrong_line_is_named(refuse, text, sentence):
    refuse({"dataset": "sst"}, official({**TEXTS, "train": text}), sentence)


def test_words_are_composed(take):
    composed = take({"dataset": "sst"}, official(TEXTS), "composed")
    taken = {split: text.replace("\u00e9", "e\u0301") for split, text in TEXTS.items()}
    assert taken != TEXTS
    assert take({"dataset": "sst"}, official(taken))["digest"] == composed["digest"]


def test_white_space_is_between_words_but_for_the_one_that_holds_them_together(take):
    taken = {split: text.replace(" fine", "\tfine\f") for split, text in TEXTS.items()}
    taken = {split: text.replace("1\tfine", "1 fine") for split, text in taken.items()}
    digests = [
        take({"dataset": "sst"}, official(texts), name)["digest"]
        for name, texts in (("spaces", TEXTS), ("tabs", taken))
    ]
    assert digests[0] == digests[1]


def test_empty_texts_and_lines_are_left_out_and_counted(take):
    whole = take({"dataset": "sst"}, official(TEXTS), "whole")
    texts = {split: f"\n{text}1 \t\n0\n\n1 \u200b\n" for split, text in TEXTS.items()}
    manifest = take({"dataset": "sst"}, official(texts))
    assert manifest["digest"] == whole["digest"]
    assert manifest["statistics"]["dropped"] == {"an empty line": 6, "empty": 6, "no words": 3}


def test_wrong_bytes_are_counted_and_line_ends_are_no_words(take):
    files = official(TEXTS)
    first = take({"dataset": "sst"}, files, "first")
    files = {name: text.replace(b"\n", b"\r\n") for name, text in files.items()}
    assert take({"dataset": "sst"}, files, "crlf")["digest"] == first["digest"]
    files["stsa.binary.dev"] = "0 a dull café\n1 fine\n".encode("latin-1")
    assert take({"dataset": "sst"}, files, "latin")["statistics"]["replaced_bytes"] == 1
