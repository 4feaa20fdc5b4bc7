"""Finding a keyword, and what each position says of it on the way (snell2021 section 6.1)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from model.architectures.lstm_classifier import Classified, LSTMClassifier
from model.batches.batching import Batch
from model.objectives.loss import Loss

PLACES = ("keyword", "next", "mean", "last", "first")
"""Where log-odds are read: l*, l* + 1, all positions, L and 1."""


class KeywordToy:
    """Binary cross-entropy of whether a sequence holds the keyword."""

    def loss(self, model: LSTMClassifier, batch: Batch, epoch: float) -> Loss:
        """Loss of a batch with the columns `label` and `keyword` (1 at the keyword).

        Metrics: `loss` (nats), `accuracy` (%), `located`, the share of sequences that `places`
        takes, and for each of `PLACES` the log-odds there, 0 for the other sequences: divided by
        `located` it is their mean.
        """
        labels = batch.columns["label"].float()
        logits, _, log_odds = classified(model, batch)
        loss = F.binary_cross_entropy_with_logits(logits.float(), labels)
        units = len(labels)
        with torch.no_grad():
            right = ((logits > 0) == labels.bool()).sum()
            read = places(log_odds.float(), batch.columns["keyword"][:, 1:], batch.real[:, 1:])
            sums = {"loss": loss * units, "accuracy": 100.0 * right}
            sums["located"] = torch.tensor(float(len(read["keyword"])), device=loss.device)
            sums |= {name: values.sum() for name, values in read.items()}
        return Loss(loss, units, sums)


def classified(model: LSTMClassifier, batch: Batch) -> Classified:
    """What the model says of the sequences of a batch, which are mostly of one length."""
    real = batch.real[:, 1:] if batch.padding else None
    prediction: Classified = model(batch.tokens[:, 1:], real)
    return prediction


def places(log_odds: Tensor, keyword: Tensor, real: Tensor) -> dict[str, Tensor]:
    """The log-odds at the keyword and elsewhere (snell2021 eq. 19, 20, 21).

    A bidirectional LSTM is its own mirror image, so the first position can play the last one's
    part and is read too. Sequences without the keyword, or with it in the last place, where no
    position is next, are left out.

    Args:
        log_odds: gamma (B, T).
        keyword: (B, T), 1 at the keyword.
        real: (B, T), false at padding.

    Returns:
        By `PLACES`, the value in each of the N sequences that are left, (N,).
    """
    last = real.sum(dim=1) - 1
    at = keyword.argmax(dim=1)
    located = keyword.any(dim=1) & (at < last)
    gamma, real, at, last = (part[located] for part in (log_odds, real, at, last))
    row = torch.arange(len(gamma), device=gamma.device)
    mean = (gamma * real).sum(dim=1) / real.sum(dim=1)
    values = (gamma[row, at], gamma[row, at + 1], mean, gamma[row, last], gamma[:, 0])
    return dict(zip(PLACES, values, strict=True))
