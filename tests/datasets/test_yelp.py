"""Yelp reviews from the official file to arrays."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workflow.datasets.io.files import SPLITS, read_records
from workflow.datasets.yelp import FILE
from workflow.errors import DataError

Take = Callable[..., dict[str, Any]]


def lines(count: int = 50) -> list[str]:
    """Return reviews of 1 to 5 stars in turn."""
    return [
        json.dumps({"review_id": str(n), "stars": 1.0 + n % 5, "text": f"Café,\nnumber {n}!"})
        for n in range(count)
    ]


def write(rows: list[str]) -> dict[str, bytes]:
    return {FILE: ("\n".join(rows) + "\n").encode()}


def test_a_small_file(take: Take, tmp_path: Path) -> None:
    manifest = take({"dataset": "yelp"}, write(lines()))
    assert manifest["statistics"]["dropped"] == {"3 stars": 10}
    sizes = {split: manifest["splits"][split]["examples"] for split in SPLITS}
    assert sizes == {"train": 38, "dev": 2, "test": 2}  # 4,000 in 92,821 of 40 reviews
    folder = tmp_path / "data" / "prepared"
    records = [r for split in ("train", "dev") for r in read_records(folder / f"{split}.jsonl")]
    assert sorted((r["text"], r["label"]) for r in records) == sorted(
        (f"café number {n}", int(n % 5 > 2)) for n in range(50) if n % 5 != 2
    )


def test_only_the_first_lines_are_read_and_a_sample_taken(
    take: Take, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workflow.datasets.yelp.LINES", 50)
    monkeypatch.setattr("workflow.datasets.yelp.TRAIN", 20)
    monkeypatch.setattr("workflow.datasets.yelp.HELD_OUT", 10)
    manifest = take({"dataset": "yelp"}, write([*lines(), "no review"]))
    assert {split: manifest["splits"][split]["examples"] for split in SPLITS} == {
        "train": 20,
        "dev": 10,
        "test": 10,
    }
    assert manifest["statistics"]["dropped"] == {"3 stars": 10, "not in the sample": 10}


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            '{"stars": 1, "te',
            'review.json, line 51: expected a JSON object with "stars" and "text"',
        ),
        ('{"stars": 1}', 'line 51: expected a JSON object with "stars" and "text"'),
        ('{"stars": 6, "text": "a"}', "line 51: expected 1 to 5 stars, found 6"),
        ('{"text": "a"}', "line 51: expected 1 to 5 stars, found None"),
        ('{"stars": 5, "text": " "}', "line 51: the text is empty"),
        ('{"stars": true, "text": "a"}', "line 51: expected 1 to 5 stars, found True"),
        ('{"stars": [1], "text": "a"}', r"line 51: expected 1 to 5 stars, found \[1\]; delete the"),
    ],
)
def test_a_wrong_line_is_named(take: Take, line: str, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        take({"dataset": "yelp"}, write([*lines(), line]))


def test_one_class_and_wrong_bytes(take: Take) -> None:
    good = [line for n, line in enumerate(lines()) if n % 5 > 2]
    with pytest.raises(DataError, match="the split `train` has the label 1 only"):
        take({"dataset": "yelp"}, write(good), "one")
    content = write(lines())[FILE].replace(b"number 7", b"number \xff", 1)
    assert take({"dataset": "yelp"}, {FILE: content})["statistics"]["replaced_bytes"] == 1
