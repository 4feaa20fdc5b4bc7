"""Permutation copying from its recipe to its arrays."""

from collections import Counter
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.datasets.folders import assert_uniform, decoded, names
from workflow.datasets.io.checksums import read_manifest
from workflow.datasets.io.dataset_files import SPLITS
from workflow.datasets.kinds.recipe import load
from workflow.runtime.errors import DataError

SMALL = {"dataset": "permutation_copying", "train": 60, "dev": 20, "test": 10}
SAME = {**SMALL, "symbols": 6, "length": 6}
SOME = {**SMALL, "symbols": 9, "length": 6}
MIXTURE = {**SMALL, "symbols": 8, "sets": 2, "length": 4}


def sequences(out: Path, split: str) -> list[list[int]]:
    """Return the generated sequences of a split."""
    text = (out / "raw" / f"{split}.txt").read_text(encoding="utf-8")
    return [[int(symbol) for symbol in line.split(" ")] for line in text.splitlines()]


@given(
    set_size=st.integers(1, 9), sets=st.integers(1, 4), seed=st.integers(0, 2**32), data=st.data()
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_sequence_is_different_symbols_of_one_set(build, set_size, sets, seed, data):
    length = data.draw(st.integers(1, set_size))
    shape = {"symbols": set_size * sets, "sets": sets, "length": length}
    out = build({**SMALL, **shape, "seed": seed})
    members = [set(range(1 + i * set_size, 1 + (i + 1) * set_size)) for i in range(sets)]
    for split in SPLITS:
        found = sequences(out, split)
        assert len(found) == SMALL[split]
        for sequence in found:
            assert len(sequence) == len(set(sequence)) == length
            assert sum(set(sequence) <= one for one in members) == 1


@pytest.mark.parametrize("recipe", [SAME, SOME, MIXTURE])
def test_the_arrays_hold_the_sequences_with_the_end_after_each(build, recipe):
    out = build(recipe)
    written = [str(symbol) for symbol in range(1, recipe["symbols"] + 1)]
    assert names(out / "encoded") == ["<end>", "<bos>", *written]
    for split in SPLITS:
        expected = [[*map(str, sequence), "<end>"] for sequence in sequences(out, split)]
        assert decoded(out / "encoded", split) == expected
        assert {*map(len, expected)} == {recipe["length"] + 1}


def test_unused_outputs_stand_in_no_sequence(build):
    marks = {
        0: (["<end>", "<bos>"], []),
        1: (["<end>", "<bos>"], ["<unused 1>"]),
        2: (["<pad>", "<bos>", "<unk>", "<end>"], []),
        4: (["<pad>", "<bos>", "<unk>", "<end>"], ["<unused 1>", "<unused 2>"]),
    }
    texts = []
    for unused, (first, last) in marks.items():
        out = build({**SAME, "unused": unused}, f"{unused} unused") / "encoded"
        assert names(out) == [*first, *"123456", *last]
        texts.append(decoded(out, "test"))
    assert all(text == texts[0] for text in texts)


def test_a_draw_out_of_more_symbols_leaves_different_ones_out(build):
    left_out = {frozenset(range(1, 10)) - set(found) for found in sequences(build(SOME), "train")}
    assert len(left_out) > 20  # of 84 sets of three


SETS_OF_TWO = {(1, 2), (2, 1), (3, 4), (4, 3), (5, 6), (6, 5)}


@pytest.mark.parametrize(
    ("shape", "outcomes"),
    [
        ({"symbols": 4, "length": 4}, {*permutations([1, 2, 3, 4])}),
        ({"symbols": 5, "length": 2}, {*permutations([1, 2, 3, 4, 5], 2)}),
        ({"symbols": 6, "sets": 3, "length": 2}, SETS_OF_TWO),
    ],
    ids=["orders", "subsets and their orders", "sets and orders"],
)
def test_sequences_are_uniform(build, shape, outcomes):
    counts = Counter(map(tuple, sequences(build({**SMALL, **shape, "train": 12_000}), "train")))
    assert {*counts} == outcomes
    assert_uniform(counts, len(outcomes))


def test_every_symbol_stands_at_every_position_alike_often(build):
    rows = np.array(sequences(build({**SMALL, "symbols": 60, "train": 6000}), "train"))
    assert rows.shape == (6000, 40)
    for position in range(40):
        assert_uniform(Counter(rows[:, position].tolist()), 60)


def test_no_permutation_of_forty_symbols_repeats(build):
    out = build({**SMALL, "train": 600})
    repeated = read_manifest(out / "encoded")["statistics"]["duplicates"]
    assert repeated == {"train": 0, "dev": 0, "test": 0}


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (lambda lines: lines[:-3], "train.txt: expected 60 sequences, found 57; delete the file"),
        (lambda lines: [*lines, "1 2 3 4"], "train.txt: expected 60 sequences, found 61"),
        (
            lambda lines: [*lines[:4], "1 2 3", *lines[5:]],
            "line 5: expected 4 different symbols out of 1 to 8, found '1 2 3'; delete",
        ),
        *(
            (lambda lines, wrong=wrong: [wrong, *lines[1:]], "line 1: expected 4 different symbols")
            for wrong in ("1 2 3 4 4", "1 2 3 3", "1 2 3 9", "0 2 3 4", "01 2 3 4", "x 2 3 4", "")
        ),
        (
            lambda lines: [lines[0], "4 5 6 7", *lines[2:]],
            "line 2: expected symbols of one of the 2 sets of 4 neighbours",
        ),
    ],
)
def test_a_damaged_raw_file_is_refused(damage, edit, sentence):
    with pytest.raises(DataError) as error:
        damage(MIXTURE, edit)
    assert sentence in str(error.value)


def test_a_prepared_file_of_another_recipe_is_refused(build):
    out = build(SOME)
    dataset = load(SAME)
    with pytest.raises(DataError, match=r"train\.jsonl, line \d+: expected 6 different symbols"):
        dataset.encode(out / "prepared", out / "again")
