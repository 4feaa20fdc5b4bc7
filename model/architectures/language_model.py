"""A decoder-only language model, and its objective with the sparsity regulariser
(discrete2020 section 5.1)."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor, nn

from model.layers.attention import causal_mask


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
