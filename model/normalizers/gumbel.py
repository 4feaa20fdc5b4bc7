"""Discrete attention: Gumbel-softmax samples in training, argmax at test time.

Of words in attention (discrete2020 section 4; kinley2020 section 3.3), and of the roles of a token
(weissenborn2019 section 4).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Gumbel(nn.Module):
    """Scores to a relaxed sample z ~ Cat(softmax(scores)), or to its mode when evaluating.

    Of scores of roles it is the one role that a token gets (weissenborn2019 eq. 6).

    In training each row is softmax((log A + g) / tau) with A = softmax(scores) and standard Gumbel
    noise g, independent for every batch entry, head, query and key. log A differs from the scores
    by a constant of the row, which the outer softmax removes, so the scores are used as they are.

    Args:
        temperature: tau; 1 throughout in kinley2020 and discrete2020, falling along training in
            weissenborn2019.
        straight_through: emit the one-hot argmax of the sample and pass the gradient through the
            relaxed sample (Jang et al. 2016). The papers do not.

    Raises:
        ValueError: the temperature is not positive.
    """

    def __init__(self, temperature: float = 1.0, straight_through: bool = False) -> None:
        super().__init__()
        if temperature <= 0:
            raise ValueError(f"temperature must be positive, not {temperature}.")
        self.temperature = temperature
        self.straight_through = straight_through

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S), rows sum to 1.

        They are in fp32 at least: noise in bf16 ends at 5.5, and rare choices would be rarer.
        """
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        if not self.training:
            return one_hot_argmax(scores)
        sample = ((scores + gumbel_noise(scores)) / self.temperature).softmax(dim=-1)
        if self.straight_through:
            return one_hot_argmax(sample) + sample - sample.detach()
        return sample


def gumbel_noise(like: Tensor) -> Tensor:
    """Standard Gumbel noise g = -log(-log U), U uniform on (0, 1), in the shape of a tensor."""
    # U = 0 would make g infinite, and a row with a single key undefined.
    return torch.rand_like(like).clamp_(min=2**-25).log_().neg_().log_().neg_()


def one_hot_argmax(scores: Tensor) -> Tensor:
    """One-hot rows (..., S) at the largest score of each row; the first one where scores tie."""
    return F.one_hot(scores.argmax(dim=-1), scores.shape[-1]).to(scores.dtype)
