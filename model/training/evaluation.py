"""A model judged by its objective, along training and afterwards."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import nn

from model.objectives.loss import Objective


def evaluate(
    model: nn.Module,
    objective: Objective,
    batches: Iterable[Any],
    precision: AbstractContextManager[Any],
) -> dict[str, float]:
    """An objective's metrics on batches, averaged over its units, the model in evaluation mode."""
    model.eval()
    sums: dict[str, float] = {}
    units = 0
    with torch.no_grad(), precision:
        for batch in batches:
            loss = objective.loss(model, batch, epoch=math.inf)
            units += loss.units
            for name, value in loss.sums.items():
                sums[name] = sums.get(name, 0.0) + float(value)
    return {name: total / units for name, total in sums.items()}
