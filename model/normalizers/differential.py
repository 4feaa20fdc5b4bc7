"""Differential attention: the difference of two softmaxes (Ye et al. 2025)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

EPSILON = 1e-5
"""As in the authors' code."""


class Differential(nn.Module):
    """Scores of heads 2i and 2i + 1 to weights softmax(s^2i) - lambda softmax(s^(2i+1)) of both.

    The paper has one map for values that are twice as wide; here two heads share it, so that their
    values side by side are read as those are. Rows sum to 1 - lambda, and weights may be negative.

        lambda = exp(lambda_q1 . lambda_k1) - exp(lambda_q2 . lambda_k2) + lambda_init
        lambda_init = .8 - .6 exp(-.3 depth)

    Args:
        head_width: K.
        depth: of the layer, from 0; a `ContextTransformer` sets it.
    """

    sum = "free"
    sign = "any"

    def __init__(self, head_width: int, depth: int = 0) -> None:
        super().__init__()
        self.depth = depth
        self.queries = nn.Parameter(torch.empty(2, head_width))
        self.keys = nn.Parameter(torch.empty(2, head_width))
        self.gain = nn.Parameter(torch.ones(2, 1, head_width))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the vectors lambda_q and lambda_k, N(0, .1), anew."""
        for vectors in (self.queries, self.keys):
            nn.init.normal_(vectors, std=0.1)

    @property
    def lambda_init(self) -> float:
        """What lambda is about at the start."""
        return 0.8 - 0.6 * math.exp(-0.3 * self.depth)

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S)."""
        first, second = (self.queries * self.keys).sum(-1).exp()
        maps = scores.softmax(dim=-1).unflatten(1, (-1, 2))
        difference = maps[:, :, :1] - (first - second + self.lambda_init) * maps[:, :, 1:]
        return difference.expand_as(maps).flatten(1, 2)

    def after(self, context: Tensor) -> Tensor:
        """RMSNorm of what pairs of heads read, of (B, H, T, K) 2K each, times 1 - lambda_init."""
        pairs = context.unflatten(1, (-1, 2))
        mean = pairs.square().mean(dim=(2, 4), keepdim=True)
        return (pairs * (mean + EPSILON).rsqrt() * self.gain * (1 - self.lambda_init)).flatten(1, 2)
