"""AG News from its official files, or the extracts of them, to its arrays."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.datasets.folders import records
from workflow.datasets.ag_news import SUBSETS
from workflow.datasets.io.dataset_files import SPLITS
from workflow.datasets.kinds.recipe import files

NAMES = {
    "subset_1.csv": "train_subset_1/ag_news_train.csv",
    "subset_2_train.csv": "train_subset_2/train.csv",
    "subset_2_dev.csv": "train_subset_2/dev.csv",
    "subset_3.csv": "train_subset_3/train.csv",
    "subset_4.csv": "train_subset_4/train.csv",
    "subset_4_ub.csv": "train_subset_4/ub_train.csv",
    "test.csv": "test.csv",
}


def table(rows: Sequence[Sequence[object]]) -> bytes:
    """Return rows as a file in the official format."""
    stream = io.StringIO()
    csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    return stream.getvalue().encode()


def items(split: str, count: int = 10) -> list[tuple[object, ...]]:
    """Return rows of all four classes."""
    return [
        (label, f"{split} title {number}", f'Class {label},\\quoted "{number}" #39;s text.')
        for number in range(count)
        for label in (1, 2, 3, 4)
    ]


OTHER = {"dataset": "ag_news", "protocol": "attention_learning"}
OFFICIAL = {"train.csv": table(items("train")), "test.csv": table(items("test", 4))}


def texts(folder: Path, *splits: str) -> list[str]:
    return [record["text"] for record in records(folder, *splits)]


def test_the_official_files(take, tmp_path):
    manifest = take({"dataset": "ag_news"}, OFFICIAL)
    assert manifest["statistics"]["labels"] == {
        split: {"0": count, "1": count} for split, count in (("train", 9), ("dev", 1), ("test", 4))
    }
    folder = tmp_path / "data"
    assert sorted(texts(folder, "train", "dev")) == sorted(
        f'train title {number} class {label} , quoted " {number} " \'s text .'
        for number in range(10)
        for label in (1, 3)
    )
    every = records(folder, *SPLITS)
    assert all(record["label"] == int("class 3" in record["text"]) for record in every)


def test_the_other_protocol(take, tmp_path):
    manifest = take(OTHER, OFFICIAL)
    folder = tmp_path / "data"
    assert manifest["splits"]["train"]["examples"] == 20
    assert "train title 3 class 1 quoted 3 <unk> s text" in texts(folder, "train")
    assert texts(folder, "dev") == texts(folder, "test")


def test_empty_items_and_lines_are_left_out_and_counted(take):
    whole = take({"dataset": "ag_news"}, OFFICIAL, "whole")
    odd = OFFICIAL["train.csv"] + table([(3, " ", ""), (3, "", "...")]) + b"\n"
    manifest = take({"dataset": "ag_news"}, {**OFFICIAL, "train.csv": odd})
    assert manifest["digest"] == whole["digest"]
    dropped = {"empty": 1, "no words": 1, "an empty line": 1}
    assert manifest["statistics"]["dropped"] == dropped


def test_items_that_repeat_stay_and_are_counted(take):
    train, test = items("train"), items("test", 4)
    manifest = take(OTHER, {**OFFICIAL, "train.csv": table([*train, train[0], test[2]])})
    assert manifest["splits"]["train"]["examples"] == 22
    assert manifest["statistics"]["dropped"] == {}
    assert manifest["statistics"]["duplicates"] == {"train": 1, "dev": 1, "test": 1}


def test_the_reduced_train_set(take, tmp_path):
    new = "An item's description that is long enough to be compared by sixty of its letters, {}"
    other = "A description that no other file has, of more than sixty letters and digits in all."
    start = "The same sixty letters at the beginning of two items that differ only after them: "
    known, tested = (f"Number {n}: {new.format('so it is taken')}" for n in (1, 2))
    parts = {
        "subset_1.csv": [("text", "label"), (f"Title {known}", "0.0"), ("A sport", "1.0")],
        "subset_2_train.csv": [(f"Business {number}", 2) for number in range(6)],
        "subset_2_dev.csv": [("Business 0", 2), ("BUSINESS, 1!", 2), ("Sci", 3)],
        "subset_3.csv": [
            *((f"World {number}", "world") for number in range(6)),
            *((text, "world") for text in (f"{start}one", f"{start}two", f"not {start}")),
            ("x", "sci_tech"),
        ],
        "subset_4.csv": [(0, known.replace("'", " ").replace(",", " ,")), (0, other), (1, "sport")],
        "subset_4_ub.csv": [(2, tested), (2, "cut")],
    }
    contents = {name: table(rows) for name, rows in parts.items()}
    contents["test.csv"] = table([(3, "Title", tested), (1, "Other", "item")])
    manifest = take({"dataset": "ag_news", "source": "subset"}, contents)
    assert manifest["statistics"]["dropped"] == {
        "in the test set too": 1,
        "more than once in the train set": 4,
    }
    kept = texts(tmp_path / "data", "train", "dev")
    assert len(kept) == 1 + 6 + 6 + 2 + 1 + 1
    assert {"cut", "business 0", "world 5"} <= set(kept)
    assert not {"sport", "x", "sci", "text"} & set(kept)


def test_every_source_has_its_files():
    subset = files({"dataset": "ag_news", "source": "subset"})["sources"]
    assert subset == [*SUBSETS, "test.csv"] == list(NAMES)
    assert files({"dataset": "ag_news"})["sources"] == ["train.csv", "test.csv"]


def row(*columns: object) -> bytes:
    """Return the official train file with a row more."""
    return table([*items("train"), columns])


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("train", row(5, "a", "b"), "train.csv, line 41: expected one of the labels 1, 2, 3, 4"),
        ("train", row("", "a", "b"), "line 41: expected one of the labels 1, 2, 3, 4, found ''"),
        ("train", row(1, "only a title"), "line 41: expected 3 columns, found 2; correct the file"),
        ("train", row(1, "a", "b", "c"), "train.csv, line 41: expected 3 columns, found 4"),
        (
            "test",
            OFFICIAL["test.csv"][:-9],
            r"test.csv, line 16: this row is cut short, or .* has no end \(.*\); delete the",
        ),
        (
            "test",
            OFFICIAL["test.csv"] + b'1,"a "b" c",d\n',
            r"test.csv, line 17: this row has a wrong quote \(.*\); correct the file",
        ),
    ],
)
def test_a_wrong_file_is_named(refuse, file, content, sentence):
    refuse({"dataset": "ag_news"}, {**OFFICIAL, f"{file}.csv": content}, sentence)


def test_a_long_text_and_quotes_are_read(take, tmp_path):
    long = b'1,"a ""b"" c","' + b"word " * 30_000 + b'"\n1,a "b" c,d\n'
    manifest = take({"dataset": "ag_news"}, {**OFFICIAL, "test.csv": OFFICIAL["test.csv"] + long})
    assert manifest["splits"]["test"]["examples"] == 10
    assert max(map(len, texts(tmp_path / "data", "test"))) > 149_000


def test_no_file_and_wrong_bytes(take, refuse):
    test = {"test.csv": OFFICIAL["test.csv"]}
    refuse({"dataset": "ag_news"}, test, "The source file train.csv is missing")
    broken = OFFICIAL["train.csv"].replace(b"train title 3", b"train title \xff", 1)
    manifest = take({"dataset": "ag_news"}, {**OFFICIAL, "train.csv": broken})
    assert manifest["statistics"]["replaced_bytes"] == 1


def test_the_real_extracts(take, mirror):
    real = {name: mirror / "ag_news" / path for name, path in NAMES.items()}
    statistics = take({"dataset": "ag_news", "source": "subset"}, real)["statistics"]
    assert statistics["labels"]["test"] == {"0": 1900, "1": 1900}
    together = {
        label: statistics["labels"]["train"][label] + statistics["labels"]["dev"][label]
        for label in "01"
    }
    # Of 6,208 and 5,266 rows, as the mirror's notes count them.
    assert sum(together.values()) + sum(statistics["dropped"].values()) == 6208 + 5266
    assert 5300 < together["0"] < 5500 and 4500 < together["1"] < 4750
