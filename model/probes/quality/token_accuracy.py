"""How many words of the references a translator names, each given those before it."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from model.batches.pairs import pairs_in_order
from model.objectives.translation import Translation
from model.probes.measure import Measured, Subject, scalar
from model.training.evaluation import evaluate


def token_accuracy(subject: Subject, split: str = "test", tokens: int = 4096) -> Measured:
    """Token accuracy (snell2021 section 3.1): is the most probable word the right one?

    Args:
        subject: a trained translator and its data.
        split: which pairs; their target's <eos> is one of its words.
        tokens: most tokens of a batch, on the longer side.

    Returns:
        Scalars `accuracy` (%) and `nll` (nats), per target token.
    """
    pairs = subject.corpus.split(split)
    batches = pairs_in_order(pairs, tokens, subject.device)
    objective: Any = Translation(0.0)
    metrics = evaluate(subject.model, objective, batches, nullcontext())
    words = int((pairs.lengths - pairs.columns["source"]).sum())
    return Measured(
        {
            "accuracy": scalar(metrics["accuracy"], "%", n=words),
            "nll": scalar(metrics["nll"], "nats", n=words),
        },
        {},
    )
