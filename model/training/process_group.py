"""The processes that share the work of one run: each computes its part of every batch.

All hold the same weights. An update's gradients are added up over the processes, so it is the
update that one process would make of the same examples, but for the order of the sums and, with
dropout or sampling, for other random numbers.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, distributed, nn


class ProcessGroup:
    """The processes of a run as one, `rank` (from 0) of `size`, sees them; here the only one."""

    rank, size = 0, 1

    def from_first(self, state: Any) -> Any:
        """What the first process gave."""
        return state

    def seed_by_rank(self, update: int) -> None:
        """Draw other random numbers than the other processes from here on."""

    def share(self, examples: list[np.ndarray]) -> list[np.ndarray]:
        """This process's part of the micro-batches of an update."""
        return examples

    def add_gradients(self, model: nn.Module, units: int) -> Any:
        """Add up the gradients of all; returns the sum of their units."""
        return units

    def add(self, values: Sequence[Any]) -> Sequence[Any]:
        """The sum of each value over the processes."""
        return values

    def any(self, wish: bool) -> bool:
        """Whether any of the processes wishes so."""
        return wish


SINGLE_PROCESS = ProcessGroup()


class DistributedGroup(ProcessGroup):
    """The processes that `torchrun` started, connected by NCCL on GPUs and by Gloo on CPUs."""

    def __init__(self, device: torch.device, seed: int) -> None:
        distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
        self.rank, self.size = distributed.get_rank(), distributed.get_world_size()
        self.device, self.seed = device, seed

    def from_first(self, state: Any) -> Any:
        """What the first process gave, sent to all."""
        given = [state]
        distributed.broadcast_object_list(given, src=0, device=self.device)
        return given[0]

    def seed_by_rank(self, update: int) -> None:
        """Seed this process by run, rank and update; the first keeps its random numbers."""
        if self.rank:
            seed = np.random.SeedSequence([self.seed, self.rank, update]).generate_state(1)
            torch.manual_seed(int(seed[0]))

    def share(self, examples: list[np.ndarray]) -> list[np.ndarray]:
        """Every size-th example of each micro-batch, so that all get texts of all lengths."""
        parts = [micro[self.rank :: self.size] for micro in examples]
        return [part for part in parts if len(part)]

    def add_gradients(self, model: nn.Module, units: int) -> Tensor:
        """Add up the gradients in one message; returns the sum of the units, a scalar tensor."""
        gradients = []
        for parameter in model.parameters():
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            gradients.append(parameter.grad)
        count = torch.tensor([float(units)], device=self.device)
        together = torch.cat([gradient.flatten() for gradient in gradients] + [count])
        distributed.all_reduce(together)
        *summed, total = together.split([gradient.numel() for gradient in gradients] + [1])
        for gradient, values in zip(gradients, summed, strict=True):
            gradient.copy_(values.view_as(gradient))
        return total[0]

    def add(self, values: Sequence[Any]) -> Sequence[Any]:
        """The sum of each value over the processes, as numbers; one with fewer adds nothing more.

        A process that had no example since the last sum does not know what else is counted.
        """
        most = torch.tensor(len(values), device=self.device)
        distributed.all_reduce(most, distributed.ReduceOp.MAX)
        together = torch.zeros(int(most), dtype=torch.float64, device=self.device)
        together[: len(values)] = torch.tensor([float(v) for v in values], dtype=torch.float64)
        distributed.all_reduce(together)
        return together[: len(values)].tolist()

    def any(self, wish: bool) -> bool:
        """Whether any of the processes wishes so."""
        wished = torch.tensor(int(wish), device=self.device)
        distributed.all_reduce(wished, distributed.ReduceOp.MAX)
        return bool(wished)


def join(device: torch.device, seed: int) -> ProcessGroup:
    """The group that `torchrun` started this process in, or `SINGLE_PROCESS` without it."""
    alone = int(os.environ.get("WORLD_SIZE", 1)) == 1
    return SINGLE_PROCESS if alone else DistributedGroup(device, seed)
