"""What the Role Interaction Layer costs: parameters, multiply-adds and time of an update (002)."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from model.batches.pairs import PairBatch
from model.build import build
from model.objectives.translation import Translation
from model.probes.cost.speed import clock
from model.probes.measure import Measured, Subject, scalar
from model.training.loop import build_model
from model.training.optimization import autocast


def model_size(subject: Subject) -> Measured:
    """Count parameters.

    Args:
        subject: any trained model.

    Returns:
        Scalars in millions: `parameters`, and of a `MatchedEncoderDecoder` `to_match`, those of the
        model that it is to match.
    """
    found = {"parameters": _millions(sum(p.numel() for p in subject.model.parameters()))}
    matched = getattr(subject.model, "matched", None)
    if matched is not None:
        found["to_match"] = _millions(int(matched))
    return Measured(found, {})


def role_cost(subject: Subject, spec: Mapping[str, Any], updates: int = 12) -> Measured:
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
        works = {
            name: _Update(spec, build_model({**spec, "model": node}, subject.corpus), subject)
            for name, node in models.items()
        }
        batches = works["step"].batches(updates + 1)
        counts = {name: work.multiply_adds(batches[0]) for name, work in works.items()}
        times: dict[str, list[float]] = {name: [] for name in works}
        for turn, batch in enumerate(batches):
            for name in list(works)[:: 1 if turn % 2 else -1]:
                times[name].append(works[name].timed(batch))
    ratios = [a / b for a, b in zip(times["step"][1:], times["baseline_step"][1:], strict=True)]
    scalars = {
        name: scalar(1000 * median(found[1:]), "ms", n=updates) for name, found in times.items()
    }
    scalars["step_ratio"] = scalar(median(ratios), "1", n=updates)
    ratio = counts["step"] / counts["baseline_step"]
    scalars["multiply_add_ratio"] = scalar(ratio, "1")
    return Measured(scalars, {})


def without_roles(model: Mapping[str, Any]) -> dict[str, Any]:
    """The node of the baseline of a `RoleEncoderDecoder`'s node."""
    node = {name: value for name, value in model.items() if name != "roles"}
    return node | {"path": "model.architectures.translation.encoder_decoder:EncoderDecoder"}


class _Update:
    """Updates of a model, at a rate that leaves it nearly as it is."""

    def __init__(self, spec: Mapping[str, Any], model: nn.Module, subject: Subject) -> None:
        self.training, self.device = spec["training"], subject.device
        self.now = clock(self.device)
        # What the two models have in common: the check of the roles is left out.
        self.objective: Translation = build(spec["objective"]).translation
        split = subject.corpus.split("train")
        self.sampler = self.objective.sampler(split, self.training["batch"], spec["seed"])
        self.model = model.to(self.device).train()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-9, fused=True)

    def batches(self, number: int) -> list[PairBatch]:
        """So many batches, again from the first where the split has fewer."""
        chosen = [micro for update in self.sampler.epoch(0) for micro in update][:number]
        found = list(self.sampler.batches(chosen, self.device))
        return [found[n % len(found)] for n in range(number)]

    def multiply_adds(self, batch: PairBatch) -> int:
        """Those of the products of matrices, for loss and gradients of a batch.

        On a GPU torch does not count those of an LSTM, a sixth of the layer's.
        """
        in_place = {torch.ops.aten.addmm_: _addmm_operations}
        counter = FlopCounterMode(display=False, custom_mapping=in_place)
        with counter:
            self._loss(batch).backward()
        return counter.get_total_flops() // 2

    def timed(self, batch: PairBatch) -> float:
        """The seconds that an update takes."""
        began = self.now()
        self.optimizer.zero_grad(set_to_none=True)
        self._loss(batch).backward()
        self.optimizer.step()
        return self.now() - began

    def _loss(self, batch: PairBatch) -> Tensor:
        with autocast(self.training["precision"], self.device):
            return self.objective.loss(self.model, batch, epoch=0.0).mean  # type: ignore[arg-type]


def _millions(count: int) -> dict[str, Any]:
    return scalar(count / 1e6, "M")


def _addmm_operations(_: torch.Size, left: torch.Size, right: torch.Size, **more: object) -> int:
    """Operations of a product that is added in place, which torch does not count, by its shapes."""
    return 2 * left[0] * left[1] * right[1]
