"""Translation with roles as an objective; for one role a token, with a temperature that falls."""

from __future__ import annotations

import math

from model.architectures.translation.with_roles import RoleEncoderDecoder, check_window
from model.batches.corpus import Split
from model.batches.pairs import PairBatch, PairSampler, pairs_in_order
from model.normalizers.gumbel import Gumbel
from model.objectives.loss import Loss
from model.objectives.translation import Translation


class RoleTranslation:
    """`Translation` of a model with roles.

    The discrete assignment is trained from a model with the softmax assignment, by the
    Gumbel-softmax, whose temperature falls by a factor with each update
    (weissenborn2019 section 4).

    Args:
        smoothing: the probability that is spread over the vocabulary.
        temperature: before the first update, of a model whose assignment is `Gumbel`; None leaves
            it as it is.
        decay: what it is multiplied with after each update.
        lowest: what it does not fall below.

    Attributes:
        in_order: how the training loop is to go through a split.

    Raises:
        ValueError: a temperature that does not fall, or is not positive in the end.
    """

    in_order = staticmethod(pairs_in_order)

    def __init__(
        self,
        smoothing: float = 0.1,
        temperature: float | None = None,
        decay: float = 0.9995,
        lowest: float = 0.5,
    ) -> None:
        if temperature is not None and not (0 < lowest <= temperature and 0 < decay <= 1):
            raise ValueError(
                f"temperature must fall to a positive lowest one by a decay of at most 1, not from "
                f"{temperature} to {lowest} by {decay}."
            )
        self.translation = Translation(smoothing)
        self.temperature, self.decay, self.lowest = temperature, decay, lowest
        self.updates_per_epoch, self.longest = 0, math.inf

    def sampler(self, split: Split, batch: dict[str, int], seed: int) -> PairSampler:
        """How the training loop is to draw batches of pairs; see `PairSampler`."""
        sampler = PairSampler(split, batch, seed)
        self.updates_per_epoch = sampler.updates_per_epoch
        self.longest = float(sampler.lengths.max(axis=0).min())
        return sampler

    def loss(self, model: RoleEncoderDecoder, batch: PairBatch, epoch: float) -> Loss:
        """Loss of a batch of pairs, see `Translation`.

        Raises:
            ValueError: a model without roles; a convolution that is wider than the longest sentence
                of a side of the training split; a temperature for a model without the
                Gumbel-softmax.
        """
        if not isinstance(model, RoleEncoderDecoder):
            raise ValueError(
                f"objective: RoleTranslation trains a RoleEncoderDecoder, not a "
                f"{type(model).__name__}: take model.objectives.translation:Translation."
            )
        window = model.roles.window
        if window is not None and window > self.longest:
            check_window(window, int(self.longest), "the training split's has")
        if self.temperature is not None and model.training:
            updates = round(epoch * self.updates_per_epoch)
            _set(model, max(self.lowest, self.temperature * self.decay**updates))
        return self.translation.loss(model, batch, epoch)


def _set(model: RoleEncoderDecoder, temperature: float) -> None:
    """Set the temperature of both sides' assignments."""
    for layer in (model.source_roles, model.target_roles):
        if not isinstance(layer.assignment, Gumbel):
            raise ValueError(
                "objective.temperature is of the Gumbel-softmax: set model.roles.assignment to "
                "model.normalizers.gumbel:Gumbel."
            )
        layer.assignment.temperature = temperature
