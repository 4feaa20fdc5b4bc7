"""Gated attention: the query's state closes parts of what is read (Qiu et al. 2025)."""

from __future__ import annotations

from torch import Tensor, nn


class Gated(nn.Module):
    """Softmax, and what is read times sigmoid(x W), each number of each head by a gate of its own.

    Y' = Y * sigmoid(X W) of 2505.06708, with X the states of the queries after the layer's norm; in
    the authors' code (qiuzh20/gated_attention, 49645df, `modeling_qwen3.py`) where
    `elementwise_attn_output_gate` is set.

    Args:
        width: D. W has D^2 parameters and starts by Xavier's distribution with the gain 2^-.5, as
            the layer's other projections do.
        heads: H.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.gate = nn.Linear(width, width, bias=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw W."""
        nn.init.xavier_uniform_(self.gate.weight, gain=2**-0.5)

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S), rows sum to 1."""
        return scores.softmax(dim=-1)

    def after(self, context: Tensor, states: Tensor) -> Tensor:
        """Close parts of what is read (B, H, T, K) by the queries' states (B, T, D)."""
        gates = self.gate(states).sigmoid().unflatten(-1, (self.heads, -1))
        return context * gates.transpose(1, 2)
