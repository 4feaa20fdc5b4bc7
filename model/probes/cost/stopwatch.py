"""Contenders that take turns in one process, on the same batches, and how long each takes.

So what else the machine does slows all of them. On a CPU the time is the process's own. (For
programs that must not share a process there is `benchmarks.race`.)
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from model.batches.batching import Sampler
from model.build import Spec, build
from model.probes.measure import Subject
from model.training.optimization import autocast

Work = Callable[[Any], int]
"""Does something with a batch; returns how many units (texts, tokens) that were."""


class Update:
    """Updates of a model (loss, gradients, Adam), at a rate that leaves it nearly as it is.

    Args:
        model: to train.
        objective: has its `loss`.
        spec: of the run, whose precision counts.
    """

    def __init__(self, model: nn.Module, objective: Any, spec: Spec) -> None:
        self.model, self.objective = model, objective
        self.precision = spec["training"]["precision"]
        self.device = next(model.parameters()).device
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-9, fused=True)

    def __call__(self, batch: Any) -> int:
        """Make an update; returns the units of its loss."""
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        mean, units = self.loss(batch)
        mean.backward()
        self.optimizer.step()
        return units

    def loss(self, batch: Any) -> tuple[Tensor, int]:
        """The mean loss of a batch, and its units."""
        with autocast(self.precision, self.device):
            loss = self.objective.loss(self.model, batch, epoch=1.0)
        return loss.mean, loss.units


def training_batches(subject: Subject, spec: Spec, number: int) -> list[Any]:
    """So many micro-batches of the training split, again from the first where it has fewer.

    Of streams they begin with the first one before which a memory is full.
    """
    sampler = getattr(build(spec["objective"]), "sampler", Sampler)(
        subject.corpus.split("train"), spec["training"]["batch"], spec["seed"]
    )
    remembered = spec["model"].get("memory", 0) / spec["objective"].get("segment", 1)
    updates = sampler.epoch(0)
    chosen = [micro for update in updates[math.ceil(remembered) :] or updates for micro in update]
    batches = itertools.cycle(sampler.batches(chosen[:number], subject.device))
    return list(itertools.islice(batches, number))


def in_turns(
    device: torch.device, works: Mapping[str, Work], batches: Iterable[Any]
) -> dict[str, list[tuple[float, int]]]:
    """Seconds and units of each on every batch; who goes before whom changes from turn to turn."""
    now = clock(device)
    times: dict[str, list[tuple[float, int]]] = {name: [] for name in works}
    for turn, batch in enumerate(batches):
        for name in turn_order(list(works), turn):
            began = now()
            units = works[name](batch)
            times[name].append((now() - began, units))
    return times


def turn_order(names: list[str], turn: int) -> list[str]:
    """The names in the order of a turn, a row of Williams' square or, every other turn, its mirror.

    In any `2 len(names)` turns one after the other each name goes right before each other one
    twice and is at each place twice: whatever one leaves behind in caches meets all alike.
    """
    count = len(names)
    zigzag = [(n + 1) // 2 if n % 2 else count - n // 2 for n in range(count)]
    row = [names[(place + turn // 2) % count] for place in zigzag]
    return row[::-1] if turn % 2 else row


def clock(device: torch.device) -> Callable[[], float]:
    """The clock of a device: of this process on a CPU, of its finished work on a GPU."""
    if device.type == "cpu":
        return time.process_time

    def finished() -> float:
        torch.cuda.synchronize(device)
        return time.perf_counter()

    return finished
