"""Softmax that takes a time of its own, on a clock that the tests of speed tell."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from model.normalizers.softmax import Softmax
from tests.model.specs import Node


class Timed(Softmax):
    """Softmax that costs some units of time."""

    now = 0.0

    def __init__(self, cost: float) -> None:
        super().__init__()
        self.cost = cost

    def forward(self, scores: Tensor) -> Tensor:
        Timed.now += self.cost
        return super().forward(scores)


def timed(cost: float) -> Node:
    """The node of a softmax that costs so many units."""
    return {"path": f"{__name__}:Timed", "cost": cost}


def tell(monkeypatch: pytest.MonkeyPatch, probe: object) -> None:
    """Let a probe's module read the time here."""

    def clock(device: torch.device) -> Callable[[], float]:
        return lambda: Timed.now

    monkeypatch.setattr(probe, "clock", clock)
