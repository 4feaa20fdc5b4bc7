"""Translation as an objective: label-smoothed cross-entropy per target token."""

from __future__ import annotations

from torch import Tensor

from model.architectures.translation.translator import Translator
from model.batches.pairs import PairBatch, PairSampler, pairs_in_order
from model.kernels.smoothed_loss import smoothed_loss
from model.objectives.loss import Loss


class Translation:
    """Label-smoothed cross-entropy (Szegedy et al. 2016; Vaswani et al. 2017), teacher-forced.

    Without smoothing it is that of weissenborn2019 eq. 3 and snell2021 eq. 2, per token.

    Args:
        smoothing: the probability that is spread over the vocabulary.

    Attributes:
        sampler: how the training loop is to draw batches of pairs.
        in_order: how it is to go through a split.

    Raises:
        ValueError: it is not in [0, 1).
    """

    sampler = PairSampler
    in_order = staticmethod(pairs_in_order)

    def __init__(self, smoothing: float = 0.1) -> None:
        if not 0 <= smoothing < 1:
            raise ValueError(f"smoothing must be at least 0 and below 1, not {smoothing}.")
        self.smoothing = smoothing

    def loss(self, model: Translator, batch: PairBatch, epoch: float) -> Loss:
        """Loss of a batch of pairs per target token, EOS included.

        Metrics: `loss` (nats, smoothed), `nll` (nats) and `accuracy` (% of the tokens).
        """
        states = model(batch.source, batch.source_layout, batch.tokens[:, :-1], batch.layout).states
        targets = batch.layout.pack(batch.tokens[:, 1:])
        return self.loss_of(states, model.output_weight, targets)

    def loss_of(self, states: Tensor, weight: Tensor, targets: Tensor) -> Loss:
        """Loss of states (N, D) that predict the targets (N,) by an output layer (V, D)."""
        loss, nll, right = smoothed_loss(states, weight, targets, self.smoothing)
        sums = {"loss": loss.detach(), "nll": nll, "accuracy": 100.0 * right}
        return Loss(loss / len(targets), len(targets), sums)
