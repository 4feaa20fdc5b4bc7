"""Copying a sequence, symbol by symbol."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from model.architectures.copying import Copied, CopyingModel
from model.batches.batching import Batch
from model.objectives.loss import Loss


class Copying:
    """Cross-entropy of the copy, averaged over its symbols."""

    def loss(self, model: CopyingModel, batch: Batch, epoch: float) -> Loss:
        """Loss of a batch of sequences, each closed by the end symbol.

        Metrics: `loss` (nats per symbol), `accuracy` (%) and `attention`, the weight on the
        position to copy from. Accuracy and attention leave out the end symbol, which stands
        wherever the source ends.

        Raises:
            ValueError: the sequences have different lengths.
        """
        if batch.padding:
            raise ValueError("copying takes sequences of one length; give the corpus a length.")
        source = batch.tokens[:, 1:]
        logits, weights = model(source, batch.tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1).float(), source.flatten())
        units = len(source)
        with torch.no_grad():
            right, attention = copied(Copied(logits, weights), source)
            means = {"loss": loss, "accuracy": 100 * right.mean(), "attention": attention.mean()}
            sums = {name: value * units for name, value in means.items()}
        return Loss(loss, units, sums)


def copied(prediction: Copied, source: Tensor) -> tuple[Tensor, Tensor]:
    """Whether each symbol before the end is copied, and the weight on it: two of (B, T - 1)."""
    right = (prediction.logits.argmax(dim=-1) == source)[:, :-1]
    attention = prediction.weights.diagonal(dim1=1, dim2=2)[:, :-1]
    return right.float(), attention.float()
