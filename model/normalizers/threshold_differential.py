"""Threshold differential attention: two heads whose weak scores are 0 (Huang et al. 2026)."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class ThresholdDifferential(nn.Module):
    """Scores of heads 2i and 2i + 1 to weights a^2i - lambda a^(2i+1) of both.

        a_ij = max(0, cos(q_i, k_j) - tau_i)^p,    tau_i = beta sqrt(2 log n_i / d)

    n_i is the number of keys that query i sees (2601.12145; in the authors' code,
    snap-research/TDA, ef4c3c7, `differential_threshold_rela_triton`, queries are causal, so that
    n_i = i + 1). Of random keys less than one on average is beyond tau: a query may attend to
    nothing.

    As there, lambda is clamped to [0, 1] and beta is not learned; lambda is one number of a layer.
    Two heads share the map, as in `Differential`. Scores have to be sqrt(d) cos(q, k), which those
    of a `NormedTransformer` and of a `NormedCopyingModel` are.

    Args:
        head_width: d, how many numbers a query and a key have.
        beta: of the threshold.
        power: p.
    """

    sum = "free"
    sign = "any"

    def __init__(self, head_width: int, beta: float = 1.0, power: float = 2.0) -> None:
        super().__init__()
        self.head_width, self.beta, self.power = head_width, beta, power
        self.factor = nn.Parameter(torch.tensor(0.5))

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S)."""
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        keys = (scores.detach() > -torch.inf).sum(dim=-1, keepdim=True).clamp(min=1)
        threshold = self.beta * (2 * keys.to(scores.dtype).log()).sqrt()
        beyond = (scores - threshold).relu() / self.head_width**0.5
        views = beyond.pow(self.power).unflatten(1, (-1, 2))
        difference = views[:, :, :1] - self.factor.clamp(0, 1) * views[:, :, 1:]
        return difference.expand_as(views).flatten(1, 2)
