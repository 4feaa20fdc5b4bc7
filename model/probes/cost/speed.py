"""How fast a model trains, beside the same model with softmax attention."""

from __future__ import annotations

import inspect
import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping
from statistics import geometric_mean, median
from typing import Any

import torch
from torch import nn

from model.architectures.transformer import Transformer
from model.batches.batching import Sampler
from model.build import build
from model.probes.measure import Measured, Subject, scalar
from model.training.loop import build_model
from model.training.optimization import autocast

SOFTMAX = {"path": "model.normalizers.softmax:Softmax"}


def training_speed(subject: Subject, spec: Mapping[str, Any], updates: int = 40) -> Measured:
    """Tokens per second of training, relative to the single-stream softmax model of that shape.

    Both make the same updates (loss, gradients, Adam) on the same batches, in the run's precision
    and in one process, so what else the machine does slows both. Each batch is taken four times, by
    one of them, by the other twice, and by the first again; who is first changes from batch to
    batch, as the twice in a row finds warmer caches. On a CPU the time is the process's own.

    Args:
        subject: the run; its weights stay as they are.
        spec: of the run.
        updates: of each model, a multiple of 4, after four that do not count.

    Raises:
        ValueError: `updates` is no such number.

    Returns:
        Scalar `relative`, the geometric mean of the median ratios over the batches of either order.
    """
    if updates < 4 or updates % 4:
        raise ValueError(f"training_speed: updates is {updates}; give a multiple of 4.")
    own, softmax = (
        _step(subject, one) for one in (dict(spec), {**spec, "model": softmax_model(spec)})
    )
    now = clock(subject.device)
    ratios: list[list[float]] = [[], []]
    with torch.random.fork_rng():
        batches = itertools.islice(_batches(subject, spec, updates), updates // 2 + 2)
        for number, batch in enumerate(batches):
            swapped = number % 2
            first, second = (softmax, own) if swapped else (own, softmax)
            took = [_seconds(step, batch, now) for step in (first, second, second, first)]
            ends, middle = took[0] + took[3], took[1] + took[2]
            ratios[swapped].append(ends / middle if swapped else middle / ends)
    relative = geometric_mean(median(found[1:]) for found in ratios)
    return Measured({"relative": scalar(relative, "softmax = 1", n=updates)}, {})


def softmax_model(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The model section of the single-stream softmax model of a spec's shape.

    The normaliser is the model's own or, of a classifier, that of its encoder.
    """
    if "encoder" not in spec["model"]:
        return {**spec["model"], "normalizer": SOFTMAX}
    known = inspect.signature(Transformer).parameters
    encoder = {name: value for name, value in spec["model"]["encoder"].items() if name in known}
    path = {"path": f"{Transformer.__module__}:{Transformer.__name__}"}
    return {**spec["model"], "encoder": {**encoder, **path, "normalizer": SOFTMAX}}


def clock(device: torch.device) -> Callable[[], float]:
    """The clock of a device: of this process on a CPU, of its finished work on a GPU."""
    if device.type == "cpu":
        return time.process_time

    def finished() -> float:
        torch.cuda.synchronize(device)
        return time.perf_counter()

    return finished


def _batches(subject: Subject, spec: Mapping[str, Any], most: int) -> Iterator[Any]:
    """At most so many batches of the training split, again and again.

    Of streams they begin with the first one before which a memory is full.
    """
    objective = build(spec["objective"])
    sampler = getattr(objective, "sampler", Sampler)(
        subject.corpus.split("train"), spec["training"]["batch"], spec["seed"]
    )
    remembered = spec["model"].get("memory", 0) / spec["objective"].get("segment", 1)
    updates = sampler.epoch(0)
    chosen = [micro for update in updates[math.ceil(remembered) :] or updates for micro in update]
    return itertools.cycle(sampler.batches(chosen[:most], subject.device))


def _step(subject: Subject, spec: dict[str, Any]) -> Callable[[Any], None]:
    """An update of a new model."""
    with torch.random.fork_rng():
        model: nn.Module = build_model(spec, subject.corpus).to(subject.device).train()
    objective = build(spec["objective"])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-6, fused=True)

    def step(batch: Any) -> None:
        optimizer.zero_grad(set_to_none=True)
        with autocast(spec["training"]["precision"], subject.device):
            loss = objective.loss(model, batch, epoch=1.0).mean
        loss.backward()
        optimizer.step()

    return step


def _seconds(step: Callable[[Any], None], batch: Any, now: Callable[[], float]) -> float:
    began = now()
    step(batch)
    return now() - began
