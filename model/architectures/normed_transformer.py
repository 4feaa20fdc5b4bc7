"""The transformer for mechanisms whose threshold is of cosines.

A <- normalizer(before(sqrt(d_k) cos(Q, K), h, h));   the rest is that of `StateTransformer`
"""

from __future__ import annotations

from typing import Any

from model.architectures.state_transformer import StateTransformer
from model.layers.qk_norm import NormedRouting


class NormedTransformer(StateTransformer):
    """A `StateTransformer` with QK norm; it has the same parameters and initial values."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        for layer in self.layers:
            layer.routing = NormedRouting(layer.routing)  # type: ignore[arg-type]
