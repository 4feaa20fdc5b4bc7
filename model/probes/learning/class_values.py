"""What a classifier says of texts: attention, the lexical probe and importance
(snell2021 section 2.4, 5.1)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from model.batches.batching import Batch, collate, plan_batches
from model.batches.corpus import Split
from model.objectives.classification import framed
from model.probes.learning.learning_record import CheckpointValues
from model.probes.measure import Subject


def class_values(
    subject: Subject, split: Split, examples: np.ndarray, tokens: int = 16384
) -> CheckpointValues:
    """Attention, the lexical probe and the accuracy (%) of a checkpoint.

    beta_l = sigma((2y - 1) gamma_l) (snell2021 eq. 6), of which the log-odds (2y - 1) gamma_l are
    given.

    Args:
        subject: a model whose prediction is a `Classified`.
        split: with the column `label`.
        examples: (N,) numbers of its examples; a row each.
        tokens: most tokens in a batch.
    """
    lengths = split.lengths[examples] + 2
    alpha, beta = (np.zeros((len(examples), lengths.max()), np.float32) for _ in range(2))
    right = 0
    for rows, batch, toward in _batches(subject, split, examples, tokens):
        with torch.no_grad():
            logits, weights, log_odds = subject.model(*framed(batch))
        width = weights.shape[1]
        alpha[rows, :width] = weights.cpu()
        beta[rows, :width] = (toward[:, None] * log_odds).cpu()
        right += int(((logits > 0) == (toward > 0)).sum())
    accuracy = 100 * right / len(examples)
    return CheckpointValues(alpha, beta, lengths, examples, {"accuracy": accuracy})


def class_importance(
    subject: Subject, split: Split, examples: np.ndarray, tokens: int = 4096
) -> np.ndarray:
    """Delta (N, L): the gradient by a factor on each word's embedding, at the factor 1.

    Of the log-odds of the right class: their gradient is that of log p(right) divided by
    1 - p(right), which is the same for all words of a text and does not vanish where p saturates.
    A word that speaks for the right class has a positive Delta, as the text has it. The released
    code negates it: what it saves is the gradient of -log p(right), whose sign it turns twice.

    Args:
        subject: a model that takes such factors.
        split: with the column `label`.
        examples: (N,) numbers of its examples; a row each.
        tokens: most tokens in a batch.
    """
    delta = np.zeros((len(examples), int(split.lengths[examples].max()) + 2), np.float32)
    for rows, batch, toward in _batches(subject, split, examples, tokens):
        words, real = framed(batch)
        scale = torch.ones(real.shape, device=subject.device, requires_grad=True)
        # cuDNN has no derivative of a recurrence that is not in training.
        with torch.backends.cudnn.flags(enabled=False):
            logits = subject.model(words, real, scale).logits
        (gradient,) = torch.autograd.grad((toward * logits).sum(), scale)
        delta[rows, : gradient.shape[1]] = gradient.cpu()
    return delta


def _batches(
    subject: Subject, split: Split, examples: np.ndarray, tokens: int
) -> Iterator[tuple[np.ndarray, Batch, Tensor]]:
    """Rows, batch and the sign of the right class, texts of similar lengths together."""
    lengths = split.lengths[examples] + 2
    for rows in plan_batches(lengths, np.argsort(lengths, kind="stable"), {"tokens": tokens}):
        batch = collate(split, examples[rows]).to(subject.device)
        yield rows, batch, 2.0 * batch.columns["label"] - 1
