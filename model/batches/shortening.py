"""Texts that get shorter where tokens are taken out."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from model.batches.batching import PAD, Batch


def shortened(batch: Batch, kept: np.ndarray) -> tuple[Tensor, Tensor]:
    """Tokens and `real` (B, T') of the texts with only the kept tokens (B, T), in their order."""
    stays = torch.from_numpy(kept).to(batch.tokens.device)
    lengths = stays.sum(dim=1, keepdim=True)
    order = (~stays).to(torch.int8).sort(dim=1, stable=True).indices[:, : int(lengths.max())]
    real = torch.arange(order.shape[1], device=order.device) < lengths
    return batch.tokens.gather(1, order).masked_fill(~real, PAD), real
