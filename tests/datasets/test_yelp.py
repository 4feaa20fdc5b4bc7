"""Yelp reviews from the official file to arrays."""

import json

import pytest

from tests.datasets.folders import examples, labelled
from workflow.datasets.yelp import FILE


def lines(count: int = 50) -> list[str]:
    """Return reviews of 1 to 5 stars in turn."""
    return [
        json.dumps({"review_id": str(n), "stars": 1.0 + n % 5, "text": f"Café,\nnumber {n}!"})
        for n in range(count)
    ]


def write(rows: list[str]) -> dict[str, bytes]:
    return {FILE: ("\n".join(rows) + "\n").encode()}


def test_a_small_file(take, tmp_path):
    manifest = take({"dataset": "yelp"}, write(lines()))
    assert manifest["statistics"]["dropped"] == {"3 stars": 10}
    sizes = examples(manifest)
    assert sizes == {"train": 38, "dev": 2, "test": 2}  # 4,000 in 92,821 of 40 reviews
    assert labelled(tmp_path / "data", "train", "dev") == sorted(
        (f"café number {n}", int(n % 5 > 2)) for n in range(50) if n % 5 != 2
    )


def test_only_the_first_lines_are_read_and_a_sample_taken(take, monkeypatch):
    monkeypatch.setattr("workflow.datasets.yelp.LINES", 50)
    monkeypatch.setattr("workflow.datasets.yelp.TRAIN", 20)
    monkeypatch.setattr("workflow.datasets.yelp.HELD_OUT", 10)
    manifest = take({"dataset": "yelp"}, write([*lines(), "no review"]))
    assert examples(manifest) == {"train": 20, "dev": 10, "test": 10}
    assert manifest["statistics"]["dropped"] == {"3 stars": 10, "not in the sample": 10}


NO_REVIEW = 'line 51: expected a JSON object with "stars" and "text"'


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('{"stars": 1, "te', f"review.json, {NO_REVIEW}"),
        ('{"stars": 1}', NO_REVIEW),
        ('{"stars": 1, "stars": 5, "text": "x"}', f"{NO_REVIEW}, each once"),
        ('{"stars": 6, "text": "a"}', "line 51: expected 1 to 5 stars, found 6"),
        ('{"text": "a"}', "line 51: expected 1 to 5 stars, found None"),
        ("[" * 100_000, NO_REVIEW),
        (f'{{"stars": {"1" * 5000}}}', NO_REVIEW),
        ('{"stars": true, "text": "a"}', "line 51: expected 1 to 5 stars, found True"),
        ('{"stars": [1], "text": "a"}', r"line 51: expected 1 to 5 stars, found \[1\]; correct"),
    ],
)
def test_a_wrong_line_is_named(refuse, line, sentence):
    refuse({"dataset": "yelp"}, write([*lines(), line]), sentence)


def test_an_empty_review_and_half_a_character_cost_no_other_review(take, tmp_path):
    half = r'{"stars": 5, "text": "half \ud83d, whole \ud83d\ude00 é"}'
    odd = ['{"stars": 5, "text": " "}', half, ""]
    statistics = take({"dataset": "yelp"}, write([*lines(), *odd]))["statistics"]
    assert statistics["dropped"] == {"3 stars": 10, "empty": 1, "an empty line": 1}
    assert statistics["replaced_bytes"] == 1
    assert ("half whole é", 1) in labelled(tmp_path / "data", "train", "dev")
