"""Scores that grow with the number of keys: ASEntmax and its ablation SSMax.

Every head learns how much, so that longer texts need not get more even weights. n is the number of
keys that a query sees. Both papers have log n; here it is log(n + 1), as in the code of Vasylenko
et al. (2025), whose i-th query (from 0) of a causal model has log(i + 2).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from model.normalizers.entmax15 import Entmax15

LOWEST = -1e30
"""In the place of the -inf of masked keys, to multiply with; no other score is near it."""


class ASEntmax(nn.Module):
    """Scores to the 1.5-entmax of (delta + beta (log n)^gamma) s (Vasylenko et al. 2025).

    Of the forms in the authors' code the one where a head learns beta and gamma as they are.

    Args:
        heads: H.
        delta: the same for all heads, not learned.
    """

    def __init__(self, heads: int, delta: float = 1.0) -> None:
        super().__init__()
        self.delta = delta
        self.beta = nn.Parameter(torch.empty(heads, 1, 1))
        self.gamma = nn.Parameter(torch.empty(heads, 1, 1))
        self.entmax = Entmax15()
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw beta, uniform on (.1, 1), and gamma, N(0, .1), anew."""
        nn.init.uniform_(self.beta, 0.1, 1.0)
        nn.init.normal_(self.gamma, std=0.1)

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S), rows sum to 1."""
        finite = _finite(scores)
        scale = self.delta + self.beta * _log_keys(finite) ** self.gamma
        return self.entmax(_Scaled.apply(scores, finite, scale))


class SSMax(nn.Module):
    """Scores to the softmax of b (log n) s, scalable softmax (Nakanishi 2025).

    Args:
        heads: H.
    """

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.b = nn.Parameter(torch.empty(heads, 1, 1))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw b, N(1, .01), anew; as in the code of Vasylenko et al. (2025)."""
        nn.init.normal_(self.b, 1.0, 0.01)

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S), rows sum to 1."""
        finite = _finite(scores)
        return _Scaled.apply(scores, finite, self.b * _log_keys(finite)).softmax(dim=-1)


def _finite(scores: Tensor) -> Tensor:
    """Scores in single precision at least with `LOWEST` at masked keys, without a gradient."""
    dtype = torch.promote_types(scores.dtype, torch.float32)
    return scores.detach().to(dtype).clamp(min=LOWEST)


def _log_keys(finite: Tensor) -> Tensor:
    """log(n + 1) of each row (..., S); (..., 1)."""
    hidden = (finite.sum(-1, keepdim=True) / LOWEST).round_()  # others are next to nothing
    return (finite.shape[-1] + 1 - hidden).log_()


class _Scaled(torch.autograd.Function):
    """Scores (B, H, T, S) times a scale (B, H, T, 1), whatever its sign; masked stay lowest."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, finite: Tensor, scale: Tensor) -> Tensor:
        ctx.save_for_backward(finite, scale)
        scaled = finite * scale
        if scale.device.type != "cpu" or scale.min() < 1e-3:
            scaled += scores - finite  # -inf where masked, else 0
        return scaled

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, Tensor]:
        finite, scale = ctx.saved_tensors
        return gradient * scale, None, (gradient * finite).sum(-1, keepdim=True)
