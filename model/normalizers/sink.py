"""Softmax with one more term below the fraction, which takes weight from all keys."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Sink(nn.Module):
    """Scores to weights e^s / (e^b + sum e^s).

    With `heads` every head learns its b, the sink's logit, as in gpt-oss (OpenAI 2025). Without, b
    is 0: softmax-1 (Miller 2023, "Attention is off by one"). A query whose scores all lie far below
    b attends to next to nothing.

    Args:
        heads: H, or None for b = 0.
    """

    sum = "at most one"

    def __init__(self, heads: int | None = None) -> None:
        super().__init__()
        self.logit = None if heads is None else nn.Parameter(torch.zeros(heads, 1, 1))

    def reset_parameters(self) -> None:
        """Let every head begin as softmax-1."""
        if self.logit is not None:
            nn.init.zeros_(self.logit)

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S)."""
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        logit = scores.new_zeros(1) if self.logit is None else self.logit.to(scores.dtype)
        sink = logit.expand(*scores.shape[:-1], 1)
        return torch.cat([scores, sink], dim=-1).softmax(dim=-1)[..., :-1]
