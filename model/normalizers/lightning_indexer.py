"""Sparse attention of DeepSeek-V3.2: an indexer chooses the keys, softmax weighs them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class LightningIndexer(nn.Module):
    """Softmax over the k keys with the largest index I_ts = sum_j w_tj ReLU(q_tj . k_s).

    q and w are of the query's state and k of the key's, apart from what makes scores; all heads
    of a query attend to the same keys (2512.02556, `eq. 1` and `eq. 2`). As in the authors' code
    (deepseek-ai/DeepSeek-V3.2-Exp, 2305c7e, `Indexer`) k has a layer norm, and w is divided by the
    roots of the number and of the size of the indexer's heads; it has no positions of its own here.

    The indexer learns from `eq. 4` alone, KL(p_t || softmax(I_t)) over the chosen keys, p the mean
    weights of all heads, and nothing else learns from it: no states get a gradient. The paper's
    first stage, the same over all keys of a trained model, is left out.

    Args:
        width: D.
        k: how many keys a query keeps; the first of those that tie.
        index_heads: how many heads the indexer has.
        index_width: how many numbers each of them has.
    """

    def __init__(self, width: int, k: int = 8, index_heads: int = 4, index_width: int = 8) -> None:
        super().__init__()
        self.k, self.heads = k, index_heads
        self.query = nn.Linear(width, index_heads * index_width, bias=False)
        self.key = nn.Linear(width, index_width, bias=False)
        self.norm = nn.LayerNorm(index_width)
        self.weigh = nn.Linear(width, index_heads, bias=False)

    def reset_parameters(self) -> None:
        """Draw the indexer."""
        for part in (self.query, self.key, self.norm, self.weigh):
            part.reset_parameters()

    def index(self, queries: Tensor, keys: Tensor) -> Tensor:
        """I (B, T, S) of states (B, T, D) and (B, S, D)."""
        q = self.query(queries).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        k = self.norm(self.key(keys))
        w = self.weigh(queries).transpose(1, 2)[..., None] * (self.heads * k.shape[-1]) ** -0.5
        found: Tensor = (w * (q @ k[:, None].transpose(-2, -1)).relu()).sum(dim=1)
        return found

    def before(self, scores: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
        """Hide all but k keys of scores (B, H, T, S), by states (B, T, D) and (B, S, D)."""
        seen = (scores > -torch.inf).any(dim=1)
        index = self.index(queries.detach(), keys.detach()).masked_fill(~seen, -torch.inf)
        chosen = index.argsort(dim=-1, descending=True, stable=True)[..., : self.k]
        kept = torch.zeros_like(seen).scatter(-1, chosen, True) & seen
        scores = scores.masked_fill(~kept[:, None], -torch.inf)
        if not (self.training and torch.is_grad_enabled()):
            return scores
        # The cross entropy of p and softmax(I), which has the gradient of KL.
        weights = scores.detach().softmax(dim=-1).mean(dim=1)
        likelihood = index.masked_fill(~kept, -torch.inf).log_softmax(dim=-1)
        loss = -(weights * likelihood.masked_fill(~kept, 0)).sum(dim=-1).mean()
        with_loss: Tensor = _WithLoss.apply(scores, loss)
        return with_loss

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S), rows sum to 1."""
        return scores.softmax(dim=-1)


class _WithLoss(torch.autograd.Function):
    """Scores as they are, and a loss that is added to that of the model."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, loss: Tensor) -> Tensor:
        ctx.loss = loss.dtype
        return scores.view_as(scores)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        return gradient, gradient.new_ones((), dtype=ctx.loss)
