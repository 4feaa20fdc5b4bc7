"""The keyword toy from its recipe to its arrays."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workflow.datasets.io.files import SPLITS
from workflow.errors import DataError

SMALL = {"dataset": "keyword_toy", "words": 5, "length": 4, "train": 60, "dev": 21, "test": 10}
Build = Callable[..., Path]


def sequences(out: Path, split: str) -> np.ndarray:
    """Return the generated sequences of a split, (N, length)."""
    lines = (out / "raw" / f"{split}.txt").read_text(encoding="utf-8").splitlines()
    return np.array([[int(word) for word in line.split(" ")] for line in lines])


@given(words=st.integers(2, 9), length=st.integers(1, 7), seed=st.integers(0, 2**32))
@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_half_of_the_sequences_have_the_keyword_once(
    build: Build, words: int, length: int, seed: int
) -> None:
    out = build({**SMALL, "words": words, "length": length, "seed": seed})
    for split in SPLITS:
        found = sequences(out, split)
        assert found.shape == (SMALL[split], length)
        assert found.min() >= 1 and found.max() <= words
        keywords = (found == 1).sum(axis=1)
        assert keywords.max() <= 1
        assert keywords.sum() == SMALL[split] // 2


def test_the_arrays_hold_words_labels_and_where_the_keyword_is(build: Build) -> None:
    out = build(SMALL)
    vocabulary = (out / "encoded" / "vocabulary.txt").read_text(encoding="utf-8").splitlines()
    assert vocabulary == ["<pad>", "<bos>", "<unk>", "1", "2", "3", "4", "5"]
    for split in SPLITS:
        expected = sequences(out, split)
        arrays = {
            name: np.load(out / "encoded" / f"{split}.{name}.npy")
            for name in ("tokens", "offsets", "label", "keyword")
        }
        words = [
            [int(vocabulary[token]) for token in row] for row in arrays["tokens"].reshape(-1, 4)
        ]
        assert words == expected.tolist()
        assert arrays["offsets"].tolist() == list(range(0, 4 * len(expected) + 1, 4))
        assert arrays["label"].tolist() == [int(1 in row) for row in words]
        assert arrays["keyword"].tolist() == [int(word == 1) for row in words for word in row]


def assert_uniform(counts: np.ndarray, draws: int) -> None:
    """Fail where some outcome is more than 5 standard errors from its chance."""
    chance = 1 / len(counts)
    assert np.abs(counts - draws * chance).max() < 5 * math.sqrt(draws * chance * (1 - chance))


def test_positions_other_words_and_labels_are_uniform(build: Build) -> None:
    found = sequences(build({**SMALL, "train": 8000}), "train")
    where = np.nonzero(found == 1)[1]
    assert_uniform(np.bincount(where, minlength=4), len(where))
    others = found[found != 1]
    assert_uniform(np.bincount(others - 2, minlength=4), len(others))
    halves = (found == 1).any(axis=1).reshape(2, -1).sum(axis=1)
    assert_uniform(halves, int(halves.sum()))


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (None, "train.txt: expected 60 sequences, found 59; delete the file"),
        ("2 3 4", "line 1: expected 4 words out of 1 to 5, the keyword 1 once at most, found '2 3"),
        ("1 3 4 1", "line 1: expected 4 words out of 1 to 5, the keyword 1 once at most"),
        ("2 3 4 6", "line 1: expected 4 words"),
        ("2 3 4 0", "line 1: expected 4 words"),
        ("2 3 4 x", "line 1: expected 4 words"),
        ("", "line 1: expected 4 words"),
    ],
)
def test_a_damaged_raw_file_is_refused(
    damage: Callable[..., None], line: str | None, sentence: str
) -> None:
    with pytest.raises(DataError) as error:
        damage(SMALL, lambda lines: lines[1:] if line is None else [line, *lines[1:]])
    assert sentence in str(error.value)
