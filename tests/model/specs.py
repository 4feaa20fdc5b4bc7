"""Specs of tiny runs, the nodes that they are made of, and softmax on a clock of its own."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import Tensor

from model.normalizers.softmax import Softmax

Node = dict[str, Any]


def part(path: str, **arguments: Any) -> Node:
    """The node of a part of `model/`, as `architectures.copying:CopyingModel`."""
    return {"path": f"model.{path}", **arguments}


def shape(width: int, hidden: int, layers: int = 1, heads: int = 2) -> Node:
    """The sizes of a stack."""
    return {"width": width, "hidden": hidden, "layers": layers, "heads": heads}


SOFTMAX = part("normalizers.softmax:Softmax")
GUMBEL = part("normalizers.gumbel:Gumbel")
TWO_STREAM = part(
    "architectures.two_stream:TwoStreamTransformer",
    **shape(16, 32, 2),
    normalizer=GUMBEL,
    dropout=0.1,
)
CLASSIFIER = part("architectures.classifier:Classifier", classes=2, encoder=TWO_STREAM)
COPYING = part("architectures.multihead_copying:MultiheadCopyingModel", width=32, hidden=32)
COSINE: Node = {"schedule": {"name": "cosine", "warmup": 10}, "clip": 1.0}
"""What `training` says of a run that anneals."""


def tiny(model: Node, objective: Node | str, **training: Any) -> Node:
    """A run's spec: Adam at 1e-2 and a constant rate, but for what `training` says."""
    settings = {
        "optimizer": {"lr": 1e-2, "betas": [0.9, 0.98]}, "schedule": {"name": "constant"},
        "precision": "fp32", "threads": 1, "matmul": "highest",
    }  # fmt: skip
    if isinstance(objective, str):
        objective = {"path": objective}
    return deepcopy({
        "seed": 0, "model": model, "objective": objective, "training": settings | training,
        "checkpoints": [], "parents": {},
    })  # fmt: skip


def brief(model: Node, objective: Node | str, epochs: int = 1, **training: Any) -> Node:
    """The same with Adam's second beta at .999, in batches of 32."""
    optimizer = {"lr": 1e-2, "betas": [0.9, 0.999]}
    settings = {"epochs": epochs, "batch": {"examples": 32}, "optimizer": optimizer}
    return tiny(model, objective, **settings | training)


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
