"""Batches of sentence pairs, bucketed by the lengths of both sides.

A parallel corpus is an encoded corpus whose examples hold the source's tokens and then the
target's, each side with its own EOS, and whose column `source` counts those of the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor

from model.batches.batching import BOS, PAD, plan_batches, plan_updates
from model.batches.corpus import REBUILD, Split
from model.layers.packing import Layout

EOS = 2


@dataclass(frozen=True)
class PairBatch:
    """Sentence pairs side by side, both sides padded with PAD.

    Attributes:
        source: (B, S) int64, with EOS.
        source_layout: of the source's real tokens.
        tokens: (B, T + 1) int64, the target: BOS, its tokens, EOS.
        layout: (B, T) of the N target tokens to predict, tokens[:, 1:].
        examples: (B,) the pairs' numbers in the split.
        padding: number of padding tokens in `tokens`.
    """

    source: Tensor
    source_layout: Layout
    tokens: Tensor
    layout: Layout
    examples: np.ndarray
    padding: int

    def to(self, device: torch.device) -> PairBatch:
        """The same batch on another device."""
        return PairBatch(
            self.source.to(device, non_blocking=True),
            self.source_layout.to(device),
            self.tokens.to(device, non_blocking=True),
            self.layout.to(device),
            self.examples,
            self.padding,
        )


def pair_lengths(split: Split) -> np.ndarray:
    """Tokens of both sides of every pair, (N, 2), each with its EOS.

    Raises:
        ValueError: the split is no parallel one, or a side is empty.
    """
    if "source" not in split.columns:
        raise ValueError(
            "the corpus is no parallel one: it has no column 'source'; name a parallel dataset."
        )
    lengths = np.stack([split.columns["source"], split.lengths - split.columns["source"]], axis=1)
    if lengths.min() < 1:
        empty = int(lengths.min(axis=1).argmin())
        raise ValueError(f"pair {empty} of the corpus has an empty side: {REBUILD}")
    return lengths.astype(np.int64)


def collate_pairs(split: Split, examples: np.ndarray) -> PairBatch:
    """Gather pairs (numbers in the split) into a batch, without a loop over them."""
    starts, ends = split.offsets[examples], split.offsets[examples + 1]
    middles = starts + split.columns["source"][examples]
    source, source_real = _lay_out(split.tokens, starts, middles)
    target, real = _lay_out(split.tokens, middles, ends)
    tokens = np.pad(target, ((0, 0), (1, 0)), constant_values=BOS)
    return PairBatch(
        torch.from_numpy(source),
        Layout(torch.from_numpy(source_real)),
        torch.from_numpy(tokens),
        Layout(torch.from_numpy(real)),
        examples,
        int(real.size - real.sum()),
    )


def _lay_out(
    values: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    lengths = ends - starts
    inside = np.arange(lengths.max())[None] < lengths[:, None]
    rows = np.full(inside.shape, PAD, np.int64)
    rows[inside] = values[(starts[:, None] + np.arange(lengths.max()))[inside]]
    return rows, inside


def bucketed(lengths: np.ndarray, order: np.ndarray, tokens: int) -> np.ndarray:
    """Sort pairs so that neighbours are alike on both sides.

    The sources' lengths are cut into bands that hold some batches each; within a band pairs are
    sorted by the target's length, up in one band and down in the next, so that a batch on the
    border of two bands is alike too.

    Args:
        lengths: (N, 2) tokens of both sides.
        order: (N,) the pairs' numbers, shuffled; pairs of equal lengths keep their order.
        tokens: of a batch, on its longer side.

    Returns:
        (N,) the pairs' numbers, sorted.
    """
    order = order[np.argsort(lengths[order, 0], kind="stable")]
    source, target = lengths[order].T
    batches = np.cumsum(lengths[order].max(axis=1)) / tokens
    band, bands, first = 0, np.zeros(len(order), np.int64), 0.0
    for cut in np.flatnonzero(np.diff(source)):
        if batches[cut] - first >= BATCHES_PER_BAND:
            band, first = band + 1, batches[cut]
            bands[cut + 1 :] = band
    upwards = np.where(bands % 2 == 0, target, -target)
    return order[np.lexsort((upwards, bands))]


BATCHES_PER_BAND = 4
"""Fewer make narrower bands of source lengths, but batches that span more target lengths."""


class PairSampler:
    """The updates of every epoch, as `model.batches.batching.Sampler` gives them, of sentence
    pairs.

    Args:
        split: what to draw from, a parallel one.
        batch: `tokens` per update, padding counted, on the side that has more of them; or
            `examples`; and optionally `micro_tokens`, the most that fit on the device at once.
        seed: of the shuffling.

    Raises:
        ValueError: the split is no parallel one, or a side is empty.
    """

    def __init__(self, split: Split, batch: Mapping[str, int], seed: int) -> None:
        self.split = split
        self.lengths = pair_lengths(split)
        self.batch = batch
        self.seed = seed
        self.updates_per_epoch = len(self.epoch(0))

    def epoch(self, epoch: int) -> list[list[np.ndarray]]:
        """The pair numbers of every micro-batch of every update of an epoch."""
        random = np.random.default_rng([self.seed, epoch])
        alike = partial(bucketed, self.lengths)
        return plan_updates(self.lengths.max(axis=1), self.batch, random, alike)

    def batches(self, examples: list[np.ndarray], device: torch.device) -> Iterator[PairBatch]:
        """The micro-batches of one update, on the device."""
        return (collate_pairs(self.split, chosen).to(device) for chosen in examples)


def pairs_in_order(split: Split, tokens: int, device: torch.device) -> Iterator[PairBatch]:
    """Every pair of a split once, in batches of at most so many tokens per side, shortest first."""
    lengths = pair_lengths(split)
    order = bucketed(lengths, np.arange(len(split)), tokens)
    for chosen in plan_batches(lengths.max(axis=1), order, {"tokens": tokens}):
        yield collate_pairs(split, chosen).to(device)
