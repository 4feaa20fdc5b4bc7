"""How well a Transformer-XL predicts a text, by the length of its memory (zhao2019 table 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from model.architectures.transformer_xl import TransformerXL
from model.batches.batching import PAD
from model.batches.streams import streams_in_order
from model.build import count_parameters
from model.probes.measure import Measured, Subject, scalar

BLOCK = 1000
"""Characters whose mean is one example of a paired test."""


def bits_per_character(
    subject: Subject,
    memories: Sequence[int],
    segment: int,
    streams: int = 8,
    furthest: int | None = None,
    split: str = "test",
) -> Measured:
    """Bits per character of a whole split, each character predicted once, for several memories.

    Args:
        subject: a trained `TransformerXL` and its text.
        memories: characters that each segment remembers, in rising order; the last is the one to
            report, and 0 that without memory.
        segment: characters that are read at once.
        streams: parts of the text that are read side by side, each from an empty memory.
        furthest: the distance as which longer ones count; without it they are as they are.
        split: what to read.

    Returns:
        Scalars `bpc` and, with the memory 0 among others, `bpc_without` (bits/char); `parameters`
        in millions; with a text whose entropy is known also `floor` and `excess`, of `bpc` above
        it. Arrays `memory` and `bits`, by memory; `bpc` and `bpc_without` of every 1000 characters.

    Raises:
        ValueError: there is no memory to measure with.
    """
    if not memories:
        raise ValueError("bits_per_character: memories is empty; give at least one length.")
    model: TransformerXL = subject.model  # type: ignore[assignment]
    text = subject.corpus.split(split)
    of_memory = {}
    for memory in memories:
        batches = streams_in_order(text, streams, segment, subject.device)
        past, nats, real = None, [], []
        for batch in batches:
            with torch.no_grad():
                read = model(batch.tokens, past, keep=memory, furthest=furthest)
            past = read.memory
            nll = F.cross_entropy(read.logits.mT.double(), batch.targets, reduction="none")
            nats.append(nll)
            real.append(batch.targets != PAD)
        along = torch.cat(nats, dim=1)[torch.cat(real, dim=1)]
        of_memory[memory] = along.cpu().numpy() / math.log(2)
    bits = {memory: float(of_each.mean()) for memory, of_each in of_memory.items()}
    last = memories[-1]
    scalars = {
        "bpc": scalar(bits[last], "bits/char", n=len(text.tokens)),
        "parameters": scalar(count_parameters(model) / 1e6, "M"),
    }
    arrays: dict[str, list[Any]] = {
        "memory": list(memories),
        "bits": [round(value, 5) for value in bits.values()],
        "bpc": _blocks(of_memory[last]),
    }
    if 0 in bits and last:
        scalars["bpc_without"] = scalar(bits[0], "bits/char", n=len(text.tokens))
        arrays["bpc_without"] = _blocks(of_memory[0])
    floor = subject.corpus.manifest["statistics"].get("entropy_floor")
    if floor is not None:
        scalars["floor"] = scalar(floor / math.log(2), "bits/char")
        scalars["excess"] = scalar(bits[last] - floor / math.log(2), "bits/char")
    return Measured(scalars, arrays)


def _blocks(bits: np.ndarray) -> list[float]:
    """The mean of every block of characters; the last may be shorter."""
    return [round(float(one.mean()), 4) for one in np.split(bits, range(BLOCK, len(bits), BLOCK))]
