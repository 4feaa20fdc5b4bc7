"""Classifying what can be written in two ways (kinley2020 section 5.1, 5.3, 6.3).

The multiview model has one controller stream per view and one model stream for all of them: given
the right attention decisions, the model stream should compute the same for every view.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from model.architectures.transformer import Encoded
from model.architectures.two_stream import ControllerLayer, ModelLayer, TwoStreamTransformer
from model.layers.attention import padding_mask
from model.layers.blocks import Embedding


class Controller(nn.Module):
    """The controller stream of one view; it routes as that of the two-stream model does."""

    def __init__(self, embedding: Embedding, layers: Sequence[ControllerLayer]) -> None:
        super().__init__()
        self.controller_embedding = embedding
        self.controller = nn.ModuleList(layers)

    route = TwoStreamTransformer.route


class MultiviewTransformer(nn.Module):
    """One controller stream per view, and a model stream that all views share.

    Args:
        views: U, number of views.
        The others: as of `TwoStreamTransformer`.
    """

    def __init__(
        self,
        views: int,
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
    ) -> None:
        super().__init__()
        self.width = width
        embed = (vocabulary_size, width, positions, max_length, dropout)
        layer = (width, hidden, heads, norm, dropout)
        self.embedding = Embedding(*embed)
        self.controllers = nn.ModuleList(
            Controller(Embedding(*embed), [ControllerLayer(*layer) for _ in range(layers)])
            for _ in range(views)
        )
        self.normalizers = nn.ModuleList(copy.deepcopy(normalizer) for _ in range(layers))
        self.model_stream = nn.ModuleList(ModelLayer(*layer) for _ in range(layers))
        self.norm = nn.LayerNorm(width) if norm == "pre" else nn.Identity()

    def forward(self, tokens: Tensor, real: Tensor) -> Encoded:
        """Encode every view; the model stream reads all of them as one batch.

        Args:
            tokens: (U, B, T).
            real: (U, B, T), true at real tokens, false at padding.

        Returns:
            The states (U * B, T, D), view after view, and the routing of each layer.
        """
        scores = [
            controller.route(view, padding_mask(shown))  # type: ignore[operator]
            for controller, view, shown in zip(self.controllers, tokens, real, strict=True)
        ]
        by_layer = zip(self.normalizers, zip(*scores, strict=True), strict=True)
        routing = [normalizer(torch.cat(layer)) for normalizer, layer in by_layer]
        h = self.embedding(tokens.flatten(0, 1))
        for layer, z in zip(self.model_stream, routing, strict=True):
            h = layer(h, z)
        return Encoded(self.norm(h), routing)


class MultiviewClassifier(nn.Module):
    """A multiview encoder and one linear layer on its states at <cls>.

    Args:
        encoder: a `MultiviewTransformer`.
        classes: C.
    """

    def __init__(self, encoder: MultiviewTransformer, classes: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.output = nn.Linear(encoder.width, classes)

    def forward(self, tokens: Tensor, real: Tensor) -> Tensor:
        """Logits (U, B, C) of tokens (U, B, T)."""
        state = self.encoder(tokens, real).state[:, 0]
        return self.output(state).unflatten(0, tokens.shape[:2])
