"""Selective attention: a token hides earlier ones from all later ones (Leviathan et al. 2025)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Selective(nn.Module):
    """Scores to softmax(s - F), F_ij the sum of S_kj over the queries k before i.

    S = max(0, s of head 0) is what a query wants hidden; it is 0 for itself and the first token.
    Scores must be causal: otherwise a key is hidden by tokens that come before it. Where there are
    more keys than queries, these are the last. The mechanism has no parameters.
    """

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S), rows sum to 1."""
        queries, keys = scores.shape[-2:]
        may = torch.ones(queries, keys, dtype=scores.dtype, device=scores.device)
        may.diagonal(max(keys - queries, 0)).zero_()
        may[:, 0] = 0
        wanted = scores[:, 0].relu() * may
        hidden = F.pad(wanted[:, :-1], (0, 0, 1, 0)).cumsum(dim=-2)
        return (scores - hidden[:, None]).softmax(dim=-1)
