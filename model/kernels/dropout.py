"""Dropout whose masks are cheap on a CPU."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Dropout(nn.Module):
    """Dropout (Srivastava et al. 2014): in training, zero with probability p and rescale the rest.

    On a CPU torch draws one number of its generator per element, which costs as much as the
    products around it; here one draw serves four elements, with p rounded to a multiple of 2^-16.
    In bf16 the factor 1 / (1 - p) is rounded before it multiplies, as torch's is on a CPU.

    Args:
        p: probability to drop.

    Raises:
        ValueError: p is not in [0, 1).
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        if not 0 <= p < 1:
            raise ValueError(f"dropout must be at least 0 and below 1, not {p}.")
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """Drop elements of x, of any shape."""
        if not self.training or self.p == 0:
            return x
        if x.is_cuda:
            return F.dropout(x, self.p)
        dropped = round(self.p * 2**16)
        draws = torch.empty((x.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
        kept = draws.view(torch.int16)[: x.numel()].view(x.shape) >= dropped - 2**15
        return x * kept.to(x.dtype).mul_(2**16 / (2**16 - dropped))
