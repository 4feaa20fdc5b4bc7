"""What an objective tells the training loop about a batch."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from torch import Tensor, nn

from model.batches.batching import Batch


class Loss(NamedTuple):
    """The loss of one batch.

    Attributes:
        mean: what to minimise, averaged over the batch's units.
        units: how many examples or tokens it is averaged over.
        sums: metrics to report, summed over the units.
    """

    mean: Tensor
    units: int
    sums: dict[str, Tensor]


class Objective(Protocol):
    """How a model is trained and judged.

    One whose batches are not those of `model.batches.batching` brings a `sampler` and an `in_order`
    like the `Sampler` and `in_order` there.
    """

    def loss(self, model: nn.Module, batch: Batch, epoch: float) -> Loss:
        """The loss of a batch; `epoch` is the progress in epochs, for schedules."""
        ...
