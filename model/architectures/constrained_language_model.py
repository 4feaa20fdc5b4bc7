"""A language model that is trained under a constraint, with what training carries along for it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from model.architectures.language_model import LanguageModel


class ConstrainedLanguageModel(LanguageModel):
    """`LanguageModel` with the state of its constraint, see `model.objectives.fewest_edges`.

    Args:
        vocabulary_size: V.
        decoder: see `LanguageModel`.

    Attributes:
        excess: moving average of the loss less its bound, nats per token.
        pressure: log of the weight of what is minimised under the constraint.
    """

    excess: Tensor
    pressure: Tensor

    def __init__(self, vocabulary_size: int, decoder: nn.Module) -> None:
        super().__init__(vocabulary_size, decoder)
        self.register_buffer("excess", torch.zeros(()))
        self.register_buffer("pressure", torch.zeros(()))
