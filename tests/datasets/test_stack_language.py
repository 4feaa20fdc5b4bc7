"""The stack language from its recipe to its arrays."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from workflow.datasets.io.files import SPLITS
from workflow.errors import DataError

SMALL = {"dataset": "stack_language", "length": 9, "train": 60, "dev": 20, "test": 10}
Build = Callable[..., Path]


def decoded(encoded: Path, split: str) -> list[str]:
    """Read a split back as texts."""
    vocabulary = (encoded / "vocabulary.txt").read_text(encoding="utf-8").splitlines()
    tokens = np.load(encoded / f"{split}.tokens.npy")
    offsets = np.load(encoded / f"{split}.offsets.npy")
    assert tokens.dtype == np.int32 and offsets.dtype == np.int64
    assert offsets[0] == 0 and offsets[-1] == len(tokens)
    return [
        " ".join(vocabulary[token] for token in tokens[start:end])
        for start, end in pairwise(offsets)
    ]


def test_the_arrays_hold_the_generated_sequences(build: Build) -> None:
    out = build(SMALL)
    for split in SPLITS:
        texts = (out / "raw" / f"{split}.txt").read_text(encoding="utf-8").splitlines()
        assert decoded(out / "encoded", split) == texts
        assert len(texts) == SMALL[split]
        starts = np.load(out / "encoded" / f"{split}.span_start.npy")
        for row, text in zip(starts.reshape(-1, 9), texts, strict=True):
            digits = [j for j, symbol in enumerate(text.split()) if symbol.isdigit()]
            expected = [max((j for j in digits if j <= t), default=0) for t in range(9)]
            assert row.tolist() == expected


def test_three_of_ten_outputs_are_never_a_target(build: Build) -> None:
    """As the note below the table of the stack language says."""
    encoded = build({**SMALL, "length": 30}) / "encoded"
    vocabulary = (encoded / "vocabulary.txt").read_text(encoding="utf-8").splitlines()
    targets = {vocabulary[i] for split in SPLITS for i in np.load(encoded / f"{split}.tokens.npy")}
    assert len(vocabulary) == 10
    assert set(vocabulary) - targets == {"<pad>", "<bos>", "<unk>"}


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (lambda lines: lines[:-3], r"train.txt: expected 60 sequences, found 57"),
        (lambda lines: [lines[0], ") " + lines[1][2:], *lines[2:]], "line 2: this sequence breaks"),
        (lambda lines: [lines[0][:-2], *lines[1:]], "line 1: expected 9 symbols out of"),
        (lambda lines: [*lines[:4], "9" + lines[4][1:], *lines[5:]], "line 5: expected 9 symbols"),
    ],
)
def test_a_damaged_raw_file_is_refused(
    damage: Callable[..., None], edit: Callable[[list[str]], list[str]], sentence: str
) -> None:
    with pytest.raises(DataError, match=sentence):
        damage(SMALL, edit)
