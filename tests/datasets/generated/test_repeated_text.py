"""The text with repeats: what it is made of, its floor, and sentences for what is wrong with it."""

import math
from collections import Counter

import pytest

from workflow.datasets.io.checksums import read_manifest
from workflow.datasets.kinds.recipe import load
from workflow.runtime.errors import DataError

RECIPE = {
    "dataset": "repeated_text", "letters": 4, "length": 3, "train": 4000, "dev": 5, "test": 6,
}  # fmt: skip


def bits(text: str, letters: int, length: int) -> float:
    """What a predictor that counts pays for a text: nothing where only one character can follow."""
    paid = 0.0
    for place in range(len(text)):
        within = place % (2 * length + 2)
        allowed = {"."}
        if within < length:
            allowed = set("abcdefghij"[:letters])
        elif within == length:
            allowed = {":"}
        elif within < 2 * length + 1:
            allowed = {text[place - length - 1]}
        assert text[place] in allowed
        paid += math.log2(len(allowed))
    return paid / len(text)


def test_the_floor_is_what_the_best_predictor_pays(build):
    out = build(RECIPE)
    manifest = read_manifest(out / "encoded")
    for split in ("train", "dev", "test"):
        text = (out / "raw" / f"{split}.txt").read_text()
        assert len(text) == manifest["splits"][split]["tokens"] == 8 * RECIPE[split]
        floor = manifest["statistics"]["entropy_floor"] / math.log(2)
        assert bits(text, 4, 3) == pytest.approx(floor)
    assert floor == 3 * 2 / 8


def test_words_are_drawn_evenly(build):
    raw = build(RECIPE) / "raw"
    words = [block.split(":")[0] for block in (raw / "train.txt").read_text()[:-1].split(".")]
    counts = Counter(words)
    assert len(counts) == 4**3 and max(counts.values()) < 2 * min(counts.values())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text[:-1], "expected 5 blocks of 8 characters, found 39"),
        (lambda text: text[:8] + "abc:abd." + text[16:], "dev.txt, block 2: expected a word of 3"),
        (lambda text: text[:8] + "abe:abe." + text[16:], "block 2: expected a word of 3 of the le"),
    ],
)
def test_a_wrong_block_is_named(build, change, says):
    out = build(RECIPE)
    path = out / "raw" / "dev.txt"
    path.write_text(change(path.read_text()))
    dataset = load(RECIPE)
    with pytest.raises(DataError, match=says):
        dataset.prepare(sorted((out / "raw").iterdir()), out / "again")


def test_a_missing_text_is_told(build):
    out = build(RECIPE)
    (out / "prepared" / "dev.bin").write_bytes(b"")
    dataset = load(RECIPE)
    with pytest.raises(DataError, match=r"dev\.bin: this text is missing or empty"):
        dataset.encode(out / "prepared", out / "encoded")
