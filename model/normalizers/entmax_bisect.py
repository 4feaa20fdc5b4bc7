"""Entmax with one fixed alpha by bisection, as it was compared in zhao2019 table 4.

p_i = r_i^(1 / a) with a = alpha - 1 and r_i = max(a s_i - tau, 0) (Peters et al. 2019): the sum of
the p_i falls with tau, so tau is found by halving an interval. It is the slow way of the published
code; `Entmax15` and `EntmaxAlpha` need four or five of Newton's steps.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

LOWEST, HIGHEST = 1.01, 2.0
"""Between them weights in single precision are within 1e-5. Nearer to 1 the power 1 / a magnifies
rounding, and above 2 keys at the threshold have a slope without bound."""


class EntmaxBisect(nn.Module):
    """Scores to weights by bisection.

    Args:
        alpha: from 1.01, which is nearly softmax, to 2, which is sparsemax.
        steps: halvings of the interval, at first 1 - S^-a long for S keys.

    Raises:
        ValueError: alpha is out of its range, or there is no step.
    """

    def __init__(self, alpha: float = 1.5, steps: int = 50) -> None:
        super().__init__()
        if not LOWEST <= alpha <= HIGHEST:
            raise ValueError(
                f"alpha must be from {LOWEST} to {HIGHEST:g}, not {alpha}; for 1 take Softmax."
            )
        if steps < 1:
            raise ValueError(f"steps must be at least 1, not {steps}.")
        self.alpha, self.steps = alpha, steps

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S), rows sum to 1."""
        dtype = torch.promote_types(scores.dtype, torch.float32)
        return _EntmaxBisect.apply(scores.to(dtype), self.alpha - 1, self.steps)


class _EntmaxBisect(torch.autograd.Function):
    """The mapping and its derivative diag(e) - e e^T / sum(e), e = p^(2 - alpha)."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, a: float, steps: int) -> Tensor:
        below = a * (scores - scores.amax(-1, keepdim=True))
        # The largest r alone makes the sum at least 1 at tau = -1; equal ones share it at the end.
        tau = torch.full_like(below[..., :1], -1)
        width = 1 - scores.shape[-1] ** -a
        for _ in range(steps):
            width /= 2
            p = (below - tau - width).clamp_(min=0).pow_(1 / a)
            tau = torch.where(p.sum(-1, keepdim=True) >= 1, tau + width, tau)
        p = (below - tau).clamp_(min=0).pow_(1 / a)
        p /= p.sum(-1, keepdim=True)
        ctx.save_for_backward(p)
        ctx.a = a
        return p

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (p,) = ctx.saved_tensors
        e = torch.where(p > 0, p.clamp(min=torch.finfo(p.dtype).tiny).pow(1 - ctx.a), 0)
        change = gradient * e
        return change - e * (change.sum(-1, keepdim=True) / e.sum(-1, keepdim=True)), None, None
