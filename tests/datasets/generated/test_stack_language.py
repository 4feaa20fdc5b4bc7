"""The stack language from its recipe to its arrays."""

import pytest

from tests.datasets.folders import decoded, names, rows
from workflow.datasets.io.dataset_files import SPLITS
from workflow.runtime.errors import DataError

SMALL = {"dataset": "stack_language", "length": 9, "train": 60, "dev": 20, "test": 10}


def test_the_arrays_hold_the_generated_sequences(build):
    out = build(SMALL)
    for split in SPLITS:
        texts = (out / "raw" / f"{split}.txt").read_text(encoding="utf-8").splitlines()
        assert [" ".join(row) for row in decoded(out / "encoded", split)] == texts
        assert len(texts) == SMALL[split]
        for row, text in zip(rows(out / "encoded", split, "span_start"), texts, strict=True):
            digits = [j for j, symbol in enumerate(text.split()) if symbol.isdigit()]
            assert row == [max((j for j in digits if j <= t), default=0) for t in range(9)]


def test_three_of_ten_outputs_are_never_a_target(build):
    """As the note below the table of the stack language says."""
    encoded = build({**SMALL, "length": 30}) / "encoded"
    targets = {name for split in SPLITS for text in decoded(encoded, split) for name in text}
    assert len(names(encoded)) == 10
    assert {*names(encoded)} - targets == {"<pad>", "<bos>", "<unk>"}


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (lambda lines: lines[:-3], r"train.txt: expected 60 sequences, found 57"),
        (lambda lines: [lines[0], ") " + lines[1][2:], *lines[2:]], "line 2: this sequence breaks"),
        (lambda lines: [lines[0][:-2], *lines[1:]], "line 1: expected 9 symbols out of"),
        (lambda lines: [*lines[:4], "9" + lines[4][1:], *lines[5:]], "line 5: expected 9 symbols"),
    ],
)
def test_a_damaged_raw_file_is_refused(damage, edit, sentence):
    with pytest.raises(DataError, match=sentence):
        damage(SMALL, edit)
