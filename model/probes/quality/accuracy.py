"""Accuracy of a classifier."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from model.probes.measure import Measured, Subject, scalar


def accuracy(subject: Subject, tokens: int = 4096) -> Measured:
    """Accuracy (%) and cross-entropy (nats) on the test split."""
    right, loss, count = 0, 0.0, 0
    for batch in subject.batches(tokens):
        with torch.no_grad():
            logits = subject.model(batch.tokens, batch.real, need_weights=False).logits
        labels = batch.columns["label"]
        right += int((logits.argmax(dim=-1) == labels).sum())
        loss += float(F.cross_entropy(logits.double(), labels, reduction="sum"))
        count += len(labels)
    return Measured(
        {
            "accuracy": scalar(100 * right / count, "%", n=count),
            "loss": scalar(loss / count, "nats", n=count),
        },
        {},
    )
