"""The transformer with one stream, soft or discrete
(discrete2020 section 3, 4; kinley2020 section 3.2, 4.1).

    A <- normalizer(Q K^T / sqrt(d_k));   h <- h + A V;   h <- h + FFN(h)

The papers' equations leave out layer norm, dropout, most residual connections and heads; here they
are as in Vaswani et al. (2017), with layer norm before or after each sub-layer.
"""

from __future__ import annotations

import copy
from typing import NamedTuple

from torch import Tensor, nn

from model.layers.attention import Routing, Values
from model.layers.blocks import Embedding, FeedForward, Residual
from model.normalizers.softmax import Softmax


class Encoded(NamedTuple):
    """What a stack of layers returns.

    Attributes:
        state: final states h^(L) (B, T, D).
        weights: for each layer the weights (B, H, T, T) that the output was computed with; empty
            where nobody asked for them.
    """

    state: Tensor
    weights: list[Tensor]


class TransformerLayer(nn.Module):
    """One layer of a single stream: attention, then feed-forward network (kinley2020 eq. 3.1)."""

    def __init__(
        self, width: int, hidden: int, heads: int, normalizer: nn.Module, norm: str, dropout: float
    ) -> None:
        super().__init__()
        self.routing = Routing(width, heads)
        self.normalizer = normalizer
        self.values = Values(width, heads)
        self.attend = Residual(width, norm, dropout)
        self.feed_forward = FeedForward(width, hidden, dropout)
        self.transform = Residual(width, norm, dropout)

    def forward(
        self, h: Tensor, mask: Tensor, weights: Tensor | None, need_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """h^(l-1) (B, T, D) to h^(l) and the weights (B, H, T, T); given weights are used as is."""
        x = self.attend.enter(h)
        fused = x.is_cuda and isinstance(self.normalizer, Softmax) and not need_weights
        if weights is None and fused:
            h = self.attend.leave(h, self.routing.read_fused(x, x, mask, self.values))
        else:
            if weights is None:
                weights = self.normalizer(self.routing(x, x, mask))
            h = self.attend.leave(h, self.values(x, weights))
        return self.transform.leave(h, self.feed_forward(self.transform.enter(h))), weights


class Transformer(nn.Module):
    """A stack of single-stream layers over embedded tokens.

    Args:
        vocabulary_size: V.
        width: d_model.
        hidden: d_ff.
        layers: L.
        heads: h.
        normalizer: scores to weights; every layer gets a copy.
        norm: `pre` or `post`.
        positions: `sinusoidal` or `learned`.
        max_length: longest input.
        dropout: probability, on embeddings, sub-layer outputs and the hidden layer of the FFN.
    """

    def __init__(
        self,
        vocabulary_size: int,
        width: int,
        hidden: int,
        layers: int,
        heads: int,
        normalizer: nn.Module,
        norm: str = "pre",
        positions: str = "sinusoidal",
        max_length: int = 512,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.width = width
        self.embedding = Embedding(vocabulary_size, width, positions, max_length, dropout)
        self.layers = nn.ModuleList(
            TransformerLayer(width, hidden, heads, copy.deepcopy(normalizer), norm, dropout)
            for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width) if norm == "pre" else nn.Identity()

    def forward(
        self,
        tokens: Tensor,
        mask: Tensor,
        h0: Tensor | None = None,
        routing: list[Tensor] | None = None,
        need_weights: bool = True,
    ) -> Encoded:
        """Encode tokens.

        Args:
            tokens: (B, T).
            mask: additive, broadcasts to (B, H, T, T).
            h0: embedded tokens (B, T, D) to start from; the tokens' own embedding if not given.
            routing: weights (B, H, T, T) of every layer to use instead of computing them.
            need_weights: whether the weights are wanted; soft attention is faster on GPUs without.
        """
        h = self.embedding(tokens) if h0 is None else h0
        used = []
        for index, layer in enumerate(self.layers):
            fixed = None if routing is None else routing[index]
            h, weights = layer(h, mask, fixed, need_weights)
            if weights is not None:
                used.append(weights)
        return Encoded(self.norm(h), used)
