"""A decoder-only language model, and its objective with the sparsity regulariser (003, 5.1)."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor, nn
from torch.nn import functional as F

from model.attention import causal_mask
from model.batching import PAD, Batch
from model.loss import Loss
from model.receptive_field import mean_field_size, receptive_field


class NextSymbol(NamedTuple):
    """Predictions of the next symbol and the attention behind them.

    Attributes:
        logits: (B, T, V); row i predicts symbol i + 1.
        weights: for each layer (B, H, T, T); position 0 is BOS.
    """

    logits: Tensor
    weights: list[Tensor]


class LanguageModel(nn.Module):
    """A causal stack and a linear layer to the vocabulary.

    Args:
        vocabulary_size: V.
        decoder: a `Transformer`, or any module with its `forward` and `width`.
    """

    def __init__(self, vocabulary_size: int, decoder: nn.Module) -> None:
        super().__init__()
        self.decoder = decoder
        self.output = nn.Linear(decoder.width, vocabulary_size)  # type: ignore[arg-type]
        nn.init.xavier_uniform_(self.output.weight)

    def forward(
        self,
        tokens: Tensor,
        real: Tensor,
        h0: Tensor | None = None,
        routing: list[Tensor] | None = None,
        need_weights: bool = True,
    ) -> NextSymbol:
        """Predict the symbol after every position.

        Args:
            tokens: (B, T), BOS first.
            real: (B, T); padding stands at the end, where the causal mask hides it, so this only
                serves the interface shared with classifiers.
            h0: embedded tokens (B, T, D) in place of the model stream's own embedding.
            routing: weights (B, H, T, T) of every layer to hold fixed.
            need_weights: whether the weights are wanted.
        """
        mask = causal_mask(tokens.shape[1], tokens.device)
        encoded = self.decoder(tokens, mask, h0, routing, need_weights)
        return NextSymbol(self.output(encoded.state), encoded.weights)


class LanguageModelling:
    """Negative log-likelihood per token, plus lambda times the mean field size.

    Args:
        sparsity: lambda; 0 leaves the regulariser out.
        ramp_epochs: lambda grows linearly from 0 over these epochs. At full strength from the
            first step every query collapses onto one position.
        union: how fields are united, see `model.receptive_field`.

    Raises:
        ValueError: a negative lambda or ramp.
    """

    def __init__(self, sparsity: float = 0.0, ramp_epochs: float = 0.0, union: str = "min") -> None:
        if sparsity < 0 or ramp_epochs < 0:
            raise ValueError(
                f"sparsity and ramp_epochs must not be negative: {sparsity}, {ramp_epochs}."
            )
        self.sparsity = sparsity
        self.ramp_epochs = ramp_epochs
        self.union = union

    def loss(self, model: LanguageModel, batch: Batch, epoch: float) -> Loss:
        """Loss of a batch of sequences; metrics `loss` (nats per token) and `field_size`."""
        inputs, targets = batch.tokens[:, :-1], batch.tokens[:, 1:]
        predicted = model(inputs, batch.real[:, :-1], need_weights=self.sparsity > 0)
        nll = F.cross_entropy(
            predicted.logits.flatten(0, 1).float(), targets.flatten(), ignore_index=PAD
        )
        units = targets.numel() - batch.padding
        sums = {"loss": nll.detach() * units}
        if not self.sparsity:
            return Loss(nll, units, sums)
        field = receptive_field(predicted.weights, self.union)
        size = mean_field_size(field, batch.real[:, :-1])
        sums["field_size"] = size.detach() * units
        return Loss(nll + self.strength(epoch) * size, units, sums)

    def strength(self, epoch: float) -> float:
        """lambda after so many epochs."""
        return self.sparsity * (min(1.0, epoch / self.ramp_epochs) if self.ramp_epochs else 1.0)
