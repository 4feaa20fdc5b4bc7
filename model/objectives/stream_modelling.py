"""Modelling a text by characters, a segment of parallel streams at a time (Dai et al. 2019)."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from model.architectures.transformer_xl import TransformerXL
from model.batches.batching import PAD
from model.batches.corpus import Split
from model.batches.streams import Segments, StreamSampler, streams_in_order
from model.objectives.loss import Loss

LEAST_SEGMENTS = 32
"""Of a stream that is evaluated."""


class StreamModelling:
    """Negative log-likelihood per character.

    In training the model itself remembers the streams between their segments. While it is
    evaluated, which is never interrupted, the objective does.

    Args:
        segment: T, characters of a segment.
    """

    def __init__(self, segment: int) -> None:
        self.segment = segment
        self.sampler = functools.partial(StreamSampler, segment=segment)
        self.memory: Tensor | None = None

    def in_order(self, split: Split, tokens: int, device: torch.device) -> Iterator[Segments]:
        """Every character of a split once, in batches of at most so many or of one segment.

        A text that is too short for so many streams has fewer, as each begins without memory.
        """
        at_most = len(split.tokens) // (LEAST_SEGMENTS * self.segment)
        streams = max(1, min(tokens // self.segment, at_most))
        return streams_in_order(split, streams, self.segment, device)

    def loss(self, model: TransformerXL, batch: Segments, epoch: float) -> Loss:
        """Loss of the next segment of each stream; metric `loss` (nats per character)."""
        if model.training:
            read = model(batch.tokens, model.recall(batch.streams, batch.before))
            model.remember(batch.streams, read.memory)
        else:
            read = model(batch.tokens, self.memory if batch.before else None)
            self.memory = read.memory
        nll = F.cross_entropy(
            read.logits.flatten(0, 1).float(), batch.targets.flatten(), ignore_index=PAD
        )
        units = batch.targets.numel() - batch.padding
        return Loss(nll, units, {"loss": nll.detach() * units})
