"""Multi30k from its official files, or generated ones, to its arrays."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workflow.datasets.encoded.prepared import prepared_lines
from workflow.datasets.kinds.recipe import complete, files, load
from workflow.datasets.multi30k import NAMES
from workflow.errors import DataError, RecipeError

Take = Callable[..., dict[str, Any]]
RECIPE = {"dataset": "multi30k", "merges": 20}
GENERATED = {
    **{"dataset": "multi30k", "source": "generated", "seed": 3, "merges": 600},
    **{"train": 120, "dev": 30, "test": 20},
}


def official(**changes: bytes) -> dict[str, bytes]:
    """Small files of all splits; those of `changes` are named as `train.de`."""
    found = {}
    for split, name in NAMES.items():
        found[f"{name}.de"] = f"Zwei Männer: „{split}“.\nEin  Mann.\n".encode()
        found[f"{name}.en"] = f"Two men: “{split}”.\nA man.\n".encode()
    return {f"{name}.gz": gzip.compress(text) for name, text in {**found, **changes}.items()}


def texts(folder: Path, name: str) -> list[str]:
    return list(prepared_lines(folder / "prepared" / f"{name}.txt"))


def test_the_official_files(take: Take, tmp_path: Path) -> None:
    manifest = take(RECIPE, official())
    folder = tmp_path / "data"
    assert list(manifest["splits"]) == sorted(NAMES)
    for split in NAMES:
        assert texts(folder, f"{split}.source")[1] == "ein mann ."
        first = texts(folder, f"{split}.target")[0]
        assert first.startswith("two men : &quot; ") and split.split("_")[0] in first
        if split != "train":
            assert texts(folder, f"{split}.raw") == [f"Two men: “{split}”.", "A man."]
            reference = folder / "encoded" / f"{split}.raw_reference.txt"
            assert reference.read_text().split("\n")[1] == "A man."
    assert (folder / "encoded" / "test_2018.tokens.npy").is_file()
    announced = files(RECIPE)
    assert {path.name for path in (folder / "encoded").iterdir()} == {*announced["encoded"]}
    assert {path.name for path in (folder / "prepared").iterdir()} == {*announced["prepared"]}


def test_wrong_files_are_a_sentence(take: Take) -> None:
    with pytest.raises(DataError, match=r"val.de.gz has 2 lines and .*val.en.gz has 1, so they"):
        take(RECIPE, official(**{"val.en": b"One.\n"}), "misaligned")
    with pytest.raises(DataError, match=r"test_2016_flickr.de.gz, sentence 2: one side is empty"):
        take(RECIPE, official(**{"test_2016_flickr.en": b"One.\n\n"}), "empty")
    cut = official()
    cut["train.en.gz"] = cut["train.en.gz"][:-5]
    with pytest.raises(DataError, match=r"train.en.gz: this file is damaged or cut short"):
        take(RECIPE, cut, "cut")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            {"dataset": "multi30k", "train": 10},
            "Option `train` of dataset `multi30k` is for `source: generated` only; the official",
        ),
        (
            {"dataset": "multi30k", "source": "generated", "train": 9, "dev": 3, "test": 3},
            "Dataset `multi30k` with `source: generated` needs the option `seed`.",
        ),
    ],
)
def test_a_wrong_recipe_is_a_sentence(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RecipeError, match=sentence):
        load(values)


@pytest.mark.parametrize("direction", ["de_en", "en_de"])
def test_generated_pairs_have_a_lexicon(build: Callable[..., Path], direction: str) -> None:
    recipe = {**GENERATED, "direction": direction}
    assert complete(complete(recipe)) == complete(recipe)
    out = build(recipe)
    manifest = json.loads((out / "encoded" / "manifest.json").read_text())
    sizes = {split: size["examples"] for split, size in manifest["splits"].items()}
    assert sizes == {"train": 120, "dev": 30, "test": 20}
    assert manifest["statistics"]["dropped"] == {}
    assert {path.name for path in (out / "encoded").iterdir()} == {*files(recipe)["encoded"]}
    header, *rows = [
        line.split("\t") for line in (out / "encoded" / "lexicon.tsv").read_text().splitlines()
    ]
    assert header == ["source", "target", "class"]
    for side, name in ((0, "source"), (1, "target")):
        known = {row[side] for row in rows}
        words = {
            word
            for split in sizes
            for line in texts(out, f"{split}.{name}")
            for word in line.split()
        }
        assert words <= known
    nouns = {(row[0], row[1]) for row in rows if row[2] == "noun"}
    assert (("hund", "dog") if direction == "de_en" else ("dog", "hund")) in nouns


def test_generated_words_stay_whole_with_enough_merges(build: Callable[..., Path]) -> None:
    out = build({**GENERATED, "train": 1500, "merges": 2000})
    pieces = (out / "encoded" / "vocabulary.txt").read_text().rstrip("\n").split("\n")[4:]
    assert not [piece for piece in pieces if piece.endswith("@@")]
    manifest = json.loads((out / "encoded" / "manifest.json").read_text())
    assert manifest["statistics"]["median_words"] == manifest["statistics"]["median_length"]
    assert manifest["statistics"]["unknown_tokens"] == {"dev": 0, "test": 0}


def test_the_real_descriptions(take: Take, mirror: Path, tmp_path: Path) -> None:
    named = [
        name for name in files({"dataset": "multi30k"})["sources"] if not name.startswith("train")
    ]
    real: dict[str, bytes | Path] = {name: mirror / "multi30k" / name for name in named}
    manifest = take(RECIPE, official() | real)
    sizes = {split: size["examples"] for split, size in manifest["splits"].items()}
    del sizes["train"]
    assert sizes == {
        "dev": 1014, "test": 1000, "test_2017": 1000, "test_2018": 1071, "test_coco": 461,
    }  # fmt: skip
    assert texts(tmp_path / "data", "test.target")[0] == (
        "a man in an orange hat starring at something ."
    )
