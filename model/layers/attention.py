"""Multi-head attention in its two halves: routing (who looks where) and values (what is read).

The two-stream model takes its routing from one stream and its values from another
(discrete2020 section 5), so the halves are modules of their own; a single stream simply uses both
on the same input.
Dimensions: B batch, T queries, S keys, H heads, D model width, K = D / H head width.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Routing(nn.Module):
    """Attention scores Q K^T / sqrt(d_k) from W^(Q) and W^(K).

    Args:
        width: D.
        heads: H.

    Raises:
        ValueError: the width is not a multiple of the number of heads.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"width {width} is not a multiple of {heads} heads.")
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        for projection in (self.query, self.key):
            nn.init.xavier_uniform_(projection.weight, gain=2**-0.5)
            nn.init.zeros_(projection.bias)

    def forward(self, queries: Tensor, keys: Tensor, mask: Tensor) -> Tensor:
        """Score every key for every query.

        Args:
            queries: (B, T, D).
            keys: (B, S, D).
            mask: 0 where a query may look, -inf elsewhere; broadcasts to (B, H, T, S).

        Returns:
            Scores (B, H, T, S), -inf where masked.
        """
        q, k = split_heads(self.query(queries), self.heads), split_heads(self.key(keys), self.heads)
        return (q * (1 / math.sqrt(q.shape[-1]))) @ k.transpose(-2, -1) + mask

    def read_fused(self, queries: Tensor, keys: Tensor, mask: Tensor, values: Values) -> Tensor:
        """Softmax attention by the device's fused kernel, which never forms the weights."""
        q, k = split_heads(self.query(queries), self.heads), split_heads(self.key(keys), self.heads)
        v = split_heads(values.value(keys), self.heads)
        context = F.scaled_dot_product_attention(q, k, v, attn_mask=mask.to(q.dtype))
        return values.output(merge_heads(context))


class Values(nn.Module):
    """What attention reads: W^(V) before the weights and the output projection after them.

    W^(V) starts as a part of a fused Q, K, V does in fairseq, by Xavier's distribution with the
    gain 2^-.5, in the model stream too, where the authors' code has a matrix of its own and the
    gain 1.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)
        nn.init.xavier_uniform_(self.value.weight, gain=2**-0.5)
        nn.init.xavier_uniform_(self.output.weight)
        for projection in (self.value, self.output):
            nn.init.zeros_(projection.bias)

    def forward(self, states: Tensor, weights: Tensor) -> Tensor:
        """Read the states (B, S, D) with the weights (B, H, T, S); returns (B, T, D)."""
        return self.output(merge_heads(weights @ split_heads(self.value(states), self.heads)))


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(B, T, D) to (B, H, T, K)."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """(B, H, T, K) to (B, T, D)."""
    return x.transpose(1, 2).flatten(2)


def padding_mask(real: Tensor) -> Tensor:
    """Additive mask (B, 1, 1, S) that hides padding keys; `real` (B, S) is true at real tokens."""
    return torch.zeros(real.shape, device=real.device).masked_fill(~real, -math.inf)[:, None, None]


def causal_mask(length: int, device: torch.device) -> Tensor:
    """Additive mask (1, 1, T, T) that hides the keys after each query."""
    return torch.full((length, length), -math.inf, device=device).triu(1)[None, None]
