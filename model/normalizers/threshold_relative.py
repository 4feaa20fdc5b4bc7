"""Threshold relative attention: distances count the keys alone that matter (Opper et al. 2025)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class ThresholdRelative(nn.Module):
    """Softmax of s_ij + d_ij log sigmoid(w x_i + b) over the keys with s_ij > 0.

    d_ij is how many of these keys there are from j to the query, and x_i the state of the query
    (2503.23174; in the authors' code, abhishekpanigrahi1996/MOSS, 17086f9, `TRA` of
    `TRA_FFL.ipynb`). A query without such a key attends to nothing. Scores have to be causal. Those
    of the authors are sqrt(d) cos(q, k), as in a `NormedTransformer`, but for the 1e-6 that their
    norm adds to a mean square.

    Args:
        width: D.
        heads: H; each has D + 1 parameters, which start as those of `nn.Linear`.
    """

    sum = "at most one"

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.distance = nn.Linear(width, heads)

    def reset_parameters(self) -> None:
        """Draw w and b."""
        self.distance.reset_parameters()

    def before(self, scores: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
        """Hide keys of scores (B, H, T, S) at most 0, and lower others by states (B, T, D)."""
        kept = scores > 0
        distance = kept.to(scores.dtype).flip(-1).cumsum(dim=-1).flip(-1)
        slope = F.logsigmoid(self.distance(queries)).transpose(1, 2)[..., None]
        return (scores + distance * slope.to(scores)).masked_fill(~kept, -torch.inf)

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights; rows without keys are 0."""
        hidden = scores == -torch.inf
        empty = hidden.all(dim=-1, keepdim=True)
        return scores.masked_fill(empty, 0).softmax(dim=-1).masked_fill(hidden, 0)
