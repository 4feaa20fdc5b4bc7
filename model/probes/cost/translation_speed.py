"""How fast translators with different attention train and translate (001, Table 4).

All of them take turns in one process, on the same batches and sentences, so that what else the
machine does slows all alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

import numpy as np
import torch
from torch import nn

from model.architectures.translation.beam_search import Beam
from model.batches.pairs import PairBatch, PairSampler, collate_pairs
from model.build import build
from model.probes.cost.speed import clock
from model.probes.measure import Measured, Subject, scalar
from model.training.loop import build_model
from model.training.optimization import autocast


def translation_speed(
    subject: Subject,
    spec: Mapping[str, Any],
    normalizers: Mapping[str, Mapping[str, Any]],
    updates: int = 12,
    rounds: int = 12,
    sentences: int = 128,
    beam: int = 5,
) -> Measured:
    """Tokens per second of the run's model with each of several normalisers in its place.

    Each has the run's own weights, so that translations are nearly as long as those of the model
    that was trained. An update is loss, gradients and Adam, in the precision of the run. On a CPU
    the time is the process's own.

    Args:
        subject: a run of a `Translator`; its weights stay as they are.
        spec: of the run.
        normalizers: nodes by name.
        updates: of each model, on micro-batches of the run's size, after one that does not count.
        rounds: of translating, after one that does not count. In twice as many turns as there are
            models each comes before each other equally often.
        sentences: of the test split, the first ones, translated as one batch.
        beam: of the search.

    Returns:
        By name `training_<name>`, target tokens read, and `inference_<name>`, target tokens
        written, in thousands per second: medians over the turns.
    """
    with torch.random.fork_rng():
        models = {name: _model(subject, spec, node) for name, node in normalizers.items()}
        training = _in_turns(subject, _steps(spec, models), _batches(subject, spec, updates + 1))
        test = subject.corpus.split("test")
        batch = collate_pairs(test, np.arange(min(sentences, len(test)))).to(subject.device)
        search = Beam(beam=beam)
        inference = _in_turns(subject, _searches(spec, models, search), [batch] * (rounds + 1))
    scalars = {}
    for kind, rates in (("training", training), ("inference", inference)):
        for name, of_turns in rates.items():
            value = median(of_turns[1:]) / 1000
            scalars[f"{kind}_{name}"] = scalar(value, "K tokens/s", n=len(of_turns) - 1)
    return Measured(scalars, {})


Work = Callable[[PairBatch], int]
"""Does something with a batch; returns how many tokens that were."""


def _in_turns(
    subject: Subject, works: Mapping[str, Work], batches: list[PairBatch]
) -> dict[str, list[float]]:
    """Tokens per second of each on every batch; who goes before whom changes from turn to turn."""
    now = clock(subject.device)
    rates: dict[str, list[float]] = {name: [] for name in works}
    for turn, batch in enumerate(batches):
        for name in turn_order(list(works), turn):
            began = now()
            tokens = works[name](batch)
            rates[name].append(tokens / max(now() - began, 1e-9))
    return rates


def turn_order(names: list[str], turn: int) -> list[str]:
    """The names in the order of a turn, a row of Williams' square or, every other turn, its mirror.

    In any `2 len(names)` turns one after the other each name goes right before each other one
    twice and is at each place twice: whatever one leaves behind in caches meets all alike.
    """
    count = len(names)
    zigzag = [(n + 1) // 2 if n % 2 else count - n // 2 for n in range(count)]
    row = [names[(place + turn // 2) % count] for place in zigzag]
    return row[::-1] if turn % 2 else row


def _model(subject: Subject, spec: Mapping[str, Any], node: Mapping[str, Any]) -> nn.Module:
    """The run's model and weights with another normaliser, whose own parameters are new."""
    section = {**spec["model"], "normalizer": node}
    model = build_model({**spec, "model": section}, subject.corpus).to(subject.device)
    model.load_state_dict(subject.model.state_dict(), strict=False)
    return model


def _batches(subject: Subject, spec: Mapping[str, Any], number: int) -> list[PairBatch]:
    """So many batches of the training split, again from the first where it has fewer."""
    split = subject.corpus.split("train")
    sampler = PairSampler(split, spec["training"]["batch"], spec["seed"])
    chosen = [micro for update in sampler.epoch(0) for micro in update][:number]
    found = list(sampler.batches(chosen, subject.device))
    return [found[n % len(found)] for n in range(number)]


def _steps(spec: Mapping[str, Any], models: Mapping[str, nn.Module]) -> dict[str, Work]:
    """An update of each model, at a rate that leaves it nearly as it is."""
    objective = build(spec["objective"])

    def work(model: nn.Module) -> Work:
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-9, fused=True)

        def step(batch: PairBatch) -> int:
            model.train()
            optimizer.zero_grad(set_to_none=True)
            with autocast(spec["training"]["precision"], batch.source.device):
                loss = objective.loss(model, batch, epoch=1.0).mean
            loss.backward()
            optimizer.step()
            return len(batch.layout.places)

        return step

    return {name: work(model) for name, model in models.items()}


def _searches(
    spec: Mapping[str, Any], models: Mapping[str, nn.Module], search: Beam
) -> dict[str, Work]:
    """A translation of a batch by each model."""

    def work(model: Any) -> Work:
        def translate(batch: PairBatch) -> int:
            model.eval()
            with autocast(spec["training"]["precision"], batch.source.device):
                found = search.search(model, batch.source, batch.source_layout)
            return sum(len(tokens) + 1 for tokens in found.best())

        return translate

    return {name: work(model) for name, model in models.items()}
