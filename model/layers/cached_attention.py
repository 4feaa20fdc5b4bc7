"""Attention of an encoder-decoder, given its queries, keys and values: weights, reading, cache.

Dimensions: B sentences, T queries, S keys, G beams of a sentence, H heads, K head width, D width.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from model.kernels.dropout import Dropout
from model.normalizers.softmax import Softmax


class Cache:
    """What self-attention of one layer has read so far: a slot for each step and beam.

    The slots are never moved when beams are: the search masks those that are no ancestors.

    Args:
        slots: room for so many.
    """

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.filled = 0
        self.parts: list[Tensor] = []

    def append(self, *parts: Tensor) -> list[Tensor]:
        """Add parts (B, H, G, K) of a step; returns those of every step so far (B, H, t G, K)."""
        if not self.parts:
            self.parts = [p.new_empty((*p.shape[:2], self.slots, p.shape[3])) for p in parts]
        start, self.filled = self.filled, self.filled + parts[0].shape[2]
        for kept, part in zip(self.parts, parts, strict=True):
            kept[:, :, start : self.filled] = part
        return [kept[:, :, : self.filled] for kept in self.parts]

    def select(self, sentences: Tensor) -> None:
        """Keep some of the sentences, by number."""
        old, self.parts = self.parts, []
        for part in old:
            kept = part.new_empty((len(sentences), *part.shape[1:]))
            kept[:, :, : self.filled] = part[sentences, :, : self.filled]
            self.parts.append(kept)


class Attend(nn.Module):
    """Weights from queries and keys, by a normalizer, and what they read of the values.

    Of one head this is zhao2019 eq. 4, 7.

    Args:
        normalizer: scores to weights; copied.
        dropout: probability on the weights that are read with.
    """

    def __init__(self, normalizer: nn.Module, dropout: float) -> None:
        super().__init__()
        self.normalizer = copy.deepcopy(normalizer)
        self.dropout = Dropout(dropout)

    def forward(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor, weights: Tensor | None, need: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Read.

        Args:
            q: (B, H, T, K).
            k: (B, H, S, K).
            v: (B, H, S, K).
            mask: additive, broadcasts to (B, H, T, S).
            weights: (B, H, T, S) to use as they are.
            need: whether the weights are wanted; soft attention on a GPU is faster without.

        Returns:
            Context (B, H, T, K) and the weights, None if the fused kernel was used.
        """
        if weights is None:
            if q.is_cuda and isinstance(self.normalizer, Softmax) and not need:
                p = self.dropout.p if self.training else 0.0
                fused = nn.functional.scaled_dot_product_attention
                return fused(q, k, v, attn_mask=mask.to(q.dtype), dropout_p=p), None
            weights = self.normalizer(scores(q, k, mask))
        return product(self.dropout(weights), v), weights


def scores(q: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    """Q K^T / sqrt(K) + mask, (B, H, T, S), of q (B, H, T, K) and k (B, H, S, K).

    P of zhao2019 eq. 1.
    """
    return torch.add(mask, product(q, k.transpose(-2, -1)), alpha=1 / math.sqrt(q.shape[-1]))


def product(a: Tensor, b: Tensor) -> Tensor:
    """a @ b, of many small matrices.

    On a CPU oneDNN copies those that stand apart, as slices of a cache do, which takes several
    times as long as the product, and for a single row it takes twice as long; MKL does neither.
    """
    apart = not (b.is_contiguous() or b.mT.is_contiguous())
    if b.is_cpu and (apart or a.shape[-2] == 1):
        with _without_onednn():
            return a @ b
    return a @ b


def projection(width: int, parts: int = 1, gain: float = 1.0) -> nn.Linear:
    """A linear layer D -> parts D, each part of its own drawn as Glorot and Bengio (2010) do."""
    linear = nn.Linear(width, parts * width)
    for part in linear.weight.chunk(parts):
        nn.init.xavier_uniform_(part, gain)
    nn.init.zeros_(linear.bias)
    return linear


QKV_GAIN = 2**-0.5
"""Of queries, keys and values, as fairseq draws them."""


@contextmanager
def _without_onednn() -> Iterator[None]:
    # `torch.backends.mkldnn.flags` sets its other flags too, and warns of one of them.
    before = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(before)
