"""Text classification from the state at <cls> (kinley2020 section 5.3)."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor, nn

from model.layers.attention import padding_mask


class Prediction(NamedTuple):
    """Class scores and the attention behind them.

    Attributes:
        logits: (B, C).
        weights: for each layer (B, H, T, T); position 0 is <cls>.
    """

    logits: Tensor
    weights: list[Tensor]


class Classifier(nn.Module):
    """An encoder and a linear layer on its state at position 0, where <cls> stands.

    The layer starts as PyTorch draws it, weights and biases uniform within D^-.5. What the authors'
    code has instead is in `model.architectures.released_classifier`.

    Args:
        encoder: a `Transformer`, or any module with its `forward` and `width`.
        classes: C.
    """

    def __init__(self, encoder: nn.Module, classes: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.output = nn.Linear(encoder.width, classes)  # type: ignore[arg-type]

    def forward(
        self,
        tokens: Tensor,
        real: Tensor,
        h0: Tensor | None = None,
        routing: list[Tensor] | None = None,
        need_weights: bool = True,
    ) -> Prediction:
        """Classify.

        Args:
            tokens: (B, T), <cls> first.
            real: (B, T), true at real tokens, false at padding.
            h0: embedded tokens (B, T, D) in place of the model stream's own embedding.
            routing: weights (B, H, T, T) of every layer to hold fixed.
            need_weights: whether the weights are wanted.
        """
        encoded = self.encoder(tokens, padding_mask(real), h0, routing, need_weights)
        return Prediction(self.output(encoded.state[:, 0]), encoded.weights)
