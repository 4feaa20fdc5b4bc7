"""The two-stream discrete transformer (discrete2020 section 5; kinley2020 section 4.2).

    controller stream g                         model stream h
    B_i  <- FFN(g_i^(l-1))                      C_i <- FFN(h_i^(l-1))
    K, V, Q <- B W^(K), B W^(V), B W^(Q)        V'  <- C W^(h)
    A    <- softmax(Q K^T / sqrt(d_k))          z_i ~ Cat(A_i)
    g_i^(l) <- g_i^(l-1) + A_i V                h_i^(l) <- h_i^(l-1) + V'_{z_i}

As in both papers the equations leave out layer norm, residual connections and heads; the layers
have them, attention and feed-forward network in the order of Vaswani et al. (2017).

The controller never reads the model stream, so it runs first and hands over the scores of every
layer; the model stream alone feeds the output. What the routing lets through is thus all that the
output can depend on: with the routing held fixed, a token outside the receptive field changes
nothing. The routing itself may look at every token.
"""

from __future__ import annotations

import copy

from torch import Tensor, nn

from model.architectures.transformer import Encoded
from model.kernels.dropout import Dropout
from model.layers.attention import Routing, Values
from model.layers.blocks import Embedding, FeedForward, Residual


class ControllerLayer(nn.Module):
    """One layer of the controller stream: ordinary soft attention that hands out its scores."""

    def __init__(self, width: int, hidden: int, heads: int, norm: str, dropout: float) -> None:
        super().__init__()
        self.routing = Routing(width, heads)
        self.values = Values(width, heads)
        self.attention_dropout = Dropout(dropout)
        self.attend = Residual(width, norm, dropout)
        self.feed_forward = FeedForward(width, hidden, dropout)
        self.transform = Residual(width, norm, dropout)

    def scores(self, g: Tensor, mask: Tensor) -> Tensor:
        """Scores (B, H, T, T) of the states g^(l-1) (B, T, D)."""
        x = self.attend.enter(g)
        return self.routing(x, x, mask)

    def forward(self, g: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """g^(l-1) (B, T, D) to g^(l) and the scores (B, H, T, T), which dropout does not touch."""
        x = self.attend.enter(g)
        scores = self.routing(x, x, mask)
        weights = self.attention_dropout(scores.softmax(dim=-1))
        g = self.attend.leave(g, self.values(x, weights))
        return self.transform.leave(g, self.feed_forward(self.transform.enter(g))), scores


class ModelLayer(nn.Module):
    """One layer of the model stream: it reads where the controller's sample z points."""

    def __init__(self, width: int, hidden: int, heads: int, norm: str, dropout: float) -> None:
        super().__init__()
        self.values = Values(width, heads)
        self.attend = Residual(width, norm, dropout)
        self.feed_forward = FeedForward(width, hidden, dropout)
        self.transform = Residual(width, norm, dropout)

    def forward(self, h: Tensor, z: Tensor) -> Tensor:
        """h^(l-1) (B, T, D) and the sampled attention z (B, H, T, T) to h^(l) (B, T, D)."""
        h = self.attend.leave(h, self.values(self.attend.enter(h), z))
        return self.transform.leave(h, self.feed_forward(self.transform.enter(h)))


class TwoStreamTransformer(nn.Module):
    """Controller and model stream side by side.

    Args:
        normalizer: the controller's scores to the model stream's attention z; a copy per layer.
        dropout: probability; on attention weights it touches the controller's own reading only.
        share_embeddings: whether both streams read one embedding; the papers' do not.
        The others: as of `Transformer`, for either stream.
    """

    def __init__(
        self,
        vocabulary_size: int,
        width: int,
        hidden: int,
        layers: int,
        heads: int,
        normalizer: nn.Module,
        norm: str = "pre",
        positions: str = "sinusoidal",
        max_length: int = 512,
        dropout: float = 0.0,
        share_embeddings: bool = False,
    ) -> None:
        super().__init__()
        self.width = width
        embed = (vocabulary_size, width, positions, max_length, dropout)
        self.embedding = Embedding(*embed)
        self.controller_embedding = self.embedding if share_embeddings else Embedding(*embed)
        self.controller = nn.ModuleList(
            ControllerLayer(width, hidden, heads, norm, dropout) for _ in range(layers)
        )
        self.normalizers = nn.ModuleList(copy.deepcopy(normalizer) for _ in range(layers))
        self.model_stream = nn.ModuleList(
            ModelLayer(width, hidden, heads, norm, dropout) for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width) if norm == "pre" else nn.Identity()

    def route(self, tokens: Tensor, mask: Tensor) -> list[Tensor]:
        """Scores (B, H, T, T) of every layer for tokens (B, T); the last reads nothing itself."""
        g = self.controller_embedding(tokens)
        scores = []
        for layer in self.controller[:-1]:
            g, layer_scores = layer(g, mask)
            scores.append(layer_scores)
        return [*scores, self.controller[-1].scores(g, mask)]  # type: ignore[operator]

    def forward(
        self,
        tokens: Tensor,
        mask: Tensor,
        h0: Tensor | None = None,
        routing: list[Tensor] | None = None,
        need_weights: bool = True,
    ) -> Encoded:
        """Encode tokens.

        Args:
            tokens: (B, T).
            mask: additive, broadcasts to (B, H, T, T).
            h0: embedded tokens (B, T, D) for the model stream; the controller reads the tokens.
            routing: z (B, H, T, T) of every layer to use instead of the controller's.
            need_weights: accepted for the interface shared with `Transformer`; z always exists.
        """
        if routing is None:
            scores = self.route(tokens, mask)
            routing = [f(s) for f, s in zip(self.normalizers, scores, strict=True)]
        h = self.embedding(tokens) if h0 is None else h0
        for layer, z in zip(self.model_stream, routing, strict=True):
            h = layer(h, z)
        return Encoded(self.norm(h), routing)
