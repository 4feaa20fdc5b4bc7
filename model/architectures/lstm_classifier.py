"""A recurrent binary classifier with one attention distribution (snell2021 section 2.4).

    h_1 .. h_T   states of a bidirectional LSTM      a_l   = v^T ReLU(Q h_l)
    gamma_l      = W^T h_l, the log-odds of l        alpha = normalizer(a)
    log-odds     = sum_l alpha_l gamma_l

Readings (from the counts of snell2021 appendix A.8): Q, v and W have biases, so gamma_l and a_l do.
Of texts of different lengths nothing is computed for padding (`model.kernels.packed_recurrence`).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from model.kernels.packed_recurrence import PackedOrder, read_packed
from model.kernels.recurrence import SymbolLSTM


class Classified(NamedTuple):
    """What the classifier says of texts.

    Attributes:
        logits: (B,), log-odds of the positive class.
        weights: alpha, (B, T), 0 at padding.
        log_odds: gamma, (B, T): the prediction if all attention were at one position.
    """

    logits: Tensor
    weights: Tensor
    log_odds: Tensor


class LSTMClassifier(nn.Module):
    """Bidirectional LSTM, attention and a linear output (snell2021 eq. 4, 5).

    Args:
        vocabulary_size: V.
        width: D, size of the embedding.
        hidden: H, of the LSTM in each direction and of the layer behind the attention.
        normalizer: from scores to weights (`model.normalizers`).
        embedding_std: standard deviation of the initial embedding.
        frozen_beta: whether all parameters but those of the attention stay as they are initialised
            (snell2021 appendix A.6), and with them gamma and beta.
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
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, width)
        nn.init.normal_(self.embedding.weight, std=embedding_std)
        self.rightward = SymbolLSTM(width, hidden)
        self.leftward = SymbolLSTM(width, hidden)
        self.query = nn.Linear(2 * hidden, hidden)
        self.score = nn.Linear(hidden, 1)
        self.output = nn.Linear(2 * hidden, 1)
        self.normalizer = normalizer
        if frozen_beta:
            for part in (self.embedding, self.rightward, self.leftward, self.output):
                part.requires_grad_(False)

    def forward(
        self, tokens: Tensor, real: Tensor | None = None, scale: Tensor | None = None
    ) -> Classified:
        """Classify texts.

        Args:
            tokens: (B, T), padding last.
            real: (B, T), false at padding; None for texts of one length, which are not packed.
            scale: (B, T) what to multiply each word's embedding with; 1 without it. For it texts
                are packed.
        """
        if real is None:
            h = self._states(tokens)
            log_odds, scores = self.output(h).squeeze(-1), self._scores(h)
        else:
            layout = PackedOrder.of(real)
            h = self._packed_states(tokens, layout, scale)
            log_odds = layout.pad(self.output(h).squeeze(-1), 0.0, real.shape)
            scores = layout.pad(self._scores(h), float("-inf"), real.shape)
        weights = self.normalizer(scores[:, None, None])[:, 0, 0]
        return Classified((weights * log_odds).sum(dim=1), weights, log_odds)

    def _scores(self, h: Tensor) -> Tensor:
        """a (...) of states (..., 2H)."""
        scores: Tensor = self.score(self.query(h).relu()).squeeze(-1)
        return scores

    def _states(self, tokens: Tensor) -> Tensor:
        """Both directions' states (B, T, 2H) of texts of one length."""
        # A product with the embedding of each word of the batch, not of the whole vocabulary.
        words, symbols = tokens.unique(return_inverse=True)
        table = self.embedding(words)
        right, _ = self.rightward(symbols.t(), table)
        left, _ = self.leftward(symbols.flip(1).t(), table)
        return torch.cat([right.transpose(0, 1), left.flip(0).transpose(0, 1)], dim=-1)

    def _packed_states(self, tokens: Tensor, layout: PackedOrder, scale: Tensor | None) -> Tensor:
        """Both directions' states (M, 2H) of the words of packed texts."""
        words, symbols = tokens[layout.rows, layout.positions].unique(return_inverse=True)
        table = self.embedding(words)
        if scale is not None:
            table = table[symbols] * scale[layout.rows, layout.positions][:, None]
            symbols = torch.arange(len(symbols), device=tokens.device)
        right = read_packed(self.rightward, symbols, table, layout.sizes)
        left = read_packed(self.leftward, symbols[layout.mirrored], table, layout.sizes)
        return torch.cat([right, left[layout.mirrored]], dim=-1)
