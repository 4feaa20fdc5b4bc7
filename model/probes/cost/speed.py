"""How fast a model trains, beside the same model with softmax attention."""

from __future__ import annotations

import inspect
from statistics import geometric_mean, median

import torch

from model.architectures.transformer import Transformer
from model.build import Node, Spec, build
from model.probes.cost.stopwatch import Update, in_turns, training_batches
from model.probes.measure import Measured, Subject, scalar
from model.training.loop import build_model

SOFTMAX = {"path": "model.normalizers.softmax:Softmax"}


def training_speed(subject: Subject, spec: Spec, updates: int = 40) -> Measured:
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
    with torch.random.fork_rng():
        works = {
            "own": _update(subject, spec),
            "softmax": _update(subject, {**spec, "model": softmax_model(spec)}),
        }
        batches = training_batches(subject, spec, updates // 2 + 2)
        times = in_turns(subject.device, works, (b for batch in batches for b in (batch, batch)))
    own, softmax = (
        [first + second for (first, _), (second, _) in zip(turns[::2], turns[1::2], strict=True)]
        for turns in times.values()
    )
    ratios = [one / other for one, other in zip(softmax, own, strict=True)]
    relative = geometric_mean(median(of_order) for of_order in (ratios[2::2], ratios[3::2]))
    return Measured({"relative": scalar(relative, "softmax = 1", n=updates)}, {})


def softmax_model(spec: Spec) -> Node:
    """The model section of the single-stream softmax model of a spec's shape.

    The normalizer is the model's own or, of a classifier, that of its encoder.
    """
    if "encoder" not in spec["model"]:
        return {**spec["model"], "normalizer": SOFTMAX}
    known = inspect.signature(Transformer).parameters
    encoder = {name: value for name, value in spec["model"]["encoder"].items() if name in known}
    path = {"path": f"{Transformer.__module__}:{Transformer.__name__}"}
    return {**spec["model"], "encoder": {**encoder, **path, "normalizer": SOFTMAX}}


def _update(subject: Subject, spec: Spec) -> Update:
    """Updates of a new model."""
    with torch.random.fork_rng():
        model = build_model(spec, subject.corpus).to(subject.device)
    return Update(model, build(spec["objective"]), spec)
