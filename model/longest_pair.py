"""Is every sentence short enough for the model? Told before it trains for hours."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from model.build import locate
from model.corpus import Corpus
from model.pairs import pair_lengths

SIDES = ("source", "target")


def check_longest_pair(model: Mapping[str, Any], corpus: Corpus) -> None:
    """Compare the longest sentence of all splits of a parallel corpus with `max_length`.

    Args:
        model: its node in a spec; one whose class takes no `max_length` reads any length.
        corpus: any; only a parallel one is looked at.

    Raises:
        ValueError: the sentence is too long; it names the split, the pair and the key.
    """
    accepted = inspect.signature(locate(model["path"])).parameters
    if "max_length" not in accepted or "source" not in corpus.split("train").columns:
        return
    found = []
    for name in corpus.manifest["splits"]:
        lengths = pair_lengths(corpus.split(name))
        pair, side = np.unravel_index(lengths.argmax(), lengths.shape)
        found.append((int(lengths[pair, side]), name, int(pair) + 1, SIDES[side]))
    longest, name, number, which = max(found)
    limit = model.get("max_length", accepted["max_length"].default)
    if longest > limit:
        raise ValueError(
            f"{corpus.folder}: the {which} of pair {number} of '{name}' (its line in "
            f"{name}.{which}.txt) has {longest} sub-words, <eos> included, and model.max_length "
            f"is {limit}: set it to {longest} or more."
        )
