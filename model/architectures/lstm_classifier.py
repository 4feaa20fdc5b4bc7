"""A recurrent binary classifier with one attention distribution (004, section 2.4).

    h_1 .. h_T   states of a bidirectional LSTM      a_l   = v^T ReLU(Q h_l)
    gamma_l      = W^T h_l, the log-odds of l        alpha = normalizer(a)
    log-odds     = sum_l alpha_l gamma_l

Readings (from the parameter count of A.8): Q, v and W have biases, so that gamma_l and a_l do.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

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
    """Bidirectional LSTM, attention and a linear output.

    Args:
        vocabulary_size: V.
        width: D, size of the embedding.
        hidden: H, of the LSTM in each direction and of the layer behind the attention.
        normalizer: from scores to weights (`model.normalizers`).
        embedding_std: standard deviation of the initial embedding.
    """

    def __init__(
        self,
        vocabulary_size: int,
        width: int,
        hidden: int,
        normalizer: nn.Module,
        embedding_std: float = 1.0,
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

    def forward(self, tokens: Tensor, real: Tensor) -> Classified:
        """Classify texts.

        Args:
            tokens: (B, T), padding last.
            real: (B, T), false at padding.
        """
        h = self._states(tokens, real)
        log_odds = self.output(h).squeeze(-1)
        scores = self.score(self.query(h).relu()).squeeze(-1)
        scores = scores.masked_fill(~real, float("-inf"))
        weights = self.normalizer(scores[:, None, None])[:, 0, 0]
        return Classified((weights * log_odds).sum(dim=1), weights, log_odds)

    def _states(self, tokens: Tensor, real: Tensor) -> Tensor:
        """Both directions' states (B, T, 2H); those at padding mean nothing."""
        # A product with the embedding of each word of the batch, not of the whole vocabulary.
        words, places = tokens.unique(return_inverse=True)
        table = self.embedding(words)
        position = torch.arange(tokens.shape[1], device=tokens.device)
        mirrored = real.sum(dim=1, keepdim=True) - 1 - position
        mirrored = torch.where(mirrored < 0, position, mirrored)
        right, _ = self.rightward(places.t(), table)
        left, _ = self.leftward(places.gather(1, mirrored).t(), table)
        left = left.transpose(0, 1)
        left = left.gather(1, mirrored[..., None].expand_as(left))
        return torch.cat([right.transpose(0, 1), left], dim=-1)
