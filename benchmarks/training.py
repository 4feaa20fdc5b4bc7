"""What a contender does in a race of training: updates on the same batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.baseline import TorchTransformer
from benchmarks.made_up import made_up_pairs
from benchmarks.models import make_ours, make_theirs
from benchmarks.race import Job, Turn, Work
from model.architectures.translation.translator import Translator
from model.batches.pairs import PairBatch, PairSampler, collate_pairs
from model.objectives.translation import Translation
from model.training.optimization import autocast

TOKENS = 4096
CPU = torch.device("cpu")

Loss = Callable[[Any], tuple[Tensor, int]]
"""From a batch to its mean loss and its tokens."""


def updates(model: nn.Module, loss: Loss, rounds: Sequence[Sequence[Any]]) -> Work:
    """Updates of a model by Adam.

    Args:
        model: whose parameters.
        loss: of a batch.
        rounds: the batches of each; the last round's serve for round -1, which is one without
            dropout and changes nothing.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)

    def work(turn: int) -> Turn:
        model.train(turn >= 0)
        sums = {"loss": 0.0, "tokens": 0}
        for batch in rounds[turn]:
            optimizer.zero_grad(set_to_none=True)
            mean, tokens = loss(batch)
            mean.backward()
            if turn >= 0:
                optimizer.step()
            sums["loss"] += mean.item() / len(rounds[turn])
            sums["tokens"] += tokens
        return sums

    return work


def training(job: Job) -> Work:
    """A translation model's part in a race, an update a round."""
    model = make_ours(job["shape"], job.get("mechanism", "softmax"))
    rounds = [[batch] for batch in training_batches(job["rounds"])]
    if job["who"] == "ours":
        return updates(model, our_loss(model, job["precision"]), rounds)
    model = make_theirs(model, job["shape"])
    loss = their_loss(model, job)
    if job.get("compiled"):
        for (batch,) in rounds[:2]:  # lengths that differ, so that they become variables
            loss(batch)[0].backward()
    return updates(model, loss, rounds)


def our_loss(model: Translator, precision: str) -> Loss:
    """The loss as the training loop takes it."""
    objective = Translation()

    def loss(batch: PairBatch) -> tuple[Tensor, int]:
        with autocast(precision, CPU):
            found = objective.loss(model, batch, 0.0)
        return found.mean, found.units

    return loss


def their_loss(model: TorchTransformer, job: Job) -> Loss:
    """The baseline's loss; compiled, it is so where dropout is on, which takes minutes."""
    compiled = torch.compile(model.loss, dynamic=True) if job.get("compiled") else model.loss

    def loss(batch: PairBatch) -> tuple[Tensor, int]:
        of = compiled if model.training else model.loss
        with torch.autocast("cpu", torch.bfloat16, enabled=job["precision"] == "bf16"):
            return of(batch), len(batch.layout.places)

    return loss


def training_batches(rounds: int) -> list[PairBatch]:
    """Batches of at most 4,096 tokens a side, drawn from an epoch; the last one is to warm up."""
    split = made_up_pairs()
    drawn = PairSampler(split, {"tokens": TOKENS}, seed=0).epoch(0)
    return [collate_pairs(split, update[0]) for update in drawn[: rounds + 1]]


def work_per_token(shape: Job, device: torch.device = CPU) -> float:
    """GFLOP of matrix products that an update takes per target token; padding is left out."""
    loss = our_loss(make_ours(shape).to(device), "fp32")
    with FlopCounterMode(display=False) as counter:
        mean, tokens = loss(training_batches(1)[0].to(device))
        mean.backward()
    return float(counter.get_total_flops()) / tokens / 1e9
