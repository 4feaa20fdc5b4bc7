"""1.5-entmax, half-way between softmax and sparsemax (Peters et al. 2019)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

STEPS = 16
"""Most steps of Newton's method. A row takes no more of them when its norm is 1 but for rounding,
mostly after four or five. A CPU stops when no row does; a GPU would have to wait for each check."""


class Entmax15(nn.Module):
    """Scores to weights p_i = r_i^2, r_i = max(s_i / 2 - tau, 0), with tau such that they sum to 1.

    The norm of r, which must be 1, is convex and decreasing in tau, so Newton's steps from the
    left never pass the root; where the r_i > 0 are equal it is straight, and otherwise nearly so.
    In the end r is divided by its norm. A row's weights depend on no other row.
    """

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S), rows sum to 1."""
        return _Entmax15.apply(scores.to(torch.promote_types(scores.dtype, torch.float32)))


class _Entmax15(torch.autograd.Function):
    """The mapping and its derivative diag(r) - r r^T / sum(r)."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor) -> Tensor:
        below = (scores - scores.amax(-1, keepdim=True)).div_(2)
        tau = torch.full_like(below[..., :1], -1)
        r = torch.empty_like(below)
        for _ in range(STEPS):
            torch.sub(below, tau, out=r).relu_()
            norm = torch.linalg.vector_norm(r, dim=-1, keepdim=True)
            excess = norm - 1
            if is_rounding(excess):
                break
            tau += without_rounding(excess).mul_(norm).div_(r.sum(-1, keepdim=True))
        r /= norm
        ctx.save_for_backward(r)
        return r * r

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        (r,) = ctx.saved_tensors
        change = gradient * r
        mean = change.sum(-1, keepdim=True) / r.sum(-1, keepdim=True)
        return change.sub_(r * mean)


def is_rounding(excess: Tensor) -> bool:
    """Whether norms exceed 1 by rounding alone; on a GPU this is not asked, and False."""
    return excess.device.type == "cpu" and bool(excess.max() <= 8 * torch.finfo(excess.dtype).eps)


def without_rounding(excess: Tensor) -> Tensor:
    """The same, 0 where it is rounding alone: such a row takes no step that another one needs."""
    return excess.masked_fill(excess <= 8 * torch.finfo(excess.dtype).eps, 0)
