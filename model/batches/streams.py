"""Parallel streams over one long text, read a segment at a time (Dai et al. 2019, section 3.2).

The text is cut into as many equal parts as there are streams; a batch is the next segment of each.
So what a model remembers of a stream's last segment is what stands before its next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.batches.batching import BOS, PAD
from model.batches.corpus import Split


@dataclass(frozen=True)
class Segments:
    """A segment of each of B streams, side by side.

    Attributes:
        tokens: (B, T) int64, the character before each one that is predicted; BOS at the beginning
            of a stream.
        targets: (B, T) int64, the characters; PAD behind the end of a stream.
        streams: (B,) int64, the streams' numbers; not on the device.
        before: characters of each stream that its earlier segments held.
        padding: number of targets that are PAD.
    """

    tokens: Tensor
    targets: Tensor
    streams: Tensor
    before: int
    padding: int


class StreamSampler:
    """The updates of every epoch: the segments of all streams, in the order of the text.

    Every epoch is the same; the characters that do not make a whole segment are left out.

    Args:
        split: what to read, one example.
        batch: `tokens` of an update, a multiple of the segment's; optionally `micro_tokens`, the
            most that fit on the device at once.
        seed: of the run; nothing is drawn.
        segment: characters of a segment.

    Raises:
        ValueError: the batch is not a number of segments, or the text is too short for one of each.
    """

    def __init__(self, split: Split, batch: Mapping[str, int], seed: int, segment: int) -> None:
        self.split, self.segment = split, segment
        self.streams = streams_of(batch.get("tokens", 0), segment, "tokens")
        self.at_once = self.streams
        if batch.get("micro_tokens"):
            self.at_once = streams_of(batch["micro_tokens"], segment, "micro_tokens")
        self.updates_per_epoch = len(split.tokens) // (self.streams * segment)
        if not self.updates_per_epoch:
            raise ValueError(
                f"the text of {len(split.tokens)} characters is too short for {self.streams} "
                f"segments of {segment} side by side: lower training.batch.tokens."
            )

    def epoch(self, epoch: int) -> list[list[np.ndarray]]:
        """Every micro-batch of every update, each an array (B, 2) of (stream, segment's number)."""
        numbers = np.arange(self.streams)
        parts = np.split(numbers, range(self.at_once, self.streams, self.at_once))
        return [
            [np.stack([part, np.full_like(part, segment)], axis=1) for part in parts]
            for segment in range(self.updates_per_epoch)
        ]

    def batches(self, examples: list[np.ndarray], device: torch.device) -> Iterator[Segments]:
        """The micro-batches of one update, on the device."""
        length = self.updates_per_epoch * self.segment
        for rows in examples:
            streams, before = rows[:, 0], int(rows[0, 1]) * self.segment
            yield _cut(self.split.tokens, streams, length, before, self.segment, device)


def streams_of(tokens: int, segment: int, name: str) -> int:
    """How many segments a number of tokens makes; `name` is its key in training.batch.

    Raises:
        ValueError: it is not a whole number of them.
    """
    if tokens < segment or tokens % segment:
        raise ValueError(
            f"training.batch.{name} is {tokens or 'missing'}; give a multiple of the segment's "
            f"{segment} characters, one for each of the streams that are read side by side."
        )
    return tokens // segment


def streams_in_order(
    split: Split, streams: int, segment: int, device: torch.device
) -> Iterator[Segments]:
    """Every character of a split once, a segment of each stream at a time.

    All streams but the last have the same length; those that are shorter end in padding.
    """
    length = -(-len(split.tokens) // streams)
    numbers = np.arange(-(-len(split.tokens) // length))
    for before in range(0, length, segment):
        size = min(segment, length - before)
        yield _cut(split.tokens, numbers, length, before, size, device)


def _cut(
    text: np.ndarray, streams: np.ndarray, length: int, before: int, size: int, device: torch.device
) -> Segments:
    """The segments of streams, `length` characters each, from their character `before` on."""
    targets = np.full((len(streams), size), PAD, np.int64)
    first = np.full((len(streams), 1), BOS, np.int64)
    for row, start in enumerate(streams * length + before):
        characters = text[start : start + size]
        targets[row, : len(characters)] = characters
        if before:
            first[row] = text[min(start, len(text)) - 1]
    tokens = np.concatenate([first, targets[:, :-1]], axis=1)
    return Segments(
        torch.from_numpy(tokens).to(device),
        torch.from_numpy(targets).to(device),
        torch.from_numpy(streams),
        before,
        int((targets == PAD).sum()),
    )
