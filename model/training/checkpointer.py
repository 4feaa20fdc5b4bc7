"""What training asks of whoever keeps its state, and the mean of kept weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

Weights = dict[str, Tensor]


HistoryRow = dict[str, Any]
"""A row of the history: metrics, and `split`, `step`, `epoch` and `seconds`."""
TrainingState = dict[str, Any]
"""All that the loop carries from one update to the next, by part."""


class Checkpointer:
    """Keeps checkpoints of a run outside the process; this one, not the first of its group, none.

    What the first process has loaded, it sends to all.
    """

    def load(self) -> TrainingState | None:
        """The newest whole state, or None for a new run."""
        return None

    def save(self, state: TrainingState) -> None:
        """Keep a state."""

    def due(self) -> bool:
        """Whether it is time to save."""
        return False

    def stopping(self) -> bool:
        """Whether the process was asked to stop."""
        return False

    def keep(self, update: int, weights: Weights) -> None:
        """Keep the weights of an update."""

    def weights_of(self, update: int) -> Weights:
        """The kept weights of an update."""
        raise LookupError(update)

    def drop(self, update: int) -> None:
        """Drop the weights of an update if they are kept."""

    def record(self, rows: list[HistoryRow]) -> None:
        """Show the history so far."""


def average(weights: Sequence[Weights]) -> Weights:
    """The mean of each tensor, summed in double precision (Vaswani et al. 2017, section 6.1)."""
    return {
        name: torch.stack([one[name].double() for one in weights]).mean(dim=0).to(first.dtype)
        for name, first in weights[0].items()
    }
