"""Batches of similar lengths, bounded by examples or by tokens, in an order that can be resumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.batches.corpus import Split

PAD, BOS = 0, 1


@dataclass(frozen=True)
class Batch:
    """Examples side by side, each behind BOS (which is <cls> for classifiers).

    Attributes:
        tokens: (B, T) int64, padded with PAD.
        real: (B, T), true at real tokens (BOS counts), false at padding.
        columns: (B,) for values per example; (B, T) for values per token, 0 at BOS and padding.
        examples: (B,) the examples' numbers in the split.
        padding: number of padding tokens.
    """

    tokens: Tensor
    real: Tensor
    columns: dict[str, Tensor]
    examples: np.ndarray
    padding: int

    def to(self, device: torch.device) -> Batch:
        """The same batch on another device."""
        columns = {name: c.to(device, non_blocking=True) for name, c in self.columns.items()}
        tokens = self.tokens.to(device, non_blocking=True)
        real = self.real.to(device, non_blocking=True)
        return Batch(tokens, real, columns, self.examples, self.padding)


def collate(split: Split, examples: np.ndarray) -> Batch:
    """Gather examples (numbers in the split) into a batch, without a loop over them."""
    starts, lengths = split.offsets[examples], split.offsets[examples + 1] - split.offsets[examples]
    inside = np.arange(lengths.max())[None] < lengths[:, None]
    where = (starts[:, None] + np.arange(lengths.max()))[inside]

    def lay_out(values: np.ndarray, dtype: type) -> np.ndarray:
        rows = np.zeros((len(examples), lengths.max() + 1), dtype)
        rows[:, 1:][inside] = values[where]
        return rows

    tokens = lay_out(split.tokens, np.int64)
    tokens[:, 0] = BOS
    real = np.pad(inside, ((0, 0), (1, 0)), constant_values=True)
    columns = {
        name: torch.from_numpy(
            values[examples].astype(np.int64)
            if len(values) == len(split)
            else lay_out(values, np.int64)
        )
        for name, values in split.columns.items()
    }
    padding = int(inside.size - inside.sum())
    return Batch(torch.from_numpy(tokens), torch.from_numpy(real), columns, examples, padding)


def plan_batches(
    lengths: np.ndarray, order: np.ndarray, limit: Mapping[str, int]
) -> list[np.ndarray]:
    """Cut examples into batches.

    Args:
        lengths: (N,) tokens of each example, BOS included.
        order: (N,) the examples' numbers in the order to cut; with a limit in tokens it should be
            sorted by length, so that little is padded.
        limit: `{"examples": n}`, or `{"tokens": n}`, which counts padding.

    Returns:
        Arrays of example numbers. An example longer than the limit makes a batch of its own.
    """
    if "examples" in limit:
        return list(np.split(order, range(limit["examples"], len(order), limit["examples"])))
    cuts, start, longest = [], 0, 0
    for position, length in enumerate(lengths[order]):
        longest = max(longest, length)
        if position > start and longest * (position - start + 1) > limit["tokens"]:
            cuts.append(position)
            start, longest = position, length
    return list(np.split(order, cuts))


def plan_updates(
    lengths: np.ndarray,
    batch: Mapping[str, int],
    random: np.random.Generator,
    alike: Callable[[np.ndarray, int], np.ndarray],
) -> list[list[np.ndarray]]:
    """Shuffle examples into updates, each a list of micro-batches whose gradients are accumulated.

    Examples of a micro-batch are alike in length, to have little padding; but the micro-batches of
    an update are drawn from all, as if each were a batch of its own.

    Args:
        lengths: (N,) tokens of every example.
        batch: `examples` or `tokens` per update, and optionally `micro_tokens`, the most tokens of
            a micro-batch; an update of `tokens` has as many of them as fit.
        random: that shuffles.
        alike: sorts example numbers for batches of so many tokens.

    Returns:
        The example numbers of every micro-batch of every update.
    """
    order = random.permutation(len(lengths))
    micro = batch.get("micro_tokens")
    if "examples" in batch:
        updates = plan_batches(lengths, order, batch)
        shuffled = [updates[i] for i in random.permutation(len(updates))]
        return [plan_batches(lengths, u, {"tokens": micro}) if micro else [u] for u in shuffled]
    tokens = min(micro or batch["tokens"], batch["tokens"])
    parts = plan_batches(lengths, alike(order, tokens), {"tokens": tokens})
    shuffled = [parts[i] for i in random.permutation(len(parts))]
    many = batch["tokens"] // tokens
    return [shuffled[first : first + many] for first in range(0, len(shuffled), many)]


class Sampler:
    """The updates of every epoch, each a list of micro-batches whose gradients are accumulated.

    Epoch e of seed s is a function of (s, e) alone, so a run resumes from two integers: the epoch
    and the updates done in it. Every epoch has the same number of updates.

    Args:
        split: what to draw from.
        batch: `examples` or `tokens` per update, and optionally `micro_tokens`, the most tokens
            that fit on the device at once.
        seed: of the shuffling.
    """

    def __init__(self, split: Split, batch: Mapping[str, int], seed: int) -> None:
        self.split = split
        self.lengths = split.lengths + 1
        self.batch = batch
        self.seed = seed
        self.updates_per_epoch = len(self.epoch(0))

    def epoch(self, epoch: int) -> list[list[np.ndarray]]:
        """The example numbers of every micro-batch of every update of an epoch."""
        random = np.random.default_rng([self.seed, epoch])
        return plan_updates(self.lengths, self.batch, random, self._sorted)

    def _sorted(self, order: np.ndarray, tokens: int) -> np.ndarray:
        return order[np.argsort(self.lengths[order], kind="stable")]

    def batches(self, examples: list[np.ndarray], device: torch.device) -> Iterator[Batch]:
        """The micro-batches of one update, on the device."""
        return (collate(self.split, chosen).to(device) for chosen in examples)


def in_order(split: Split, tokens: int, device: torch.device) -> Iterator[Batch]:
    """Every example of a split once, in batches of at most so many tokens, shortest first."""
    lengths = split.lengths + 1
    for chosen in plan_batches(lengths, np.argsort(lengths, kind="stable"), {"tokens": tokens}):
        yield collate(split, chosen).to(device)
