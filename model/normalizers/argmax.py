"""Discrete attention without noise: the argmax, with the softmax's gradient."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from model.normalizers.gumbel import one_hot_argmax


class Argmax(nn.Module):
    """Scores to the one-hot row of the largest score, in training and in evaluation.

    The gradient is that of the softmax of the scores, passed straight through (Bengio et al. 2013).
    It is the straight-through form of `Gumbel` at temperature 1 without its noise.
    """

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to one-hot weights (B, H, T, S)."""
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        hard = one_hot_argmax(scores)
        if not (self.training and torch.is_grad_enabled()):
            return hard
        soft = scores.softmax(dim=-1)
        return hard + soft - soft.detach()
