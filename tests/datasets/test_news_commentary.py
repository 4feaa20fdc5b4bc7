"""News Commentary from a file in the official format to its arrays."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workflow.datasets.encoded.prepared import prepared_lines
from workflow.datasets.kinds.recipe import complete, files
from workflow.errors import DataError, RecipeError

Take = Callable[..., dict[str, Any]]
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


def test_nine_in_ten_pairs_are_to_train_on(take: Take, tmp_path: Path) -> None:
    manifest = take(RECIPE, packed([*lines(57), "1999\t1999", "12 %\t12 %", "\tallein", "\t"]))
    sizes = {split: size["examples"] for split, size in manifest["splits"].items()}
    assert sizes == {"train": 51, "dev": 6}  # as 52,070 of 57,856 in Table 8
    assert manifest["statistics"]["dropped"] == {"no letter": 2, "an empty side": 1}
    prepared = tmp_path / "data" / "prepared"
    found = {
        split: list(
            zip(
                *(
                    prepared_lines(prepared / f"{split}.{name}.txt")
                    for name in ("source", "target")
                ),
                strict=True,
            )
        )
        for split in sizes
    }
    expected = [
        tuple(" ".join(side.split()) for side in row.split("\t")) for row in lines(57) if row
    ]
    assert sorted(found["train"] + found["dev"]) == sorted(expected)
    # Drawn at random: neither the first nor the last ones are dev.
    assert found["dev"] not in (expected[:6], expected[-6:])
    assert {path.name for path in (tmp_path / "data" / "encoded").iterdir()} == {
        *files(RECIPE)["encoded"]
    }
    again = take(RECIPE, packed([*lines(57), "1999\t1999", "12 %\t12 %", "\tallein", ""]), "again")
    assert again["digest"] == manifest["digest"]


def test_a_line_that_is_no_pair_is_named(take: Take) -> None:
    with pytest.raises(DataError, match=rf"{NAME}, line 3: expected a sentence, a tab and its"):
        take(RECIPE, packed([*lines(2), "alone"]))


def test_the_papers_recipe() -> None:
    assert complete({"dataset": "news_commentary", "direction": "it_pt"})["vocabulary"] == 8000
    names = files({"dataset": "news_commentary", "direction": "it_pt"})["sources"]
    assert names == ["news-commentary-v14.it-pt.tsv.gz"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"merges": 8000}, r"byte-pair encoding; take it away: this dataset is always encoded by"),
        ({"vocabulary": None}, "Option `vocabulary` .* is None; it must be a whole number"),
    ],
)
def test_byte_pairs_are_refused_with_advice_to_follow(
    options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(RecipeError, match=sentence):
        complete({"dataset": "news_commentary", **options})
