"""The sizes of training sets, for what they cost before they are made."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workflow.datasets.kinds.recipe import Recipe

SIZES = Path(__file__).parents[2] / "sizes.tsv"
"""A line for each dataset, or for those of its recipes that have some options."""


@dataclass(frozen=True)
class Data:
    """The training split of a recipe."""

    examples: float
    tokens: float
    """With <bos>, as training counts them."""
    vocabulary: int


@dataclass(frozen=True)
class Size:
    """A line of the file."""

    options: Mapping[str, str]
    examples: int
    tokens: float
    """Of an example."""
    vocabulary: int | None
    """None where the recipe tells it."""


def stated(recipe: Recipe, otherwise: int) -> Data | None:
    """Return the size that is stated of a recipe's data, None without a line for it.

    Args:
        recipe: of the data.
        otherwise: entries of the vocabulary where neither file nor recipe tells.
    """
    for size in _sizes().get(str(recipe["dataset"]), []):
        if all(str(recipe.get(name)) == value for name, value in size.options.items()):
            told = recipe.get("vocabulary") or recipe.get("merges") or otherwise
            return Data(size.examples, size.examples * size.tokens, size.vocabulary or int(told))
    return None


@cache
def _sizes() -> dict[str, list[Size]]:
    found: dict[str, list[Size]] = {}
    with SIZES.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            pairs = (pair.split("=") for pair in filter(None, row["options"].split(", ")))
            vocabulary = int(row["vocabulary"]) if row["vocabulary"] else None
            size = Size(dict(pairs), int(row["examples"]), float(row["tokens"]), vocabulary)
            found.setdefault(row["dataset"], []).append(size)
    return found
