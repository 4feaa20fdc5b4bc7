"""The encoder-decoder with one stream (Vaswani et al. 2017), its attention by any normalizer.

    encoder    h <- h + A V;      h <- h + FFN(h)
    decoder    h <- h + A V;      h <- h + A' V'(encoder);    h <- h + FFN(h)

Layer norm, dropout and heads are as in Vaswani et al.; every A is normalizer(Q K^T / sqrt(d_k)).
The same layers train on packed sentences and decode word by word with a cache.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from model.architectures.translation.translator import (
    Attentions,
    Encoding,
    Normalizers,
    Sizes,
    Translated,
    Translator,
    source_mask,
)
from model.layers.blocks import FeedForward, Residual
from model.layers.cached_attention import QKV_GAIN, Attend, Cache, projection
from model.layers.packing import Layout


class SelfAttention(nn.Module):
    """Attention of packed states to those of their own sentence, Q, K and V by one product.

    Heads stand side by side (zhao2019 eq. 8).
    """

    def __init__(self, sizes: Sizes, normalizer: nn.Module) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.project = projection(sizes.width, 3, QKV_GAIN)
        self.attend = Attend(normalizer, sizes.attention_dropout)
        self.output = projection(sizes.width)

    def forward(
        self,
        x: Tensor,
        layout: Layout,
        mask: Tensor,
        cache: Cache | None,
        weights: Tensor | None,
        need: bool,
    ) -> tuple[Tensor, Tensor | None]:
        """x (N, D) to what is read (N, D) and the weights (B, H, T, T)."""
        q, k, v = layout.split(self.project(x), self.heads, 3)
        if cache is not None:
            k, v = cache.append(k, v)
        context, weights = self.attend(q, k, v, mask, weights, need)
        return self.output(layout.merge(context)), weights


class CrossAttention(nn.Module):
    """Attention of the decoder's states to the encoder's."""

    def __init__(self, sizes: Sizes, normalizer: nn.Module) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.query = projection(sizes.width, 1, QKV_GAIN)
        self.memory = projection(sizes.width, 2, QKV_GAIN)
        self.attend = Attend(normalizer, sizes.attention_dropout)
        self.output = projection(sizes.width)

    def remember(self, encoded: Tensor, layout: Layout) -> tuple[Tensor, ...]:
        """Keys and values (B, H, S, K) of the encoder's states (N, D), once per sentence."""
        parts = layout.split(self.memory(encoded), self.heads, 2)
        return tuple(part.contiguous() for part in parts)

    def forward(
        self,
        x: Tensor,
        layout: Layout,
        memory: tuple[Tensor, ...],
        mask: Tensor,
        weights: Tensor | None,
        need: bool,
    ) -> tuple[Tensor, Tensor | None]:
        """x (N, D) to what is read (N, D) and the weights (B, H, T, S)."""
        (q,), (k, v) = layout.split(self.query(x), self.heads), memory
        context, weights = self.attend(q, k, v, mask, weights, need)
        return self.output(layout.merge(context)), weights


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network."""

    def __init__(self, sizes: Sizes, normalizer: nn.Module) -> None:
        super().__init__()
        self.read = SelfAttention(sizes, normalizer)
        self.attend = Residual(sizes.width, sizes.norm, sizes.dropout)
        self.feed_forward = FeedForward(sizes.width, sizes.hidden, sizes.hidden_dropout)
        self.transform = Residual(sizes.width, sizes.norm, sizes.dropout)

    def forward(
        self, h: Tensor, layout: Layout, mask: Tensor, weights: Tensor | None, need: bool
    ) -> tuple[Tensor, Tensor | None]:
        """h^(l-1) (N, D) to h^(l) and the weights (B, H, S, S)."""
        read, weights = self.read(self.attend.enter(h), layout, mask, None, weights, need)
        h = self.attend.leave(h, read)
        return self.transform.leave(h, self.feed_forward(self.transform.enter(h))), weights


class DecoderLayer(nn.Module):
    """Self-attention, attention to the encoder, then the feed-forward network."""

    def __init__(self, sizes: Sizes, normalizer: nn.Module, cross_normalizer: nn.Module) -> None:
        super().__init__()
        self.read = SelfAttention(sizes, normalizer)
        self.attend = Residual(sizes.width, sizes.norm, sizes.dropout)
        self.cross = CrossAttention(sizes, cross_normalizer)
        self.consult = Residual(sizes.width, sizes.norm, sizes.dropout)
        self.feed_forward = FeedForward(sizes.width, sizes.hidden, sizes.hidden_dropout)
        self.transform = Residual(sizes.width, sizes.norm, sizes.dropout)

    def forward(
        self,
        h: Tensor,
        layout: Layout,
        masks: tuple[Tensor, Tensor],
        memory: tuple[Tensor, ...],
        cache: Cache | None,
        routing: tuple[Tensor | None, Tensor | None],
        need: bool,
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """h^(l-1) (N, D) to h^(l) and the weights (B, H, T, T) and (B, H, T, S)."""
        read, own = self.read(self.attend.enter(h), layout, masks[0], cache, routing[0], need)
        h = self.attend.leave(h, read)
        x = self.consult.enter(h)
        read, cross = self.cross(x, layout, memory, masks[1], routing[1], need)
        h = self.consult.leave(h, read)
        return self.transform.leave(h, self.feed_forward(self.transform.enter(h))), own, cross


class EncoderDecoder(Translator):
    """A stack of encoder layers, a stack of decoder layers that read its last states.

    Its arguments are those of `Translator`.
    """

    def add_layers(self, sizes: Sizes, normalizers: Normalizers) -> None:
        """Make the layers of both stacks; every one copies its normalizer."""
        of_encoder, *of_decoder = normalizers
        stack = range(self.layers)
        self.encoder = nn.ModuleList(EncoderLayer(sizes, of_encoder) for _ in stack)
        self.decoder = nn.ModuleList(DecoderLayer(sizes, *of_decoder) for _ in stack)

    def encode(
        self,
        source: Tensor,
        layout: Layout,
        h0: Tensor | None = None,
        routing: Sequence[Tensor] | None = None,
        need_weights: bool = False,
    ) -> Encoding:
        """Encode sources (B, S) with the layout of their real tokens; see `forward`."""
        mask, used = source_mask(layout), []
        h = self.embed_source(self.source, source, layout, h0)
        for index, layer in enumerate(self.encoder):
            h, weights = layer(h, layout, mask, routing and routing[index], need_weights)
            used.append(weights)
        h = self.encoder_norm(h)
        memories = [layer.cross.remember(h, layout) for layer in self.decoder]  # type: ignore
        return Encoding(memories, mask, used if need_weights else [])

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
        h = self.embed(self.target, words, positions)
        masks, used = (mask, encoding.mask), Attentions(encoding.weights, [], [])
        for index, layer in enumerate(self.decoder):
            fixed = (routing.decoder[index], routing.cross[index]) if routing else (None, None)
            cache = caches[0][index] if caches else None
            memory = encoding.memories[index]
            h, own, cross = layer(h, layout, masks, memory, cache, fixed, need_weights)
            if need_weights:
                used.decoder.append(own)
                used.cross.append(cross)
        return Translated(self.decoder_norm(h), used)

    def caches(self, slots: int) -> list[list[Cache]]:
        """Empty caches for `step`."""
        return [[Cache(slots) for _ in range(self.layers)]]
