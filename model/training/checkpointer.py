"""What training asks of whoever keeps its state, and the mean of kept weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

Weights = dict[str, Tensor]


class Checkpointer(Protocol):
    """Keeps checkpoints of a run outside the process."""

    def load(self) -> dict[str, Any] | None:
        """The newest whole state, or None for a new run."""
        ...

    def save(self, state: dict[str, Any]) -> None:
        """Keep a state."""
        ...

    def due(self) -> bool:
        """Whether it is time to save."""
        ...

    def stopping(self) -> bool:
        """Whether the process was asked to stop."""
        ...

    def keep(self, update: int, weights: Weights) -> None:
        """Keep the weights of an update."""
        ...

    def weights_of(self, update: int) -> Weights:
        """The kept weights of an update."""
        ...

    def drop(self, update: int) -> None:
        """Drop the weights of an update if they are kept."""
        ...

    def record(self, rows: list[dict[str, Any]]) -> None:
        """Show the history so far."""
        ...


def average(weights: Sequence[Weights]) -> Weights:
    """The mean of each tensor, summed in double precision (Vaswani et al. 2017, section 6.1)."""
    return {
        name: torch.stack([one[name].double() for one in weights]).mean(dim=0).to(first.dtype)
        for name, first in weights[0].items()
    }
