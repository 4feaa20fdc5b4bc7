"""Entmax with an alpha between 1 (softmax) and 2 (sparsemax), learned for every head.

p_i = r_i^(1 / a) with a = alpha - 1 and r_i = max(a s_i - tau, 0) (Peters et al. 2019); Correia et
al. (2019) let every head learn its own alpha = 1 + sigmoid(parameter), and derived the gradient.
The (1 / a)-norm of r, which must be 1, is convex and decreasing in tau, so Newton's steps from the
left never pass the root, and four or five of them replace fifty bisections.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from model.normalizers.entmax15 import STEPS, is_rounding, without_rounding

LEAST = 0.01
"""Least a and least 1 - a: nearer to 0 or 1 the powers lose precision, and for all that matters the
weights are those of the limit. The sigmoid ends there, so that no head gets stuck."""


class EntmaxAlpha(nn.Module):
    """Scores to weights, as sparse as each head has learned to make them.

    Rows are divided by their sum in the end. In single precision it is 1 to within 1e-4 before, at
    the least alpha, 1.01, where a power of 100 magnifies rounding.

    Args:
        heads: H; every head starts with alpha = 1.5.
    """

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.logit = nn.Parameter(torch.zeros(heads, 1, 1))

    @property
    def alpha(self) -> Tensor:
        """alpha (H,) of every head."""
        return 1 + self.less_one().flatten()

    def less_one(self) -> Tensor:
        """alpha - 1 of every head (H, 1, 1)."""
        return LEAST + (1 - 2 * LEAST) * self.logit.sigmoid()

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S), rows sum to 1."""
        dtype = torch.promote_types(scores.dtype, torch.float32)
        return _Entmax.apply(scores.to(dtype), self.less_one().to(dtype))


class _Entmax(torch.autograd.Function):
    """The mapping for given a = alpha - 1, and its derivatives in the scores and in a.

    With e = p^(2 - alpha) = r^(1 / a - 1): dp / ds = diag(e) - e e^T / sum(e) (Peters et al.
    2019), and with e' = e / sum(e): dp / da = (p - e') / a^2 - (p log p - e' sum(p log p)) / a
    (Correia et al. 2019).
    """

    @staticmethod
    def forward(ctx: Any, scores: Tensor, a: Tensor) -> Tensor:
        below = (scores - scores.amax(-1, keepdim=True)).mul_(a)
        tau = torch.full_like(below[..., :1], -1)
        power = 1 / a - 1
        r, e = torch.empty_like(below), torch.empty_like(below)
        for _ in range(STEPS):
            torch.sub(below, tau, out=r).relu_()
            # r^power, faster than by `pow`. The logarithm of 0 is slow on a CPU, and so are numbers
            # that are too small for their type; what is below 2^-72 is 0 to any sum.
            torch.clamp(r, min=1e-30, out=e).log2_().mul_(power).clamp_min_(-72).exp2_()
            e *= r.sign()
            r *= e
            total = r.sum(-1, keepdim=True)
            norm = total**a
            excess = norm - 1
            if is_rounding(excess):
                break
            tau += without_rounding(excess).mul_(total / norm).div_(e.sum(-1, keepdim=True))
        r /= total
        ctx.save_for_backward(r, e, a)
        return r

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        p, e, a = ctx.saved_tensors
        mean = (gradient * e).sum(-1, keepdim=True) / e.sum(-1, keepdim=True)
        centred = gradient - mean
        by_scores = centred * e
        centred *= p
        by_p = centred.sum(-1, keepdim=True)
        by_log = centred.mul_(p.clamp_min(1e-30).log_()).sum(-1, keepdim=True)
        return by_scores, ((by_p / a - by_log) / a).sum_to_size(a.shape)
