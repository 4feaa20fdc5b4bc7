"""The training loop of every architecture: a spec and a corpus in, weights and a history out.

All that the result depends on is in the spec, and all that the loop carries from one update to the
next is in one state dictionary; so a run that is killed and resumed ends, on the same type of CPU
with the same thread count, bit for bit where it would have ended undisturbed. Where the state is
kept is the checkpointer's business (`workflow.runtime.disk_checkpointer`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from model.batches.batching import Sampler, in_order
from model.batches.corpus import Corpus
from model.build import Spec, build, count_parameters
from model.objectives.loss import Objective
from model.training.checkpointer import Checkpointer, HistoryRow, TrainingState, Weights, average
from model.training.evaluation import evaluate
from model.training.optimization import adam, autocast, learning_rate, set_numerics
from model.training.process_group import SINGLE_PROCESS, ProcessGroup

EVALUATED = 4096
"""Tokens of a batch of the development split, padding counted."""


class TrainingFailed(Exception):
    """Training cannot go on, and would fail in the same way if it were tried again."""


class Interrupted(Exception):
    """Training was asked to stop; its state is saved and a new process can continue it."""


@dataclass
class TrainingProgress:
    """What the loop carries beside weights and optimiser; all of it is in the state."""

    update: int = 0
    tokens: int = 0
    seconds: float = 0.0
    best_value: float | None = None
    best_update: int = 0
    rows: list[HistoryRow] = field(default_factory=list)


@dataclass
class Trained:
    """The result of a run: the selected weights and what it took."""

    weights: Weights
    progress: TrainingProgress
    updates: int
    parameters: int


def build_model(spec: Spec, corpus: Corpus) -> nn.Module:
    """Build a spec's model, initialised from its seed."""
    torch.manual_seed(spec["seed"])
    return build(spec["model"], vocabulary_size=len(corpus.vocabulary))


def load_weights(model: nn.Module, weights: Weights, origin: str) -> None:
    """Load weights into a model; TrainingFailed where they belong to another architecture."""
    own = model.state_dict()
    odd = sorted(own.keys() ^ weights.keys()) or sorted(
        name for name in own if own[name].shape != weights[name].shape
    )
    if odd:
        raise TrainingFailed(
            f"the weights of {origin} belong to another architecture ({len(odd)} tensors differ, "
            f"'{odd[0]}' first): compare its model section with this run's."
        )
    model.load_state_dict(weights)


def train(
    spec: Spec,
    corpus: Corpus,
    checkpointer: Checkpointer,
    device: torch.device,
    parents: Mapping[str, Weights],
    say: Callable[[str], None],
    group: ProcessGroup = SINGLE_PROCESS,
) -> Trained:
    """Train a run to its end, from its newest state if it has one.

    Args:
        spec: the resolved spec.
        corpus: the data, with splits `train` and `dev`.
        checkpointer: where states are kept.
        device: what to compute on.
        parents: weights of the parent runs by name.
        say: receives a line of progress now and then.
        group: the processes that share the work; the first of them keeps states.

    Raises:
        TrainingFailed: the loss or its gradient is not finite, or weights do not fit the model.
        Interrupted: the checkpointer was asked to stop.
    """
    training = spec["training"]
    set_numerics(training, device)
    model = build_model(spec, corpus)
    if "start_from" in training:
        load_weights(model, parents[training["start_from"]], f"parent '{training['start_from']}'")
    model.to(device)
    if training.get("compile"):
        model.compile()
    return _Loop(spec, corpus, model, checkpointer, device, say, group).run()


