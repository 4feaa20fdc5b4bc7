"""Top-k attention: softmax over the k largest scores of each query (001, section 3.1)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from model.normalizers.sorting import ascending


class TopK(nn.Module):
    """Scores to weights of which at most k, and those that tie with the k-th, are not 0.

    Scores below t, the k-th largest of the row after all masks, count as masked. The gradient
    flows through the kept scores only, as t is a constant to it. A row with fewer than k unmasked
    keys keeps them all.

    Args:
        k: how many keys each query keeps.

    Raises:
        ValueError: k is not positive.
    """

    def __init__(self, k: int = 8) -> None:
        super().__init__()
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}.")
        self.k = k

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S), rows sum to 1."""
        if scores.shape[-1] <= self.k:
            return scores.softmax(dim=-1)
        return _TopK.apply(scores.to(torch.promote_types(scores.dtype, torch.float32)), self.k)


class _TopK(torch.autograd.Function):
    """The mapping and its derivative, which is that of softmax: a dropped key has weight 0."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, k: int) -> Tensor:
        lowest = torch.finfo(scores.dtype).min
        t = ascending(scores)[..., -k, None].clamp_min(lowest)
        # On a CPU arithmetic is 7 times as fast as comparing and filling.
        dropped = (t - scores).relu_().sign_()
        weights = dropped.mul_(lowest).add_(scores).softmax(dim=-1)
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (weights,) = ctx.saved_tensors
        change = gradient * weights
        return change.sub_(weights * change.sum(-1, keepdim=True)), None
