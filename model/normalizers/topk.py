"""Top-k attention: softmax over the k largest scores of each query (zhao2019 section 2).

`TopK` and `TopKOfMany` give the same weights; their gradients are rounded differently.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from model.normalizers.sparsemax import ascending

CHUNK = 256
"""Keys that numpy sorts at once: so many it sorts in vector registers."""
STEEP = 2.0**126


class TopK(nn.Module):
    """Scores to weights of which at most k, and those that tie with the k-th, are not 0.

    Scores below t, the k-th largest of the row after all masks, count as masked (zhao2019 eq. 2,
    3). The gradient flows through the kept scores only, as t is a constant to it. A row with fewer
    than k unmasked keys keeps them all. Weights are in single precision at least, whatever the
    number of keys.

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
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        return scores.softmax(dim=-1) if scores.shape[-1] <= self.k else self.kept(scores)

    def kept(self, scores: Tensor) -> Tensor:
        """Weights of rows with more than k keys."""
        return _TopK.apply(scores, self.k)


class TopKOfMany(TopK):
    """`TopK` where a query has hundreds of keys (zhao2019 table 3): fewer passes over them.

    Args:
        k: see `TopK`.
    """

    def kept(self, scores: Tensor) -> Tensor:
        """Weights of rows with more than k keys."""
        with torch.no_grad():
            t = kth_largest(scores, self.k).clamp_min_(torch.finfo(scores.dtype).min)
            # 0 for kept keys; for others, scores that are less, a fall that nothing survives.
            below = (scores - t).clamp_max_(0)
        return torch.add(scores, below, alpha=STEEP).softmax(dim=-1)


def kth_largest(scores: Tensor, k: int) -> Tensor:
    """The k-th largest of each row of scores (..., S); (..., 1)."""
    if scores.device.type != "cpu":
        return scores.topk(k, dim=-1).values[..., -1:]
    values = scores.numpy()
    if values.shape[-1] > CHUNK:
        # What is among the k largest of the row is among those of its part.
        parts = np.split(values, range(CHUNK, values.shape[-1], CHUNK), axis=-1)
        values = np.concatenate([np.sort(part, axis=-1)[..., -k:] for part in parts], axis=-1)
    return torch.from_numpy(np.sort(values, axis=-1)[..., -k, None])


class _TopK(torch.autograd.Function):
    """The mapping and its derivative, that of softmax: a dropped key weighs 0 (zhao2019 eq. 15)."""

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
