"""What encoder-decoders have in common: embeddings, encoded sources, caches, the output layer.

Dimensions: B sentences, S source length, T target length, N packed tokens (`model.layers.packing`),
G beams of a sentence, H heads, K head width, D width, L layers, V words.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from model.layers.attention import causal_mask, padding_mask
from model.layers.blocks import Embedding
from model.layers.cached_attention import Cache
from model.layers.packing import Layout


class Attentions(NamedTuple):
    """Attention weights of every layer, first layer first; empty where nobody asked for them.

    Attributes:
        encoder: (B, H, S, S).
        decoder: (B, H, T, T).
        cross: (B, H, T, S).
    """

    encoder: list[Tensor]
    decoder: list[Tensor]
    cross: list[Tensor]


class Translated(NamedTuple):
    """What a decoder returns.

    Attributes:
        states: (N, D) of the packed target positions; `Translator.logits` makes words of them.
        weights: the attention behind them.
    """

    states: Tensor
    weights: Attentions


class Encoding(NamedTuple):
    """Sources as a decoder reads them.

    Attributes:
        memories: for each decoder layer its keys and values (B, H, S, K).
        mask: (B, 1, 1, S), 0 at real tokens, -inf at padding.
        weights: of the encoder's layers (B, H, S, S).
    """

    memories: list[tuple[Tensor, ...]]
    mask: Tensor
    weights: list[Tensor]

    def select(self, sentences: Tensor) -> Encoding:
        """Some of the sentences, by number."""
        chosen = [tuple(part[sentences] for part in memory) for memory in self.memories]
        return Encoding(chosen, self.mask[sentences], [])


class Sizes(NamedTuple):
    """What every layer is told, see `Translator`."""

    width: int
    hidden: int
    heads: int
    norm: str
    dropout: float
    attention_dropout: float
    hidden_dropout: float


class Normalizers(NamedTuple):
    """From scores to weights, in the three places of attention."""

    encoder: nn.Module
    decoder: nn.Module
    cross: nn.Module


class Translator(nn.Module, ABC):
    """An encoder-decoder without its layers, which a subclass has.

    Args:
        vocabulary_size: V of the target, and of the source where it has none of its own.
        width: D, d_model of every stream.
        hidden: d_ff.
        layers: L of either stack.
        heads: H.
        normalizer: scores to weights; every layer gets a copy.
        encoder_normalizer: another one for the encoder's self-attention.
        decoder_normalizer: another one for the decoder's self-attention.
        cross_normalizer: another one for the decoder's attention to the encoder.
        norm: `pre` or `post`.
        positions: `sinusoidal` or `learned`.
        max_length: longest side.
        dropout: probability, on embeddings and sub-layer outputs.
        attention_dropout: on the weights of attention; of two streams, on the controller's.
        hidden_dropout: on the hidden layer of the feed-forward network.
        tie: `all` for one matrix of source, target and output words, `decoder` for one of target
            and output words, `none`.
        source_vocabulary_size: V of the source where it has a vocabulary of its own.

    Raises:
        ValueError: another `tie`; `all` with two vocabularies; width no multiple of the heads.
    """

    def __init__(
        self,
        vocabulary_size: int,
        width: int,
        hidden: int,
        layers: int,
        heads: int,
        normalizer: nn.Module,
        encoder_normalizer: nn.Module | None = None,
        decoder_normalizer: nn.Module | None = None,
        cross_normalizer: nn.Module | None = None,
        norm: str = "post",
        positions: str = "sinusoidal",
        max_length: int = 1024,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        hidden_dropout: float = 0.0,
        tie: str = "all",
        source_vocabulary_size: int | None = None,
    ) -> None:
        super().__init__()
        source_words = source_vocabulary_size or vocabulary_size
        if tie not in ("all", "decoder", "none"):
            raise ValueError(f"tie must be 'all', 'decoder' or 'none', not '{tie}'.")
        if tie == "all" and source_words != vocabulary_size:
            raise ValueError(
                f"tie 'all' needs one vocabulary for both sides, not {source_words} and "
                f"{vocabulary_size} words: set tie to 'decoder'."
            )
        if width % heads:
            raise ValueError(f"width {width} is not a multiple of {heads} heads.")
        self.width, self.heads, self.layers, self.tie = width, heads, layers, tie
        self.max_length = max_length
        self._embed = (source_words, vocabulary_size, (width, positions, max_length, dropout))
        self.source, self.target = self.embeddings()
        if tie == "none":
            self.output = nn.Parameter(torch.randn(vocabulary_size, width) * width**-0.5)
        self.encoder_norm = nn.LayerNorm(width) if norm == "pre" else nn.Identity()
        self.decoder_norm = nn.LayerNorm(width) if norm == "pre" else nn.Identity()
        places = (encoder_normalizer, decoder_normalizer, cross_normalizer)
        self.add_layers(
            Sizes(width, hidden, heads, norm, dropout, attention_dropout, hidden_dropout),
            Normalizers(*(place or normalizer for place in places)),
        )

    @abstractmethod
    def add_layers(self, sizes: Sizes, normalizers: Normalizers) -> None:
        """Make the layers of both stacks; every one copies its normalizer."""

    def embeddings(self) -> tuple[Embedding, Embedding]:
        """New ones of source and target, one and the same where all is tied."""
        source_words, target_words, sizes = self._embed
        source = Embedding(source_words, *sizes)
        return source, source if self.tie == "all" else Embedding(target_words, *sizes)

    @property
    def output_weight(self) -> Tensor:
        """The output layer (V, D); it has no bias."""
        return self.output if self.tie == "none" else self.target.token.weight

    def logits(self, states: Tensor) -> Tensor:
        """Scores of words (N, V) of states (N, D)."""
        return states @ self.output_weight.t()

    @abstractmethod
    def encode(
        self,
        source: Tensor,
        layout: Layout,
        h0: Tensor | None = None,
        routing: Sequence[Tensor] | None = None,
        need_weights: bool = False,
    ) -> Encoding:
        """Encode sources (B, S) with the layout of their real tokens; see `forward`."""

    @abstractmethod
    def decode(
        self,
        words: Tensor,
        positions: Tensor,
        layout: Layout,
        mask: Tensor,
        encoding: Encoding,
        caches: list[list[Cache]] | None,
        routing: Attentions | None,
        need_weights: bool,
    ) -> Translated:
        """Run the decoder over packed words (N,) at positions (N,) of their sentences."""

    @abstractmethod
    def caches(self, slots: int) -> list[list[Cache]]:
        """Empty caches for `step`, of every stream and layer."""

    def forward(
        self,
        source: Tensor,
        source_layout: Layout,
        target: Tensor,
        layout: Layout,
        h0: Tensor | None = None,
        routing: Attentions | None = None,
        need_weights: bool = False,
    ) -> Translated:
        """Predict every target word from those before it.

        Args:
            source: (B, S).
            source_layout: of its real tokens.
            target: (B, T), BOS first.
            layout: of its real tokens, N of them.
            h0: embedded source (B, S, D) in place of the (model stream's) own embedding.
            routing: weights to hold fixed in all three places.
            need_weights: whether the weights are wanted.

        Raises:
            ValueError: a side is longer than the model's positions.
        """
        self.check_length(target, "target")
        encoding = self.encode(source, source_layout, h0, routing and routing.encoder, need_weights)
        mask = causal_mask(target.shape[1], target.device)
        packed = (layout.pack(target), layout.columns, layout)
        return self.decode(*packed, mask, encoding, None, routing, need_weights)

    def step(
        self,
        words: Tensor,
        position: int,
        layout: Layout,
        encoding: Encoding,
        caches: list[list[Cache]],
        mask: Tensor,
    ) -> Tensor:
        """Decode one more word of every beam.

        Args:
            words: (B, G), the newest word of each beam.
            position: of it, counted from 0.
            layout: (B, G), all real.
            encoding: of the sources.
            caches: from `caches`; the words are added.
            mask: (B, 1, G, (position + 1) G), 0 at a beam's own ancestors, -inf elsewhere.

        Returns:
            States (B G, D).
        """
        packed = words.flatten()
        positions = torch.full_like(packed, position)
        return self.decode(packed, positions, layout, mask, encoding, caches, None, False).states

    def check_length(self, words: Tensor, side: str) -> None:
        """Refuse sentences (B, T) that are longer than the model's positions.

        Raises:
            ValueError: they are.
        """
        if words.shape[1] > self.max_length:
            raise ValueError(
                f"a {side} of {words.shape[1]} tokens is longer than the model's max_length "
                f"{self.max_length}: clean the corpus, or raise it."
            )

    def embed(self, embedding: Embedding, words: Tensor, positions: Tensor) -> Tensor:
        """Packed words (N,) and positions (N,) to h^(0) (N, D)."""
        at = embedding.position[positions] * embedding.position_scale
        return embedding.dropout(embedding.tokens(words) + at)

    def embed_source(
        self, embedding: Embedding, source: Tensor, layout: Layout, h0: Tensor | None = None
    ) -> Tensor:
        """Sources (B, S), or their embeddings h0 (B, S, D), to packed h^(0) (N, D)."""
        self.check_length(source, "source")
        if h0 is not None:
            return layout.pack(h0)
        return self.embed(embedding, layout.pack(source), layout.columns)


def source_mask(layout: Layout) -> Tensor:
    """Additive mask (B, 1, 1, S) that hides the source's padding."""
    return padding_mask(layout.real)


def parents(mask: Tensor, beams: int) -> Tensor:
    """The beam (B, G) of the last step that each beam continues, after the first step.

    Args:
        mask: (B, 1, G, t G) of `Translator.step`; of the step before, the one slot that a beam
            sees is its parent's.
        beams: G.
    """
    return mask[:, 0, :, -2 * beams : -beams].argmax(dim=-1)