class _Loop:
    """One run in progress."""

    def __init__(
        self,
        spec: Spec,
        corpus: Corpus,
        model: nn.Module,
        checkpointer: Checkpointer,
        device: torch.device,
        say: Callable[[str], None],
        group: ProcessGroup,
    ) -> None:
        self.training = spec["training"]
        self.objective: Objective = build(spec["objective"])
        self.model, self.checkpointer, self.device, self.say = model, checkpointer, device, say
        self.group = group
        sampler = getattr(self.objective, "sampler", Sampler)
        self.sampler = sampler(corpus.split("train"), self.training["batch"], spec["seed"])
        self.in_order = getattr(self.objective, "in_order", in_order)
        self.dev = corpus.split("dev")
        self.per_epoch = self.sampler.updates_per_epoch
        self.updates = self.training.get("updates") or self.training["epochs"] * self.per_epoch
        self.checkpoints = set(spec["checkpoints"])
        self.averaged = self._averaged()
        self.optimizer = adam(model, self.training["optimizer"])
        self.progress = TrainingProgress()
        self.best: Weights | None = None
        self.window = self._new_window()
        self.started = time.monotonic()
        self.spoken = self.started

    def run(self) -> Trained:
        self._resume()
        self.group.seed_by_rank(self.progress.update)
        while self.progress.update < self.updates:
            epoch, done = divmod(self.progress.update, self.per_epoch)
            for examples in self.sampler.epoch(epoch)[done:]:
                self._update(examples)
                if self.progress.update == self.updates:
                    break
        parameters = count_parameters(self.model)
        return Trained(self._weights(), self._clocked(), self.updates, parameters)

    def _update(self, examples: list[Any]) -> None:
        progress = self.progress
        update = progress.update + 1
        lr = learning_rate(
            update,
            self.updates,
            self.training["optimizer"]["lr"],
            **self.training["schedule"],
        )
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        losses, tokens = [], 0
        whole = len(examples) == self.group.size == 1
        for batch in self.sampler.batches(self.group.share(examples), self.device):
            with autocast(self.training["precision"], self.device):
                loss = self.objective.loss(self.model, batch, progress.update / self.per_epoch)
            (loss.mean if whole else loss.mean * loss.units).backward()
            losses.append(loss)
            tokens += batch.tokens.numel() - batch.padding
        if not whole:
            units = self.group.add_gradients(self.model, sum(loss.units for loss in losses))
            for parameter in self.model.parameters():
                if parameter.grad is not None:
                    parameter.grad /= units
        norm = nn.utils.clip_grad_norm_(
            self.model.parameters(), self.training.get("clip") or math.inf
        )
        self.optimizer.step()
        progress.update, progress.tokens = update, progress.tokens + tokens
        self._note(losses, norm, tokens, lr)
        if update % self.per_epoch == 0 or update == self.updates:
            self._evaluate()
        self._keep(update)
        stopping = self.group.any(self.checkpointer.stopping())
        if stopping or self.checkpointer.due():
            self._check_finite(weights=True)
            self.checkpointer.save(self._state())
            if stopping:
                raise Interrupted(f"stopped after update {update} of {self.updates}; state saved.")

    def _averaged(self) -> list[int]:
        """The updates whose weights are averaged in the end, oldest first."""
        wanted = self.training.get("average")
        if not wanted:
            return []
        apart = wanted.get("updates") or wanted["epochs"] * self.per_epoch
        kept = range(apart, self.updates + 1, apart)
        if len(kept) < wanted["last"]:
            raise ValueError(
                f"training.average asks for the mean of the last {wanted['last']} weights, but a "
                f"run of {self.updates} updates keeps only {len(kept)}, one every {apart}."
            )
        return list(kept[-wanted["last"] :])

    def _keep(self, update: int) -> None:
        """Keep the weights of an update where they are wanted later."""
        if update in self.checkpoints or update in self.averaged:
            self.checkpointer.keep(update, _copy(self.model))

    def _weights(self) -> Weights:
        """The weights that the run ends with: averaged, best or last."""
        if self.averaged and not self.group.rank:
            mean = average([self.checkpointer.weights_of(update) for update in self.averaged])
            for update in set(self.averaged) - self.checkpoints:
                self.checkpointer.drop(update)
            return mean
        return self.best if self.best is not None else _copy(self.model)

    def _note(self, losses: list[Any], norm: Tensor, tokens: int, lr: float) -> None:
        window = self.window
        for loss in losses:
            window["units"] += loss.units
            for name, value in loss.sums.items():
                window["sums"][name] = window["sums"].get(name, 0) + value
            window["finite"] = window["finite"] & loss.mean.detach().isfinite() & norm.isfinite()
        window["tokens"] += tokens
        if self.progress.update % max(1, self.updates // 200) == 0:
            self._check_finite()
            now = time.monotonic()
            names = list(window["sums"])
            counted = (window["tokens"], window["units"], *window["sums"].values())
            tokens, units, *sums = self.group.add(counted)
            rate = tokens / (now - window["began"])
            row = {"split": "train", "lr": lr, "tokens_per_second": round(rate, 1)}
            self._row(row | {n: float(v) / units for n, v in zip(names, sums, strict=True)})
            self.window = self._new_window()
            self._speak(rate, now)

    def _speak(self, rate: float, now: float) -> None:
        often = now - self.spoken < 10 and self.progress.update < self.updates
        if self.group.rank or often:
            return
        self.spoken = now
        done = self.progress
        left = (self.updates - done.update) * done.tokens / done.update / rate
        self.say(
            f"update {done.update}/{self.updates}, epoch {done.update / self.per_epoch:.2f}, "
            f"loss {done.rows[-1]['loss']:.4f}, {rate:,.0f} tokens/s, "
            f"{int(left) // 60}:{int(left) % 60:02d} left"
        )

    def _check_finite(self, weights: bool = False) -> None:
        finite = bool(self.window["finite"])
        if weights:
            finite = finite and all(bool(p.isfinite().all()) for p in self.model.parameters())
        if not finite:
            raise TrainingFailed(
                f"the loss or its gradient is not a finite number at or before update "
                f"{self.progress.update}; the state before it is kept. Lower "
                f"training.optimizer.lr, lengthen the warm-up, or look at the data."
            )

    def _evaluate(self) -> None:
        """Measure the development split, which the first process does for all."""
        self._check_finite()
        if self.group.rank:
            return
        batches = self.in_order(self.dev, EVALUATED, self.device)
        precision = autocast(self.training["precision"], self.device)
        metrics = evaluate(self.model, self.objective, batches, precision)
        self._row({"split": "dev"} | metrics)
        select = self.training.get("select")
        if select:
            value = metrics[select["metric"]] * (1 if select["mode"] == "max" else -1)
            if self.progress.best_value is None or value > self.progress.best_value:
                self.progress.best_value, self.progress.best_update = value, self.progress.update
                self.best = _copy(self.model)
        else:
            self.progress.best_update = self.progress.update

    def _row(self, values: HistoryRow) -> None:
        done = self._clocked()
        epoch = round(done.update / self.per_epoch, 4)
        row = {"step": done.update, "epoch": epoch, "seconds": round(done.seconds, 3)}
        done.rows.append(row | values)
        self.checkpointer.record(done.rows)

    def _clocked(self) -> TrainingProgress:
        """The progress with its clock brought up to now."""
        now = time.monotonic()
        self.progress.seconds += now - self.started
        self.started = now
        return self.progress

    def _new_window(self) -> dict[str, Any]:
        finite = torch.ones((), dtype=torch.bool, device=self.device)
        return {"sums": {}, "units": 0, "tokens": 0, "finite": finite, "began": time.monotonic()}

    def _state(self) -> TrainingState:
        cuda = torch.cuda.get_rng_state(self.device) if self.device.type == "cuda" else None
        window = {name: value for name, value in self.window.items() if name != "began"}
        return {
            "model": self.model.state_dict(),
            "best": self.best,
            "optimizer": self.optimizer.state_dict(),
            "random": {"cpu": torch.get_rng_state(), "cuda": cuda},
            "progress": dict(vars(self._clocked())),
            "window": window,
        }

    def _resume(self) -> None:
        state = self.group.from_first(self.checkpointer.load())
        if state is None:
            return
        load_weights(self.model, state["model"], "the saved state")
        self.best = state["best"]
        self.optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"]["cpu"].cpu())
        if self.device.type == "cuda" and state["random"]["cuda"] is not None:
            torch.cuda.set_rng_state(state["random"]["cuda"].cpu(), self.device)
        self.progress = TrainingProgress(**state["progress"])
        self.window |= state["window"]
        self.say(f"resumed after update {self.progress.update} of {self.updates}")


def _copy(model: nn.Module) -> Weights:
    return {name: value.detach().to("cpu", copy=True) for name, value in model.state_dict().items()}
