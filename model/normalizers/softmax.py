"""Soft attention (Vaswani et al. 2017, equation 1)."""

from __future__ import annotations

from torch import Tensor, nn


class Softmax(nn.Module):
    """Scores to weights by the softmax over the keys."""

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S), rows sum to 1."""
        return scores.softmax(dim=-1)
