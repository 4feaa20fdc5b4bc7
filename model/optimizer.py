"""The optimiser: Adam, with decoupled weight decay where it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn


def adam(model: nn.Module, settings: Mapping[str, Any]) -> torch.optim.Optimizer:
    """Adam (Kingma & Ba 2015), or AdamW (Loshchilov & Hutter 2019) with a `weight_decay`.

    Args:
        model: whose parameters to optimise.
        settings: `lr`, `betas` and optionally `weight_decay`.
    """
    options: dict[str, Any] = {"lr": settings["lr"], "betas": tuple(settings["betas"])}
    if decay := settings.get("weight_decay"):
        return torch.optim.AdamW(model.parameters(), weight_decay=decay, fused=True, **options)
    return torch.optim.Adam(model.parameters(), fused=True, **options)
