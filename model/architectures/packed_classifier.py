"""The recurrent classifier (004, section 2.4) for texts of different lengths."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from model.architectures.lstm_classifier import Classified, LSTMClassifier
from model.kernels.packed_recurrence import Layout, read_packed


class PackedClassifier(LSTMClassifier):
    """An `LSTMClassifier` that computes nothing for padding; the same function and parameters.

    Args:
        vocabulary_size: V.
        width: D, size of the embedding.
        hidden: H, of the LSTM in each direction and of the layer behind the attention.
        normalizer: from scores to weights (`model.normalizers`).
        embedding_std: standard deviation of the initial embedding.
        frozen_beta: whether all parameters but those of the attention stay as they are initialised
            (A.6), and with them gamma and beta.
    """

    def __init__(
        self,
        vocabulary_size: int,
        width: int,
        hidden: int,
        normalizer: nn.Module,
        embedding_std: float = 1.0,
        frozen_beta: bool = False,
    ) -> None:
        super().__init__(vocabulary_size, width, hidden, normalizer, embedding_std)
        if frozen_beta:
            for part in (self.embedding, self.rightward, self.leftward, self.output):
                part.requires_grad_(False)

    def forward(self, tokens: Tensor, real: Tensor, scale: Tensor | None = None) -> Classified:
        """Classify texts.

        Args:
            tokens: (B, T), padding last.
            real: (B, T), false at padding.
            scale: (B, T) what to multiply each word's embedding with; 1 without it.
        """
        layout = Layout.of(real)
        words, symbols = tokens[layout.rows, layout.positions].unique(return_inverse=True)
        table = self.embedding(words)
        if scale is not None:
            table = table[symbols] * scale[layout.rows, layout.positions][:, None]
            symbols = torch.arange(len(symbols), device=tokens.device)
        right = read_packed(self.rightward, symbols, table, layout.sizes)
        left = read_packed(self.leftward, symbols[layout.mirrored], table, layout.sizes)
        h = torch.cat([right, left[layout.mirrored]], dim=-1)
        log_odds = layout.pad(self.output(h).squeeze(-1), 0.0, real.shape)
        scores = self.score(self.query(h).relu()).squeeze(-1)
        scores = layout.pad(scores, float("-inf"), real.shape)
        weights = self.normalizer(scores[:, None, None])[:, 0, 0]
        return Classified((weights * log_odds).sum(dim=1), weights, log_odds)
