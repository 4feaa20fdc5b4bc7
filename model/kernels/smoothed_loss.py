"""Output layer and label-smoothed cross-entropy in one, over chunks of positions.

The logits (N, V) are the largest tensor of a translation model; a chunk of them lives in the cache
of the CPU, and the gradients are taken on the spot. With m the mean of the rows of W (over words),

    loss_n = lse(W h_n) - (1 - e) W_y h_n - e m h_n
    d loss_n / d h_n = p_n W - (1 - e) W_y - e m,        p_n = softmax(W h_n)
    d loss / d W_v   = sum_n (p_nv - (1 - e) [y_n = v] - e / V) h_n

so that smoothing (Szegedy et al. 2016) costs nothing per word of the vocabulary.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

CHUNK = 512
"""Positions per chunk: enough for fast products, few enough for the cache."""


class Smoothed(NamedTuple):
    """Sums over positions.

    Attributes:
        loss: label-smoothed cross-entropy, in nats.
        nll: cross-entropy, in nats, without a gradient.
        right: how many targets have the largest score, without a gradient.
    """

    loss: Tensor
    nll: Tensor
    right: Tensor


def smoothed_loss(states: Tensor, weight: Tensor, targets: Tensor, smoothing: float) -> Smoothed:
    """Label-smoothed cross-entropy of words with scores `states @ weight.T`.

    Args:
        states: (N, D).
        weight: (V, D).
        targets: (N,).
        smoothing: the probability that is spread over all V words.
    """
    return Smoothed(
        *_SmoothedLoss.apply(states, weight, targets, smoothing, torch.is_grad_enabled())
    )


class _SmoothedLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, states: Tensor, weight: Tensor, targets: Tensor, smoothing: float, train: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        certain, mean = 1 - smoothing, weight.mean(0)
        nll, right = states.new_zeros(()), states.new_zeros(())
        by_states = torch.empty_like(states) if train else None
        by_weight = torch.zeros_like(weight) if train else None
        for start in range(0, len(states), CHUNK):
            chunk = slice(start, start + CHUNK)
            h, y = states[chunk], targets[chunk, None]
            logits = h @ weight.t()
            largest, chosen = logits.amax(-1), logits.gather(1, y).squeeze(1)
            p = logits.softmax(-1, dtype=torch.promote_types(logits.dtype, torch.float32))
            # lse = s_j - log p_j for any word j; the largest p is at least 1 / V.
            nll += (largest - p.amax(-1).log() - chosen).sum()
            right += (chosen >= largest).sum()
            if by_states is not None and by_weight is not None:
                p.scatter_add_(1, y, p.new_full(y.shape, -certain))
                by_states[chunk] = p @ weight
                by_weight += p.t() @ h
        smooth = (states.sum(0) * mean).sum()
        if by_states is not None and by_weight is not None:
            by_states -= smoothing * mean
            by_weight -= smoothing / len(weight) * states.sum(0)
            ctx.save_for_backward(by_states, by_weight)
        chosen = (states * weight[targets]).sum()
        loss = nll + smoothing * (chosen - smooth)
        ctx.mark_non_differentiable(nll, right)
        return loss, nll, right

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
        by_states, by_weight = ctx.saved_tensors
        return by_states * gradient, by_weight * gradient, None, None, None
