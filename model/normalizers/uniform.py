"""Uniform attention: every key has the same weight (snell2021 section 3.2)."""

from __future__ import annotations

from torch import Tensor, nn


class Uniform(nn.Module):
    """Scores to equal weights; what the scores are makes no difference and gets no gradient."""

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S), rows sum to 1."""
        open_to = (scores > float("-inf")).to(scores.dtype)
        return open_to / open_to.sum(dim=-1, keepdim=True)
