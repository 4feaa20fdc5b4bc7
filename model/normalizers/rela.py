"""Rectified linear attention (Zhang, Titov and Sennrich 2021)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

EPSILON = 1e-8
"""As in the authors' code."""


class ReLA(nn.Module):
    """Scores to weights max(s, 0), not normalised: a query may attend to nothing.

    What is read is normalised instead, over all heads together, by the paper's gated RMSNorm.

    Args:
        width: D. The gain starts at 1.
    """

    sum = "free"

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))
        self.gate = nn.Parameter(torch.empty(width))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the gate anew, uniform within (3 / D)^.5 as in the authors' code."""
        bound = (3 / len(self.gate)) ** 0.5
        nn.init.uniform_(self.gate, -bound, bound)

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S)."""
        return scores.relu()

    def after(self, context: Tensor) -> Tensor:
        """g * o * rsqrt(mean o^2 + epsilon) * sigmoid(a * o) of what is read, o (B, H, T, K).

        The mean is over the D = HK numbers of a query; g is the gain and a the gate.
        """
        gain, gate = (one.view(context.shape[1], 1, -1) for one in (self.gain, self.gate))
        mean = context.square().mean(dim=(1, 3), keepdim=True)
        return gain * context * (mean + EPSILON).rsqrt() * (gate * context).sigmoid()
