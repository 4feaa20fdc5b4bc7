"""A language model as a classifier of the symbol that follows the beginning of a sequence."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from model.architectures.classifier import Prediction
from model.architectures.language_model import LanguageModel
from model.batches.batching import PAD, Batch


class NextSymbolClassifier(nn.Module):
    """The symbols are the classes; the state at the last real token predicts which one follows.

    Its `forward` is that of a `Classifier`, and its `encoder` the language model's decoder.
    """

    def __init__(self, model: LanguageModel) -> None:
        super().__init__()
        self.model, self.encoder = model, model.decoder

    def forward(
        self,
        tokens: Tensor,
        real: Tensor,
        h0: Tensor | None = None,
        routing: list[Tensor] | None = None,
        need_weights: bool = True,
    ) -> Prediction:
        """Logits (B, V) of the symbol after each of the texts (B, T), BOS first, and weights."""
        logits, weights = self.model(tokens, real, h0, routing, need_weights)
        return Prediction(at_predicting(self, real, logits), weights)


def as_classifier(model: nn.Module) -> nn.Module:
    """The model, or what a language model is as a classifier."""
    return NextSymbolClassifier(model) if isinstance(model, LanguageModel) else model


def predicting(model: nn.Module, real: Tensor) -> Tensor:
    """The positions (B,) of the states that predict: <cls>, or the last real (B, T) token."""
    last = real.sum(dim=1) - 1
    return last if isinstance(model, NextSymbolClassifier) else torch.zeros_like(last)


def at_predicting(model: nn.Module, real: Tensor, values: Tensor) -> Tensor:
    """Of values (B, T, ...) those at `predicting`, (B, ...)."""
    return values[torch.arange(len(real), device=real.device), predicting(model, real)]


def beginnings(model: nn.Module, lengths: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Up to where (N,) texts of so many tokens, BOS counted, are given to a model.

    A classifier reads all. A language model has the symbol after the beginning to predict, which
    has at least two symbols.
    """
    if not isinstance(model, NextSymbolClassifier):
        return lengths
    return np.minimum(random.integers(3, np.maximum(lengths, 4)), lengths)


def cut(batch: Batch, lengths: np.ndarray) -> Batch:
    """The first so many tokens (B,), BOS counted, of every text."""
    width = int(lengths.max())
    stays = torch.from_numpy(np.arange(width) < lengths[:, None]).to(batch.real.device)
    real = batch.real[:, :width] & stays
    tokens = batch.tokens[:, :width].masked_fill(~real, PAD)
    return Batch(tokens, real, {}, batch.examples, int((~real).sum()))
