"""Stick-breaking attention (Tan et al. 2024): the nearest keys take their share first."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class StickBreaking(nn.Module):
    """Scores to weights b_j * prod over k > j of (1 - b_k), with b = sigmoid(s), for causal models.

    From the query back to the beginning each key takes a part of what the keys after it have left.
    What is left at the end attends to nothing. In the paper a query sees the keys before it alone;
    here also its own, as in the authors' code (shawntan/stickbreaking-attention, ea69b8d, `sb_ref`)
    where `attend_current` is set.
    """

    sum = "at most one"

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S)."""
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        left = F.logsigmoid(-scores)  # of a masked key: log 1
        later = F.pad(left[..., 1:], (0, 1)).flip(-1).cumsum(dim=-1).flip(-1)
        return (F.logsigmoid(scores) + later).exp()
