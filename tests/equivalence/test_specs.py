import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from workflow.equivalence.specs import (
    BRIEF,
    SEED,
    UPDATES,
    brief,
    compressed,
    different_forms,
    form,
    in_single,
    lengthen,
    of_further_form,
    shortened,
    small_recipe,
)


def entry(**training: object) -> dict[str, object]:
    settings = {
        "epochs": 12,
        "batch": {"tokens": 4096},
        "schedule": {"name": "cosine", "warmup": 500},
        "average": {"last": 5, "epochs": 1},
        "clip": 1.0,
        "precision": "bf16",
        "threads": 2,
    }
    spec = {"training": settings | training, "checkpoints": [10, 99], "seed": 3, "run": {"seed": 3}}
    return {"spec": spec | {"model": {"path": "a:B", "width": 5}, "objective": {"path": "a:C"}}}


def test_a_training_is_compressed_and_its_model_and_precision_stay():
    known = entry()
    spec = compressed(known)
    training = spec["training"]
    assert (training["updates"], "epochs" in training) == (UPDATES, False)
    assert training["schedule"] == {"name": "cosine", "warmup": 8}
    assert training["average"] == {"last": 3, "updates": 5}
    assert (training["clip"], training["threads"], training["precision"]) == (0.05, 1, "bf16")
    assert (spec["seed"], spec["checkpoints"]) == (SEED, [20, 40])
    assert spec["model"] == known["spec"]["model"]
    assert known == entry(), "the listing is not altered"
    single = in_single(spec)["training"]
    assert (single["precision"], single["batch"]) == ("fp32", {"tokens": 768})
    assert training["batch"] == {"tokens": 192}
    twin, further = brief(in_single(spec)), of_further_form(in_single(spec))
    assert twin["training"] == single | {"updates": BRIEF}
    assert further["training"] == single | {"updates": BRIEF, "batch": {"tokens": 192}}
    assert twin["checkpoints"] == further["checkpoints"] == [8, 16]


def test_what_a_training_does_not_have_it_does_not_get():
    spec = compressed(entry(average=None, clip=None, schedule={"name": "constant"}))
    assert spec["training"]["schedule"] == {"name": "constant"}
    assert not spec["training"]["average"] and not spec["training"]["clip"]


def test_evaluators_look_at_little():
    node = {"path": "a:B", "dev": 2000, "values": {"search": {"beam": 5, "length_extra": 100}}}
    search = {"beam": 5, "length_extra": 20}
    assert shortened(node) == {"path": "a:B", "dev": 6, "values": {"search": search}}
    assert shortened({"path": "a:B", "train": "all"}) == {"path": "a:B", "train": "all"}


def test_bits_of_the_seed_are_mixed():
    bits = f"{SEED:031b}"
    assert 12 <= bits.count("1") <= 19


def test_forms_leave_out_the_size_of_numbers_and_keep_what_is_zero():
    assert form({"a": 1, "b": [2.0]}) == form({"a": 7, "b": [3]})
    assert form({"a": 1}) != form({"a": 0}) != form({"a": None})
    assert form({"a": "x"}) != form({"a": "y"})


def test_one_variant_of_each_form_is_proven_at_the_published_scale():
    listing = {
        "demo/e/a": entry(),
        "lite/e/a": entry(),
        "lite/e/b": entry(clip=3.0),
        "lite/e/c": entry(clip=None),
    }
    assert different_forms(listing, listing) == ["lite/e/a", "lite/e/c"]
    assert different_forms(["demo/e/a"], listing) == ["demo/e/a"]


def test_data_are_generated_ones_of_the_same_experiment():
    def with_data(**recipe: object) -> dict[str, object]:
        return {"spec": {"run": {"data": recipe}}}

    made = {"dataset": "sst", "source": "generated", "seed": 0}
    listing = {
        "lite/e/soft": with_data(dataset="sst", source="official"),
        "demo/e/sof": with_data(**made, train=9000, dev=300, test=9),
        "demo/e/other": with_data(**made, train=10, dev=10, test=10),
        "lite/f/copy": with_data(dataset="permutation_copying", train=25600, dev=1000, test=1000),
        "lite/g/none": with_data(dataset="sst", source="official"),
    }
    recipe = small_recipe("lite/e/soft", listing)
    assert recipe == {**made, "train": 104, "dev": 40, "test": 9}
    assert small_recipe("lite/f/copy", listing)["dataset"] == "permutation_copying"
    assert small_recipe("lite/g/none", listing) is None


@pytest.mark.parametrize("pairs", [False, True])
def test_longer_rows_hold_the_same_tokens(tmp_path: Path, pairs: bool):
    folder, longer = tmp_path / "encoded", tmp_path / "longer"
    folder.mkdir()
    examples = [[1, 2, 3], [4, 5], [6], [7, 8, 9, 10], [11, 12]]
    (folder / "manifest.json").write_text(json.dumps({"digest": "x"}))
    (folder / "vocabulary.txt").write_text("a\nb\n")
    (folder / "codes.txt").write_text("a b\n")
    np.save(folder / "train.tokens.npy", np.concatenate(examples))
    np.save(folder / "train.offsets.npy", np.cumsum([0, *map(len, examples)]))
    np.save(folder / "train.tag.npy", np.arange(12))
    if pairs:
        np.save(folder / "train.source.npy", np.array([1, 1, 1, 3, 1]))
    else:
        np.save(folder / "train.label.npy", np.array([0, 1, 1, 0, 1]))
    (folder / "train.text.txt").write_text("one\ntwo\nthree\nfour\nfive\n")
    lengthen(folder, longer, 2)
    tokens, offsets = (np.load(longer / f"train.{name}.npy") for name in ("tokens", "offsets"))
    rows = [tokens[a:b].tolist() for a, b in pairwise(offsets)]
    if pairs:
        assert rows == [[1, 4, 2, 3, 5], [6, 7, 8, 9, 10], [11, 12]]
        assert np.load(longer / "train.source.npy").tolist() == [2, 4, 1]
    else:
        assert rows == [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [11, 12]]
        assert np.load(longer / "train.label.npy").tolist() == [0, 1, 1]
        assert np.load(longer / "train.tag.npy").tolist() == [*range(12)]
    assert (longer / "train.text.txt").read_text() == "one two\nthree four\nfive\n"
    assert (longer / "codes.txt").read_text() == "a b\n"
    assert (longer / "source_vocabulary.txt").is_file() == pairs
