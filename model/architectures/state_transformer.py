"""The transformer for mechanisms with steps that read the states of their layer.

A <- normalizer(before(Q K^T / sqrt(d_k), h, h));   C <- after(A V, h);
h <- h + C W^(O);   h <- h + FFN(h)
"""

from __future__ import annotations

import copy
from typing import Any

from torch import Tensor, nn

from model.architectures.context_transformer import ContextLayer, ContextTransformer
from model.layers.attention import merge_heads, split_heads
from model.layers.steps import context_after, scores_before


class StateLayer(ContextLayer):
    """One layer; its mechanism's `before` and `after` get what queries and keys are made of."""

    def forward(
        self, h: Tensor, mask: Tensor, weights: Tensor | None, need_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """h^(l-1) (B, T, D) to h^(l) and the weights (B, H, T, T); given weights are used as is."""
        x = self.attend.enter(h)
        if weights is None:
            scores = self.routing(x, x, mask)
            weights = self.normalizer(scores_before(self.normalizer, scores, x, x))
        context = weights @ split_heads(self.values.value(x), self.values.heads)
        read = merge_heads(context_after(self.normalizer, context, x))
        h = self.attend.leave(h, self.values.output(read))
        return self.transform.leave(h, self.feed_forward(self.transform.enter(h))), weights


class StateTransformer(ContextTransformer):
    """A `ContextTransformer` whose mechanism may have steps that take states.

    For a mechanism without them it computes the same, from the same initial values.
    """

    reads_states = True

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
            vocabulary_size, width, hidden, 0, heads, normalizer, norm, dropout, **more
        )
        for depth in range(layers):
            own = copy.deepcopy(normalizer)
            if hasattr(own, "depth"):
                own.depth = depth  # type: ignore[assignment]
            if depth and hasattr(own, "reset_parameters"):
                own.reset_parameters()  # type: ignore[operator]
            self.layers.append(StateLayer(width, hidden, heads, own, norm, dropout))
