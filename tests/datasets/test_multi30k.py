"""Multi30k from its official files, or generated ones, to its arrays."""

import gzip

import pytest

from tests.datasets.folders import examples, names, texts
from workflow.datasets.io.checksums import read_manifest
from workflow.datasets.kinds.recipe import complete, files
from workflow.datasets.multi30k import NAMES

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


def test_the_official_files(take, tmp_path):
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


def test_all_test_sets_are_one_and_train_stays_as_it_is(take, tmp_path):
    manifest = take({**RECIPE, "tests": "all"}, official())
    folder = tmp_path / "data"
    sets = ["test_2016", "test_2017", "test_2018", "test_coco"]
    assert list(manifest["splits"]) == sorted(["train", "dev", "test", *sets])
    for kind in ("source", "target", "raw"):
        together = [line for split in sets for line in texts(folder, f"{split}.{kind}")]
        assert texts(folder, f"test.{kind}") == together and len(together) == 8
    assert {path.name for path in (folder / "encoded").iterdir()} == {
        *files({**RECIPE, "tests": "all"})["encoded"]
    }
    take(RECIPE, official(), "as_published")
    for name in ("train.tokens.npy", "dev.tokens.npy", "vocabulary.txt", "test_2016.tokens.npy"):
        alone = tmp_path / "as_published" / "encoded" / name.replace("test_2016", "test")
        assert (folder / "encoded" / name).read_bytes() == alone.read_bytes()


def test_the_option_for_all_test_sets_is_no_part_of_other_recipes():
    assert "tests" not in complete(RECIPE)


def test_an_empty_line_in_dev_or_test_costs_one_pair(take):
    odd = {"val.en": b"One.\n\n", "test_2016_flickr.de": b"\nEin Mann.\n\n"}
    manifest = take(RECIPE, official(**odd))
    assert manifest["statistics"]["dropped"] == {"an empty side in dev or test": 2}
    sizes = examples(manifest)
    assert (sizes["dev"], sizes["test"], sizes["test_2017"]) == (1, 1, 2)


@pytest.mark.parametrize("direction", ["de_en", "en_de"])
def test_generated_pairs_have_a_lexicon(build, direction):
    recipe = {**GENERATED, "direction": direction}
    assert complete(complete(recipe)) == complete(recipe)
    out = build(recipe)
    manifest = read_manifest(out / "encoded")
    sizes = examples(manifest)
    assert sizes == {"train": 120, "dev": 30, "test": 20}
    assert manifest["statistics"]["dropped"] == {}
    assert {path.name for path in (out / "encoded").iterdir()} == {*files(recipe)["encoded"]}
    lines = (out / "encoded" / "lexicon.tsv").read_text().splitlines()
    header, *rows = [line.split("\t") for line in lines]
    assert header == ["source", "target", "class"]
    for side, name in ((0, "source"), (1, "target")):
        written = " ".join(line for split in sizes for line in texts(out, f"{split}.{name}"))
        assert {*written.split()} <= {row[side] for row in rows}
    nouns = {(row[0], row[1]) for row in rows if row[2] == "noun"}
    assert (("hund", "dog") if direction == "de_en" else ("dog", "hund")) in nouns


def test_generated_pairs_have_two_test_sets(build, tmp_path):
    out = build({**GENERATED, "tests": "all"})
    assert examples(read_manifest(out / "encoded")) == {
        **{"train": 120, "dev": 30, "test": 40},
        **{"test_2016": 20, "test_2017": 20},
    }
    sets = [texts(out, f"{split}.source") for split in ("test_2016", "test_2017")]
    assert texts(out, "test.source") == sets[0] + sets[1] and not {*sets[0]} & {*sets[1]}
    one = build(GENERATED, "one")
    assert texts(one, "test.source") == sets[0]
    assert texts(one, "train.source") == texts(out, "train.source")


def test_generated_words_stay_whole_with_enough_merges(build):
    out = build({**GENERATED, "train": 1500, "merges": 2000})
    pieces = names(out / "encoded")[4:]
    assert not [piece for piece in pieces if piece.endswith("@@")]
    manifest = read_manifest(out / "encoded")
    assert manifest["statistics"]["median_words"] == manifest["statistics"]["median_length"]
    assert manifest["statistics"]["unknown_tokens"] == {"dev": 0, "test": 0}


def test_the_real_descriptions(take, mirror, tmp_path):
    named = [name for name in files(RECIPE)["sources"] if not name.startswith("train")]
    manifest = take(RECIPE, official() | {name: mirror / "multi30k" / name for name in named})
    sizes = {"dev": 1014, "test": 1000, "test_2017": 1000, "test_2018": 1071, "test_coco": 461}
    assert examples(manifest) == {"train": 2, **sizes}
    first = "a man in an orange hat starring at something ."
    assert texts(tmp_path / "data", "test.target")[0] == first
