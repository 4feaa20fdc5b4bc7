"""What holds for every dataset that is generated: its files, its seed, and a stream a split."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from tests.datasets.folders import records
from workflow.datasets.io.checksums import read_manifest
from workflow.datasets.kinds.recipe import files

SIZES = {"train": 60, "dev": 20, "test": 10}
GENERATED = {"source": "generated", "seed": 0}
RECIPES: dict[str, dict[str, Any]] = {
    "keyword_toy": {"words": 5, "length": 4},
    "multiview_arithmetic": {},
    "permutation_copying": {"symbols": 9, "length": 6},
    "repeated_text": {"letters": 4, "length": 3},
    "stack_language": {"length": 9},
    "ag_news": GENERATED,
    "conll2000": GENERATED,
    "flickr8k": {**GENERATED, "pixels": 16},
    "imdb": GENERATED,
    "multi30k": {**GENERATED, "merges": 500},
    "newsgroups": GENERATED,
    "sst": GENERATED,
}
SPLITS = {name: ("train", "test") if name == "conll2000" else tuple(SIZES) for name in RECIPES}
# Of the others several splits are cut from one file, and photos are numbered through all of them.
WITH_STREAMS = [
    name for name in RECIPES if name not in ("ag_news", "flickr8k", "imdb", "newsgroups")
]
WITH_DUPLICATES = {
    "keyword_toy": {"words": 2, "length": 3},
    "permutation_copying": {"symbols": 4, "length": 4},
    "stack_language": {"length": 2, "max_depth": 1},
}
DIGESTS = {
    "ag_news": "4cd7733ddf023a93",
    "conll2000": "a5d1af1e11bcbc84",
    "imdb": "9776842d74b7201c",
    "keyword_toy": "a0210f05e5be5655",
    "multi30k": "226ef8d10b1a1fc6",
    "multiview_arithmetic": "1e4fb03256dcfd15",
    "newsgroups": "b5f9c4440d3a1711",
    "permutation_copying": "b3de5538ffb0d762",
    "repeated_text": "dcaaebc8999892a6",
    "sst": "ccbf6ac165caf8d5",
    "stack_language": "b556ce530e26f8ba",
}
"""Of what is prepared, as it always was: other texts would train runs again.

Drawings are as the version of Pillow has them.
"""


def recipe(name: str, **options: Any) -> dict[str, Any]:
    """A small recipe of a dataset."""
    sizes = {split: SIZES[split] for split in SPLITS[name]}
    return {"dataset": name, **sizes, **RECIPES[name], **options}


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of every file of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def texts(out: Path, name: str, split: str) -> bytes:
    """The first prepared file of a split; of pictures their captions."""
    file = next(f for f in files(recipe(name))["prepared"] if f.startswith(f"{split}."))
    return (out / "prepared" / file).read_bytes()


@pytest.mark.parametrize("name", RECIPES)
def test_the_same_seed_gives_the_announced_files_and_another_seed_others(build, name, monkeypatch):
    first = build(recipe(name), "first")
    monkeypatch.setattr("time.time", lambda: 1_000_000_000.0)
    again, other = build(recipe(name), "again"), build(recipe(name, seed=1), "other")
    announced = files(recipe(name))
    assert announced["sources"] == []
    for stage in ("raw", "prepared", "encoded"):
        assert contents(first / stage) == contents(again / stage)
        unannounced = {*contents(first / stage)} - {*announced[stage]}
        assert unannounced <= ({"counts.json"} if stage == "prepared" else set())
        assert {*announced[stage]} <= {*contents(first / stage)}
    for split in SPLITS[name]:
        assert texts(first, name, split) != texts(other, name, split)
    written = hashlib.sha256(b"".join(texts(first, name, split) for split in SPLITS[name]))
    assert written.hexdigest()[:16] == DIGESTS.get(name, written.hexdigest()[:16])


@pytest.mark.parametrize("name", WITH_STREAMS)
def test_every_split_has_its_own_stream(build, name):
    small, large = build(recipe(name), "small"), build(recipe(name, train=69), "large")
    for split in SPLITS[name][1:]:
        assert texts(small, name, split) == texts(large, name, split)
    equal = build(recipe(name, **dict.fromkeys(SPLITS[name], 30)), "equal")
    assert len({texts(equal, name, split) for split in SPLITS[name]}) == len(SPLITS[name])


@pytest.mark.parametrize("name", WITH_DUPLICATES)
def test_duplicates_are_counted(build, name):
    out = build(recipe(name, **WITH_DUPLICATES[name], dev=30))
    train, dev, test = ([record["text"] for record in records(out, it)] for it in SPLITS[name])
    manifest = read_manifest(out / "encoded")
    found = manifest["statistics"]["duplicates"]
    assert found == {
        "train": sum(text in train[:i] for i, text in enumerate(train)),
        "dev": sum(text in train for text in dev),
        "test": sum(text in train for text in test),
    }
    assert found["dev"] > 0
