"""Forgetting attention: every token lets the earlier ones fade (Lin et al. 2025)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Forgetting(nn.Module):
    """Scores to softmax(s + d), d_ij the sum of log f_l over the tokens l from j + 1 to i.

    The forget gate of a head is f_l = sigmoid(w x_l + b) of the token's state (2503.02130; in the
    authors' code, zhixuan-lin/forgetting-transformer, 883f260, where `fgate_type` is `full`).
    Scores must be causal, and the queries the last of the tokens.

    Args:
        width: D.
        heads: H; each has D + 1 parameters. w starts as in the authors' code, N(0, .02), b at 0.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.gate = nn.Linear(width, heads)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw w."""
        nn.init.normal_(self.gate.weight, std=0.02)
        nn.init.zeros_(self.gate.bias)

    def before(self, scores: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
        """Lower scores (B, H, T, S) by what the tokens, states (B, S, D), let fade."""
        gates = self.gate(keys)
        # A sum of many bf16 would lose what is added last.
        gates = gates.to(torch.promote_types(gates.dtype, torch.float32))
        faded = F.logsigmoid(gates).transpose(1, 2).cumsum(dim=-1)
        return scores + (faded[..., -scores.shape[-2] :, None] - faded[..., None, :]).to(scores)

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S), rows sum to 1."""
        return scores.softmax(dim=-1)
