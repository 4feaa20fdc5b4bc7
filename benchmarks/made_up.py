"""Random words for measuring speed.

Sentence pairs with lengths as in IWSLT'14 German-English, and texts as in 20 Newsgroups.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model.batches.batching import BOS
from model.batches.corpus import Split
from model.batches.pairs import EOS

PAIRS, VOCABULARY = 40_000, 10_000
TEXTS, WORDS, LONGEST = 1_200, 14_000, 500


def made_up_pairs(seed: int = 0) -> Split:
    """A split of random words.

    Sources are log-normal around 20 sub-words (mean 25), targets within some 20 % of that; both
    sides end with EOS.
    """
    random = np.random.default_rng(seed)
    source = np.clip(random.lognormal(3.0, 0.6, PAIRS), 1, 174).astype(np.int64) + 1
    spread = np.exp(random.normal(0, 0.18, PAIRS))
    target = np.clip(source * spread, 2, 175).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(source + target)])
    tokens = random.integers(EOS + 2, VOCABULARY, offsets[-1]).astype(np.int32)
    tokens[offsets[:-1] + source - 1] = EOS
    tokens[offsets[1:] - 1] = EOS
    return _split(tokens=tokens, offsets=offsets, source=source)


def made_up_texts(seed: int = 0) -> Split:
    """A split of random words with two labels.

    Lengths are log-normal around 180 words and cut at 500 (mean 210).
    """
    random = np.random.default_rng(seed)
    lengths = np.clip(random.lognormal(5.2, 0.67, TEXTS), 1, LONGEST).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    tokens = random.integers(BOS + 1, WORDS, offsets[-1]).astype(np.int32)
    return _split(tokens=tokens, offsets=offsets, label=random.integers(0, 2, TEXTS))


def _split(**arrays: NDArray[Any]) -> Split:
    with tempfile.TemporaryDirectory() as folder:
        for name, values in arrays.items():
            np.save(Path(folder) / f"train.{name}.npy", values)
        return Split(Path(folder), "train")
