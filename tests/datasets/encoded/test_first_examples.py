"""The first examples of encoded data, of every form of a split."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model.batches.corpus import Corpus, read_lines
from workflow.datasets.encoded.first_examples import TOKENS, write_first_examples
from workflow.datasets.io.checksums import read_manifest
from workflow.runtime.integrity import Damaged, check_files

SIZES = {"train": 40, "dev": 12, "test": 9, "seed": 0}
STACK = {"dataset": "stack_language", "length": 8, **SIZES}
PAIRS = {"dataset": "multi30k", "source": "generated", "merges": 50, **SIZES}
FEW = 10


@pytest.mark.parametrize("recipe", [STACK, PAIRS])
def test_examples_are_those_of_the_whole_data(
    build: Callable[..., Path], recipe: Mapping[str, Any]
) -> None:
    folder = build(recipe)
    write_first_examples(folder / "encoded", FEW, folder / "few")
    whole, few = Corpus(folder / "encoded"), Corpus(folder / "few")
    assert few.vocabulary == whole.vocabulary
    for name in ("train", "dev", "test"):
        ours, theirs = few.split(name), whole.split(name)
        assert len(ours) == min(FEW, len(theirs))
        assert ours.columns.keys() == theirs.columns.keys()
        for part in ("tokens", *ours.columns):
            one = ours.tokens if part == "tokens" else ours.columns[part]
            other = theirs.tokens if part == "tokens" else theirs.columns[part]
            each = len(other) == len(theirs)
            end = len(ours) if each else theirs.offsets[len(ours)]
            assert np.array_equal(one, other[:end])
        assert few.manifest["splits"][name]["examples"] == len(ours)
    check_files(folder / "few", read_manifest(folder / "few")["files"])
    assert few.manifest["digest"] != whole.manifest["digest"]
    if recipe is PAIRS:
        lines = read_lines(whole, "dev", "reference")
        assert read_lines(few, "dev", "reference") == lines[:FEW]


def test_data_with_no_more_examples_are_the_same_data(build: Callable[..., Path]) -> None:
    folder = build(STACK)
    write_first_examples(folder / "encoded", 40, folder / "all")
    digests = [read_manifest(folder / name)["digest"] for name in ("encoded", "all")]
    assert digests[0] == digests[1]


def test_a_long_text_is_cut(build: Callable[..., Path]) -> None:
    folder = build({"dataset": "repeated_text", "train": 50, "dev": 20, "test": 20, "seed": 0})
    write_first_examples(folder / "encoded", 1, folder / "few")
    whole, few = (Corpus(folder / name).split("train") for name in ("encoded", "few"))
    assert len(few) == 1 and few.offsets.tolist() == [0, TOKENS]
    assert np.array_equal(few.tokens, whole.tokens[:TOKENS])


def test_damaged_data_are_refused(build: Callable[..., Path]) -> None:
    folder = build(STACK)
    shutil.copy(folder / "encoded" / "dev.tokens.npy", folder / "encoded" / "train.tokens.npy")
    with pytest.raises(Damaged, match=r"train\.tokens\.npy"):
        write_first_examples(folder / "encoded", FEW, folder / "few")
    assert not (folder / "few" / "manifest.json").exists()
