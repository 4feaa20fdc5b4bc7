"""Does the lexical probe point at the words that are known to decide (column `salient`)?"""

from __future__ import annotations

import numpy as np

from model.batches.corpus import Split
from model.probes.checkpoint_ranks import Record, SplitRecord
from model.probes.measure import Measured, Subject, scalar


def salient_probe(
    subject: Subject,
    record: Record | None = None,
    uniform: Record | None = None,
    metric: str = "accuracy",
) -> Measured:
    """How often the highest position is a salient word.

    Attention is read at its run's best checkpoint, the lexical probe at the one where it hits most
    often: under uniform attention it does at first, and then less and less (snell2021 section 6.1).

    Args:
        subject: the run; only its corpus counts.
        record: of a run that learns to attend.
        uniform: of a run with uniform attention.
        metric: by which the checkpoint is best.

    Returns:
        Shares of development texts: `alpha_hit` of attention, `beta_hit` and `uniform_hit` of the
        lexical probe of either model, and `chance`, the share of salient positions.
    """
    split = subject.corpus.split("dev")
    hits: dict[str, float | None] = dict.fromkeys(("alpha_hit", "beta_hit", "uniform_hit"))
    if record is not None:
        own = record.splits["dev"]
        hits["alpha_hit"] = _hits(split, own, "alpha", own.best(metric))
        hits["beta_hit"] = _most(split, record)
    if uniform is not None:
        hits["uniform_hit"] = _most(split, uniform)
    scalars = {name: scalar(share, "fraction", n=len(split)) for name, share in hits.items()}
    chance = [_salient(split, n).mean() for n in range(len(split))]
    scalars["chance"] = scalar(float(np.mean(chance)), "fraction", n=len(split))
    return Measured(scalars, {})


def _salient(split: Split, example: int) -> np.ndarray:
    """Which positions (L + 2,) of a text with <bos> at both ends are salient."""
    own = slice(split.offsets[example], split.offsets[example + 1])
    return np.pad(np.asarray(split.columns["salient"][own], dtype=bool), 1)


def _hits(split: Split, record: SplitRecord, quantity: str, at: int) -> float:
    """The share of rows whose highest position is salient."""
    rows = record.rows(quantity, at)
    hits = [
        _salient(split, int(example))[rows[n, : record.lengths[n]].argmax()]
        for n, example in enumerate(record.examples)
    ]
    return float(np.mean(hits))


def _most(split: Split, record: Record) -> float:
    """The highest share along training of rows whose highest beta is salient."""
    dev = record.splits["dev"]
    return max(_hits(split, dev, "beta", at) for at in range(len(record.steps)))
