"""Language modelling, with a penalty on receptive fields where one is asked for."""

from __future__ import annotations

from torch.nn import functional as F

from model.architectures.language_model import LanguageModel
from model.batches.batching import PAD, Batch
from model.layers.receptive_field import mean_field_size, receptive_field
from model.objectives.loss import Loss


class LanguageModelling:
    """Negative log-likelihood per token, plus lambda times the mean field size.

    Args:
        sparsity: lambda; 0 leaves the regulariser out.
        ramp_epochs: lambda grows linearly from 0 over these epochs. At full strength from the
            first step every query collapses onto one position.
        union: how fields are united, see `model.layers.receptive_field`.

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
