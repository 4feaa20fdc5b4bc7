"""The record of a run (`checkpoint_ranks`): each of its checkpoints in one batched pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from model.batches.corpus import Split
from model.probes.checkpoint_ranks import Record, SplitRecord, ranks
from model.probes.measure import Subject
from model.training.checkpointer import Weights

DRAWN = 0
"""Seed by which a part of a split is drawn: the same part for every run of a corpus."""


class CheckpointValues(NamedTuple):
    """What a checkpoint says of some examples; a row is an output word.

    Attributes:
        alpha: (N, L) attention, anything behind a row's length.
        beta: (N, L) the lexical probe, as log-odds or logits: probabilities saturate, and ties in
            them count as agreement.
        lengths: (N,).
        examples: (N,) the example that each row belongs to, rows of one example side by side.
        performance: by metric.
    """

    alpha: np.ndarray
    beta: np.ndarray
    lengths: np.ndarray
    examples: np.ndarray
    performance: Mapping[str, float]


Probe = Callable[[Subject, Split, np.ndarray], CheckpointValues]
"""From a model, a split and the numbers of some of its examples to what it says of them."""
Importance = Callable[[Subject, Split, np.ndarray], np.ndarray]
"""From the same to Delta (N, L), in the same rows."""


def learning_record(
    subject: Subject,
    checkpoints: Mapping[int, Callable[[], Weights]],
    values: Probe,
    importance: Importance | None = None,
    dev: int | None = None,
    train: int | None = None,
) -> Record:
    """Record what every checkpoint says of the development split, and of a part of the training's.

    Args:
        subject: the run; its model is given other weights.
        checkpoints: by update, what loads the weights.
        values: probes a checkpoint.
        importance: probes the checkpoints that are best on their split by one of the metrics.
        dev: most development examples, drawn at random; all of them without a number.
        train: likewise of the training split, none without a number.

    Raises:
        ValueError: there is no checkpoint.
    """
    if not checkpoints:
        raise ValueError("a record needs a checkpoint, and the run kept none.")
    wanted = {"dev": dev} if train is None else {"dev": dev, "train": train}
    splits = {name: subject.corpus.split(name) for name in wanted}
    chosen = {name: part(splits[name], most) for name, most in wanted.items()}
    steps = sorted(checkpoints)
    along: dict[str, list[CheckpointValues]] = {name: [] for name in splits}
    for step in steps:
        subject.model.load_state_dict(checkpoints[step]())
        for name, split in splits.items():
            one = values(subject, split, chosen[name])
            alpha, beta = (ranks(of, one.lengths) for of in (one.alpha, one.beta))
            along[name].append(one._replace(alpha=alpha, beta=beta))
    records = {}
    for name, split in splits.items():
        record = _split_record(along[name])
        if importance is not None:
            places = sorted({record.best(metric) for metric in record.performance})
            deltas = []
            for at in places:
                subject.model.load_state_dict(checkpoints[steps[at]]())
                deltas.append(ranks(importance(subject, split, chosen[name]), record.lengths))
            record = replace(
                record,
                ranks={**record.ranks, "delta": np.stack(deltas)},
                important=np.array(places, np.int64),
            )
        records[name] = record
    return Record(np.array(steps), records)


def part(split: Split, most: int | None) -> np.ndarray:
    """The numbers of a split's examples, or of so many drawn at random, rising."""
    count = len(split)
    if most is None or most >= count:
        return np.arange(count)
    drawn: np.ndarray = np.random.default_rng(DRAWN).choice(count, most, replace=False)
    return np.sort(drawn)


def _split_record(values: list[CheckpointValues]) -> SplitRecord:
    stacked = {
        "alpha": np.stack([one.alpha for one in values]),
        "beta": np.stack([one.beta for one in values]),
    }
    performance = {m: np.array([v.performance[m] for v in values]) for m in values[0].performance}
    nowhere = np.array([], np.int64)
    return SplitRecord(values[0].lengths, values[0].examples, stacked, performance, nowhere)
