"""The keyword toy from its recipe to its arrays."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.datasets.folders import assert_uniform, decoded, names, rows
from workflow.datasets.io.dataset_files import SPLITS
from workflow.runtime.errors import DataError

SMALL = {"dataset": "keyword_toy", "words": 5, "length": 4, "train": 60, "dev": 21, "test": 10}


def sequences(out: Path, split: str) -> np.ndarray:
    """Return the generated sequences of a split, (N, length)."""
    lines = (out / "raw" / f"{split}.txt").read_text(encoding="utf-8").splitlines()
    return np.array([[int(word) for word in line.split(" ")] for line in lines])


@given(words=st.integers(2, 9), length=st.integers(1, 7), seed=st.integers(0, 2**32))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_half_of_the_sequences_have_the_keyword_once(build, words, length, seed):
    out = build({**SMALL, "words": words, "length": length, "seed": seed})
    for split in SPLITS:
        found = sequences(out, split)
        assert found.shape == (SMALL[split], length)
        assert found.min() >= 1 and found.max() <= words
        keywords = (found == 1).sum(axis=1)
        assert keywords.max() <= 1
        assert keywords.sum() == SMALL[split] // 2


def test_the_arrays_hold_words_labels_and_where_the_keyword_is(build):
    out = build(SMALL)
    encoded = out / "encoded"
    assert names(encoded) == ["<pad>", "<bos>", "<unk>", "1", "2", "3", "4", "5"]
    for split in SPLITS:
        words = sequences(out, split).tolist()
        assert decoded(encoded, split) == [[*map(str, row)] for row in words]
        assert np.load(encoded / f"{split}.label.npy").tolist() == [int(1 in row) for row in words]
        assert rows(encoded, split, "keyword") == [[int(n == 1) for n in row] for row in words]


def test_positions_other_words_and_labels_are_uniform(build):
    found = sequences(build({**SMALL, "train": 8000}), "train")
    where = np.nonzero(found == 1)[1]
    assert_uniform(Counter(where.tolist()), 4)
    others = found[found != 1]
    assert_uniform(Counter(others.tolist()), 4)
    halves = (found == 1).any(axis=1).reshape(2, -1).sum(axis=1)
    assert_uniform(Counter(dict(enumerate(halves.tolist()))), 2)


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
def test_a_damaged_raw_file_is_refused(damage, line, sentence):
    with pytest.raises(DataError) as error:
        damage(SMALL, lambda lines: lines[1:] if line is None else [line, *lines[1:]])
    assert sentence in str(error.value)
