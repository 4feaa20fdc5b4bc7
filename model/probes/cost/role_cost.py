"""What the Role Interaction Layer costs: multiply-adds and time of an update (weissenborn2019)."""

from __future__ import annotations

from statistics import median

import torch
from torch.utils.flop_counter import FlopCounterMode

from model.batches.pairs import PairBatch
from model.build import Node, Spec, build
from model.probes.cost.stopwatch import Update, in_turns, training_batches
from model.probes.measure import Measured, Subject, scalar
from model.training.loop import build_model


def role_cost(subject: Subject, spec: Spec, updates: int = 12) -> Measured:
    """Compare an update of the model with one of its baseline, the same without the layer.

    Both take turns on the same batches, so that what else the machine does slows both alike. An
    update is loss, gradients and Adam, in the precision of the run; on a CPU the time is the
    process's own.

    Args:
        subject: a run of a `RoleEncoderDecoder`; its weights stay as they are.
        spec: of the run, whose objective is a `RoleTranslation`.
        updates: of each model, on batches of the run's size, after one that does not count.

    Returns:
        Scalars `step` and `baseline_step`, medians in ms; `step_ratio`, the median of the batches'
        ratios; and `multiply_add_ratio`, the same of the products of matrices of the first batch.
    """
    with torch.random.fork_rng():
        models = {"step": spec["model"], "baseline_step": without_roles(spec["model"])}
        works = {name: _update(subject, {**spec, "model": node}) for name, node in models.items()}
        batches = training_batches(subject, spec, updates + 1)
        counts = {name: multiply_adds(work, batches[0]) for name, work in works.items()}
        turns = in_turns(subject.device, works, batches)
    times = {name: [seconds for seconds, _ in own[1:]] for name, own in turns.items()}
    ratios = [a / b for a, b in zip(times["step"], times["baseline_step"], strict=True)]
    scalars = {name: scalar(1000 * median(own), "ms", n=updates) for name, own in times.items()}
    scalars["step_ratio"] = scalar(median(ratios), "1", n=updates)
    ratio = counts["step"] / counts["baseline_step"]
    scalars["multiply_add_ratio"] = scalar(ratio, "1")
    return Measured(scalars, {})


def without_roles(model: Node) -> Node:
    """The node of the baseline of a `RoleEncoderDecoder`'s node."""
    node = {name: value for name, value in model.items() if name != "roles"}
    return node | {"path": "model.architectures.translation.encoder_decoder:EncoderDecoder"}


def multiply_adds(work: Update, batch: PairBatch) -> int:
    """Those of the products of matrices, for loss and gradients of a batch.

    On a GPU torch does not count those of an LSTM, a sixth of the layer's.
    """
    in_place = {torch.ops.aten.addmm_: _addmm_operations}
    counter = FlopCounterMode(display=False, custom_mapping=in_place)
    with counter:
        work.loss(batch)[0].backward()
    return counter.get_total_flops() // 2


def _update(subject: Subject, spec: Spec) -> Update:
    """Updates of a new model with what it has in common with its baseline as objective."""
    model = build_model(spec, subject.corpus).to(subject.device).train()
    # The check of the roles is left out.
    return Update(model, build(spec["objective"]).translation, spec)


def _addmm_operations(_: torch.Size, left: torch.Size, right: torch.Size, **more: object) -> int:
    """Operations of a product that is added in place, which torch does not count, by its shapes."""
    return 2 * left[0] * left[1] * right[1]
