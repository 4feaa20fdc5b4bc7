"""Scores of queries and keys that have one length (QK norm)."""

from __future__ import annotations

import math

from torch import Tensor, nn
from torch.nn import functional as F

from model.layers.attention import Routing, split_heads


class NormedRouting(nn.Module):
    """Attention scores sqrt(d_k) cos(q, k) with the projections of a `Routing`."""

    def __init__(self, routing: Routing) -> None:
        super().__init__()
        self.heads, self.query, self.key = routing.heads, routing.query, routing.key

    def forward(self, queries: Tensor, keys: Tensor, mask: Tensor) -> Tensor:
        """Scores (B, H, T, S) of states (B, T, D) and (B, S, D), as of a `Routing`."""
        q, k = split_heads(self.query(queries), self.heads), split_heads(self.key(keys), self.heads)
        return cosines(q, k) + mask


def cosines(q: Tensor, k: Tensor) -> Tensor:
    """Scores sqrt(K) cos(q, k) of queries (.., T, K) and keys (.., S, K)."""
    q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
    return (q * math.sqrt(q.shape[-1])) @ k.transpose(-2, -1)
