"""Likelihood of a language model beside the entropy of the process that made its data."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from model.batches.batching import PAD
from model.probes.measure import Measured, Subject, scalar


def language_modelling(subject: Subject, tokens: int = 4096) -> Measured:
    """Negative log-likelihood per token of the test split, and its excess over the exact floor.

    The floor is the corpus statistic `entropy_floor`: what a model that knows the generator would
    reach on average. All in nats per token.
    """
    total, count = 0.0, 0
    for batch in subject.batches(tokens):
        with torch.no_grad():
            logits = subject.model(batch.tokens[:, :-1], batch.real[:, :-1]).logits
        targets = batch.tokens[:, 1:].flatten()
        total += float(
            F.cross_entropy(
                logits.flatten(0, 1).double(), targets, ignore_index=PAD, reduction="sum"
            )
        )
        count += targets.numel() - batch.padding
    nll, floor = total / count, float(subject.corpus.manifest["statistics"]["entropy_floor"])
    return Measured(
        {
            "nll": scalar(nll, "nats/token", n=count),
            "floor": scalar(floor, "nats/token"),
            "excess": scalar(nll - floor, "nats/token"),
        },
        {},
    )
