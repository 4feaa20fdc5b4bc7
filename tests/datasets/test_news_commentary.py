"""News Commentary from a file in the official format to its arrays."""

import gzip

from tests.datasets.folders import examples, texts
from workflow.datasets.encoded.subwords import SIDES
from workflow.datasets.kinds.recipe import complete, files

NAME = "news-commentary-v14.en-nl.tsv.gz"
RECIPE = {"dataset": "news_commentary", "vocabulary": 45}
WORDS = ("markt", "groei", "vrede", "macht", "krijg", "recht", "zaak")


def lines(count: int) -> list[str]:
    """Pairs in documents of five, an empty line after each."""
    found = []
    for n in range(count):
        word, other = WORDS[n % 7], WORDS[n * 3 % 7]
        found.append(f"Item {n}: {word},  {other}.\tPunt {n}: {other} of {word}.")
        found += [""] * (n % 5 == 4)
    return found


def packed(rows: list[str]) -> dict[str, bytes]:
    return {NAME: gzip.compress("\n".join(rows).encode())}


def test_nine_in_ten_pairs_are_to_train_on(take, tmp_path):
    manifest = take(RECIPE, packed([*lines(57), "1999\t1999", "12 %\t12 %", "\tallein", "\t"]))
    sizes = examples(manifest)
    assert sizes == {"train": 51, "dev": 6}  # as 52,070 of 57,856 in Table 8
    assert manifest["statistics"]["dropped"] == {"no letter": 2, "an empty side": 1}
    found = {
        split: [*zip(*(texts(tmp_path / "data", f"{split}.{side}") for side in SIDES), strict=True)]
        for split in sizes
    }
    expected = [tuple(" ".join(it.split()) for it in row.split("\t")) for row in lines(57) if row]
    assert sorted(found["train"] + found["dev"]) == sorted(expected)
    # Drawn at random: neither the first nor the last ones are dev.
    assert found["dev"] not in (expected[:6], expected[-6:])
    written = {path.name for path in (tmp_path / "data" / "encoded").iterdir()}
    assert written == {*files(RECIPE)["encoded"]}
    again = take(RECIPE, packed([*lines(57), "1999\t1999", "12 %\t12 %", "\tallein", ""]), "again")
    assert again["digest"] == manifest["digest"]


def test_a_line_that_is_no_pair_is_named(refuse):
    sentence = rf"{NAME}, line 3: expected a sentence, a tab and its"
    refuse(RECIPE, packed([*lines(2), "alone"]), sentence)


def test_the_papers_recipe():
    assert complete({"dataset": "news_commentary", "direction": "it_pt"})["vocabulary"] == 8000
    names = files({"dataset": "news_commentary", "direction": "it_pt"})["sources"]
    assert names == ["news-commentary-v14.it-pt.tsv.gz"]
