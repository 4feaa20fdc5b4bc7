"""Softmax attention with a gate on every edge (Draye et al. 2025)."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class EdgeGates(nn.Module):
    """Scores to softmax weights, of which each stays where the gate of its edge is open, else is 0.

    A gate is open where s + bias > 0. In training it is a sample, open with probability
    sigmoid(s + bias): logistic noise is added to s, and the gradient is that of the sigmoid of the
    noisy sum, passed straight through. What is closed is not shared among the other keys
    (2512.05865, with the layer of 2411.06890; in the authors' code, hrpan/splash_attention,
    2b0c498, `sparse_attention_naive` of sparse_attention.py).

    Args:
        bias: a positive one opens most gates at the start.

    Attributes:
        openness: probabilities (B, H, T, S) that the gates of the last scores are open, in
            training; 0 where masked.
    """

    sum = "at most one"

    def __init__(self, bias: float = 5.0) -> None:
        super().__init__()
        self.bias = bias
        self.openness: Tensor | None = None

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S)."""
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        weights = scores.softmax(dim=-1)
        logits = scores + self.bias
        if not self.training:
            return weights * (logits > 0)
        self.openness = logits.sigmoid()
        soft = (logits + logistic_noise(logits)).sigmoid()
        return weights * ((soft > 0.5) + soft - soft.detach())


def logistic_noise(like: Tensor) -> Tensor:
    """Standard logistic noise log U - log(1 - U), U uniform on (0, 1), in the shape of a tensor."""
    return torch.rand_like(like).clamp_(2**-25, 1 - 2**-24).logit_()
