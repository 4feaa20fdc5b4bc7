"""Top-k attention where a query has hundreds of keys (001, section 3.1; Table 3 has up to 1024)."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

CHUNK = 256
"""Keys that numpy sorts at once: so many it sorts in vector registers."""
STEEP = 2.0**126


class TopKOfMany(nn.Module):
    """The same weights as those of `TopK`, found with fewer passes over the scores.

    Args:
        k: how many keys each query keeps, and those that tie with the last of them.

    Raises:
        ValueError: k is not positive.
    """

    def __init__(self, k: int = 8) -> None:
        super().__init__()
        if k < 1:
            raise ValueError(f"k must be at least 1, not {k}.")
        self.k = k

    def forward(self, scores: Tensor) -> Tensor:
        """Map scores (B, H, T, S), masked keys at -inf, to weights (B, H, T, S), rows sum to 1."""
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        if scores.shape[-1] <= self.k:
            return scores.softmax(dim=-1)
        with torch.no_grad():
            t = kth_largest(scores, self.k).clamp_min_(torch.finfo(scores.dtype).min)
            # 0 for kept keys; for others, scores that are less, a fall that nothing survives.
            below = (scores - t).clamp_max_(0)
        return torch.add(scores, below, alpha=STEEP).softmax(dim=-1)


def kth_largest(scores: Tensor, k: int) -> Tensor:
    """The k-th largest of each row of scores (..., S); (..., 1)."""
    if scores.device.type != "cpu":
        return scores.topk(k, dim=-1).values[..., -1:]
    values = scores.numpy()
    if values.shape[-1] > CHUNK:
        # What is among the k largest of the row is among those of its part.
        parts = np.split(values, range(CHUNK, values.shape[-1], CHUNK), axis=-1)
        values = np.concatenate([np.sort(part, axis=-1)[..., -k:] for part in parts], axis=-1)
    return torch.from_numpy(np.sort(values, axis=-1)[..., -k, None])
