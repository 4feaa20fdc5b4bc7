"""How fast translators with different attention train and translate (zhao2019 table 4).

All of them take turns in one process, on the same batches and sentences, so that what else the
machine does slows all alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

import numpy as np
import torch
from torch import nn

from model.architectures.translation.beam_search import Beam
from model.batches.pairs import PairBatch, collate_pairs
from model.build import Node, Spec, build
from model.probes.cost.stopwatch import Update, Work, in_turns, training_batches
from model.probes.measure import Measured, Subject, scalar
from model.training.loop import build_model
from model.training.optimization import autocast


def translation_speed(
    subject: Subject,
    spec: Spec,
    normalizers: Mapping[str, Node],
    updates: int = 12,
    rounds: int = 12,
    sentences: int = 128,
    beam: int = 5,
) -> Measured:
    """Tokens per second of the run's model with each of several normalizers in its place.

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
        objective, search = build(spec["objective"]), Beam(beam=beam)
        learning = {name: Update(model, objective, spec) for name, model in models.items()}
        writing = {name: _search(model, spec, search) for name, model in models.items()}
        batches = training_batches(subject, spec, updates + 1)
        training = in_turns(subject.device, learning, batches)
        test = subject.corpus.split("test")
        batch = collate_pairs(test, np.arange(min(sentences, len(test)))).to(subject.device)
        inference = in_turns(subject.device, writing, [batch] * (rounds + 1))
    scalars = {}
    for kind, times in (("training", training), ("inference", inference)):
        for name, turns in times.items():
            rates = [tokens / max(seconds, 1e-9) / 1000 for seconds, tokens in turns[1:]]
            scalars[f"{kind}_{name}"] = scalar(median(rates), "K tokens/s", n=len(rates))
    return Measured(scalars, {})


def _model(subject: Subject, spec: Spec, node: Node) -> nn.Module:
    """The run's model and weights with another normalizer, whose own parameters are new."""
    section = {**spec["model"], "normalizer": node}
    model = build_model({**spec, "model": section}, subject.corpus).to(subject.device)
    model.load_state_dict(subject.model.state_dict(), strict=False)
    return model


def _search(model: Any, spec: Spec, search: Beam) -> Work:
    """A translation of a batch by a model."""

    def translate(batch: PairBatch) -> int:
        model.eval()
        with autocast(spec["training"]["precision"], batch.source.device):
            hypotheses = search.search(model, batch.source, batch.source_layout)
        return sum(len(tokens) + 1 for tokens in hypotheses.best())

    return translate
