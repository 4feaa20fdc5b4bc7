"""How a classifier of texts is trained (kinley2020 section 5.3, snell2021 section 2.4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from model.architectures.classifier import Classifier
from model.batches.batching import BOS, Batch
from model.batches.shortening import shortened
from model.objectives.loss import Loss


class BinaryClassification:
    """Binary cross-entropy of a text's label, averaged over the texts of a batch."""

    def loss(self, model: Any, batch: Batch, epoch: float) -> Loss:
        """Loss of a batch with the column `label`; metrics `loss` (nats) and `accuracy` (%).

        The model maps words and where they are real to something with `logits`, log-odds of
        label 1.
        """
        labels = batch.columns["label"]
        logits = model(*framed(batch)).logits
        loss = F.binary_cross_entropy_with_logits(logits.float(), labels.float())
        units = len(labels)
        with torch.no_grad():
            right = ((logits > 0) == labels.bool()).sum()
        return Loss(loss, units, {"loss": loss.detach() * units, "accuracy": 100.0 * right})


def framed(batch: Batch) -> tuple[Tensor, Tensor]:
    """The texts of a batch with <bos> at both ends: tokens (B, T + 2), and where they are real.

    The random agreements that the paper prints (SST: 8.39 % in validation, 8.48 % in training) are
    those of texts with two symbols more than words.
    """
    end = batch.real.sum(dim=1, keepdim=True)
    tokens = F.pad(batch.tokens, (0, 1)).scatter(1, end, BOS)
    return tokens, F.pad(batch.real, (1, 0), value=True)


class Classification:
    """Cross-entropy of the class, averaged over the examples of a batch."""

    def loss(self, model: Classifier, batch: Batch, epoch: float) -> Loss:
        """Loss of a batch with the column `label`; metrics `loss` (nats) and `accuracy` (%)."""
        logits = model(batch.tokens, batch.real, need_weights=False).logits
        labels = batch.columns["label"]
        loss = F.cross_entropy(logits.float(), labels)
        with torch.no_grad():
            right = (logits.argmax(dim=-1) == labels).sum()
        units = len(labels)
        return Loss(loss, units, {"loss": loss.detach() * units, "accuracy": 100.0 * right})


class ClassificationOfParts(Classification):
    """Classification of texts of which words are left out at random.

    Half of the texts stay whole; of each other text every word is left out with a probability that
    is drawn from [0, 1) for the text. So a text with holes is one that the model was trained on,
    and what it loses by deletion is not for being unlike all texts (Hase, Xie and Bansal 2021).
    """

    def loss(self, model: Classifier, batch: Batch, epoch: float) -> Loss:
        """As `Classification`; on whole texts where the model isn't being trained."""
        if model.training:
            share = torch.rand(len(batch.tokens), 1) * torch.randint(2, (len(batch.tokens), 1))
            kept = (torch.rand(batch.tokens.shape) >= share) & batch.real.cpu()
            kept[:, 0] = True
            tokens, real = shortened(batch, kept.numpy())
            batch = replace(batch, tokens=tokens, real=real)
        return super().loss(model, batch, epoch)
