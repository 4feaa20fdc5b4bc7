"""Selective attention: a token can hide an earlier one from all later ones (Leviathan et al. 2025)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Selective(nn.Module):
    """Scores to softmax(s - F), F_ij the sum of S_kj over the queries k before i.

    S = max(0, s of head 0), what a query wants hidden: not itself, nor the first token, so 0 there.
    It is for causal scores, where a key that a query hides is one that it sees. Where there are more
    keys than queries, these are the last. Nothing is learned beside what makes the scores.
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
