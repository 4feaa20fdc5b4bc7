"""Sentence pairs with lengths as in IWSLT'14 German-English, for measuring speed."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from model.batches.corpus import Split
from model.batches.pairs import EOS

PAIRS, VOCABULARY = 40_000, 10_000


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
    with tempfile.TemporaryDirectory() as folder:
        for name, values in {"tokens": tokens, "offsets": offsets, "source": source}.items():
            np.save(Path(folder) / f"train.{name}.npy", values)
        return Split(Path(folder), "train")
