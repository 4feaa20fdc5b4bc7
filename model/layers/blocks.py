"""What every architecture is made of: embedding, feed-forward part, residual connection."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from model.kernels.dropout import Dropout


class Embedding(nn.Module):
    """Token embeddings, N(0, d^-0.5) times sqrt(d), plus positions; learned ones likewise.

    Positions are counted from 0; fairseq's from 2, behind the number of the padding symbol.

    Args:
        vocabulary_size: V.
        width: D.
        positions: `sinusoidal` (Vaswani et al. 2017) or `learned`.
        max_length: longest input of learned positions.
        dropout: probability.

    Raises:
        ValueError: `positions` is neither of the two.
    """

    def __init__(
        self, vocabulary_size: int, width: int, positions: str, max_length: int, dropout: float
    ) -> None:
        super().__init__()
        if positions not in ("sinusoidal", "learned"):
            raise ValueError(f"positions must be 'sinusoidal' or 'learned', not '{positions}'.")
        self.token = nn.Embedding(vocabulary_size, width)
        nn.init.normal_(self.token.weight, std=width**-0.5)
        if positions == "learned":
            self.position = nn.Parameter(torch.randn(max_length, width) * width**-0.5)
        else:
            self.register_buffer("position", sinusoids(max_length, width), persistent=False)
        self.scale = math.sqrt(width)
        self.position_scale = self.scale if positions == "learned" else 1.0
        self.dropout = Dropout(dropout)

    def tokens(self, tokens: Tensor) -> Tensor:
        """Scaled token embeddings e (B, T, D) of tokens (B, T), without positions."""
        return self.token(tokens) * self.scale

    def forward(self, tokens: Tensor) -> Tensor:
        """Embed tokens (B, T): h^(0) (B, T, D)."""
        position = self.position[: tokens.shape[1]] * self.position_scale
        return self.dropout(self.tokens(tokens) + position)


class FeedForward(nn.Sequential):
    """Position-wise feed-forward network, D -> d_ff -> D with a ReLU."""

    def __init__(self, width: int, hidden: int, dropout: float) -> None:
        first, second = nn.Linear(width, hidden), nn.Linear(hidden, width)
        for layer in (first, second):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)
        super().__init__(first, nn.ReLU(), Dropout(dropout), second)


class Residual(nn.Module):
    """Residual connection with layer norm before (`pre`) or after (`post`) the sub-layer."""

    def __init__(self, width: int, norm: str, dropout: float) -> None:
        super().__init__()
        if norm not in ("pre", "post"):
            raise ValueError(f"norm must be 'pre' or 'post', not '{norm}'.")
        self.pre = norm == "pre"
        self.norm = nn.LayerNorm(width)
        self.dropout = Dropout(dropout)

    def enter(self, x: Tensor) -> Tensor:
        """What the sub-layer reads, of x (B, T, D)."""
        return self.norm(x) if self.pre else x

    def leave(self, x: Tensor, y: Tensor) -> Tensor:
        """Add the sub-layer's result y to x, both (B, T, D)."""
        x = x + self.dropout(y)
        return x if self.pre else self.norm(x)


def sinusoids(length: int, width: int) -> Tensor:
    """Sinusoidal positions (length, D): sine in the first half, cosine in the second."""
    rate = torch.exp(torch.arange(width // 2) * (-math.log(10000.0) / max(width // 2 - 1, 1)))
    angle = torch.arange(length)[:, None] * rate
    return torch.cat([angle.sin(), angle.cos(), torch.zeros(length, width % 2)], dim=1)
