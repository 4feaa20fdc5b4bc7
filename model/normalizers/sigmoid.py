"""Sigmoid attention (Ramapuram et al. 2024): every key is weighed by itself."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Sigmoid(nn.Module):
    """Scores to weights 1 / (1 + e^-(s - log n)), n the number of keys that the query sees.

    The paper's bias is -log of the length of the sequence, so that a row of scores of 0 sums to
    about 1. Here n counts the keys that are not masked, as texts of a batch differ in length.
    """

    sum = "free"

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S) below 1."""
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        keys = (scores.detach() > -torch.inf).sum(dim=-1, keepdim=True).clamp(min=1)
        return torch.sigmoid(scores - keys.to(scores.dtype).log())
