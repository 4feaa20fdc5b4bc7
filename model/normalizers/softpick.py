"""Softpick, the rectified softmax (Zuhri, Fuadi and Aji 2025)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from model.normalizers.length_scaled import LOWEST

EPSILON = 1e-8
"""As in the authors' code."""
LEAST = -80.0
"""What is below e^-80 of the largest term counts as 0, as a CPU is slow at smaller numbers."""


class Softpick(nn.Module):
    """Scores to weights max(e^s - 1, 0) / (sum |e^s - 1| + epsilon).

    Rows sum to 1 at most; a query without a positive score attends to nothing. All terms but
    epsilon are taken times e^-m with m = max(0, the row's largest score). The authors' code does
    so too, but for the 0, which changes no weight. m is a constant to the gradient.
    """

    sum = "at most one"

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S)."""
        return _Softpick.apply(scores.to(torch.promote_types(scores.dtype, torch.float32)))


class _Softpick(torch.autograd.Function):
    """The mapping and its derivative.

    With r = e^s - 1 and d = sum |r| + epsilon, dp_i / ds_j is
    e^s_j ([i = j and r_j > 0] - p_i sign(r_j)) / d.
    """

    @staticmethod
    def forward(ctx: Any, scores: Tensor) -> Tensor:
        largest = scores.amax(-1, keepdim=True).clamp_min_(0)
        raised = (scores - largest).clamp_(min=LEAST).exp_()
        r = raised - largest.neg_().clamp_(min=LEAST).exp_()
        # 1 for masked keys and 0 for others: arithmetic is fast on a CPU.
        hidden = scores.clamp(min=LOWEST).div_(LOWEST)
        r.addcmul_(r, hidden, value=-1)
        total = r.abs().sum(-1, keepdim=True).add_(EPSILON)
        weights = r.relu().div_(total)
        ctx.save_for_backward(raised.div_(total), r.sign_(), weights)
        return weights

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        slope, sign, weights = ctx.saved_tensors
        mean = (gradient * weights).sum(-1, keepdim=True)
        return sign.relu().mul_(gradient).addcmul_(sign, mean, value=-1).mul_(slope)
