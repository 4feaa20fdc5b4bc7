"""The transformer for mechanisms with a step after reading, such as a norm of what is read.

C <- after(normalizer(Q K^T / sqrt(d_k)) V);   h <- h + C W^(O);   h <- h + FFN(h)
"""

from __future__ import annotations

import copy
from typing import Any

from torch import Tensor, nn

from model.architectures.transformer import Transformer, TransformerLayer
from model.layers.attention import merge_heads, split_heads


class ContextLayer(TransformerLayer):
    """One layer; its mechanism's `after` maps what every head reads (B, H, T, K) to as much."""

    def forward(
        self, h: Tensor, mask: Tensor, weights: Tensor | None, need_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """h^(l-1) (B, T, D) to h^(l) and the weights (B, H, T, T); given weights are used as is."""
        if not hasattr(self.normalizer, "after"):
            return super().forward(h, mask, weights, need_weights)
        x = self.attend.enter(h)
        if weights is None:
            weights = self.normalizer(self.routing(x, x, mask))
        context = weights @ split_heads(self.values.value(x), self.values.heads)
        read = merge_heads(self.normalizer.after(context))  # type: ignore[operator]
        h = self.attend.leave(h, self.values.output(read))
        return self.transform.leave(h, self.feed_forward(self.transform.enter(h))), weights


class ContextTransformer(Transformer):
    """A `Transformer` that reads the whole contract of a mechanism (docs/own_mechanism.md).

    It calls the mechanism's `after`, tells it its layer, from 0, where it has the attribute
    `depth`, and lets each layer's copy draw its own start where it has `reset_parameters`.
    For a mechanism without these it is the `Transformer`, with the same initial values.
    """

    reads_after = True

    def __init__(
        self,
        vocabulary_size: int,
        width: int,
        hidden: int,
        layers: int,
        heads: int,
        normalizer: nn.Module,
        norm: str = "pre",
        dropout: float = 0.0,
        **more: Any,
    ) -> None:
        super().__init__(
            vocabulary_size, width, hidden, 0, heads, normalizer, norm, dropout=dropout, **more
        )
        for depth in range(layers):
            own = copy.deepcopy(normalizer)
            if hasattr(own, "depth"):
                own.depth = depth  # type: ignore[assignment]
            if depth and hasattr(own, "reset_parameters"):
                own.reset_parameters()  # type: ignore[operator]
            self.layers.append(ContextLayer(width, hidden, heads, own, norm, dropout))
