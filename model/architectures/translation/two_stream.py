"""The two-stream encoder-decoder (discrete2020 section 5; kinley2020 section 4.2).

Encoder and decoder have a controller, which attends softly and never reads the model stream, and a
model stream, which reads V' where the controller's samples point. In the attention from decoder to
encoder the decoder's controller gives Q, the encoder's controller K and V, and the encoder's model
stream V'. The decoder's model stream alone feeds the output.

    controller g                                  model stream h
    g <- g + softmax(S) V,  S = Q K^T / sqrt(d_k)      h <- h + V'_z,  z ~ Cat(softmax(S))

Attention dropout touches the controller's own reading only; z is drawn from the scores.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

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
from model.kernels.dropout import Dropout
from model.layers.blocks import FeedForward, Residual
from model.layers.cached_attention import QKV_GAIN, Cache, product, projection, scores
from model.layers.packing import Layout

Masks = tuple[Tensor, Tensor]


class SoftReading(nn.Module):
    """A controller's attention: it reads softly and hands out its scores.

    Args:
        sizes: of the layer.
        cross: whether keys and values come from the encoder.
    """

    def __init__(self, sizes: Sizes, cross: bool = False) -> None:
        super().__init__()
        self.heads, self.parts = sizes.heads, 1 if cross else 3
        self.project = projection(sizes.width, self.parts, QKV_GAIN)
        if cross:
            self.memory = projection(sizes.width, 2, QKV_GAIN)
        self.dropout = Dropout(sizes.attention_dropout)
        self.output = projection(sizes.width)
        self.residual = Residual(sizes.width, sizes.norm, sizes.dropout)

    def remember(self, encoded: Tensor, layout: Layout) -> tuple[Tensor, ...]:
        """Keys and values (B, H, S, K) of the encoder's controller (N, D)."""
        parts = layout.split(self.memory(encoded), self.heads, 2)
        return tuple(part.contiguous() for part in parts)

    def forward(
        self,
        g: Tensor,
        layout: Layout,
        mask: Tensor,
        memory: Sequence[Tensor] = (),
        cache: Cache | None = None,
    ) -> tuple[Tensor, Tensor]:
        """g (N, D) to g plus what is read, and the scores (B, H, T, S)."""
        q, *own = layout.split(self.project(self.residual.enter(g)), self.heads, self.parts)
        k, v = own or memory
        if cache is not None:
            k, v = cache.append(k, v)
        s = scores(q, k, mask)
        context = product(self.dropout(s.softmax(dim=-1)), v)
        return self.residual.leave(g, self.output(layout.merge(context))), s


class Pointer(nn.Module):
    """The last controller's attention to the encoder: its reading would feed nothing."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.norm = nn.LayerNorm(sizes.width) if sizes.norm == "pre" else nn.Identity()
        self.query = projection(sizes.width, 1, QKV_GAIN)
        self.memory = projection(sizes.width, 1, QKV_GAIN)

    def remember(self, encoded: Tensor, layout: Layout) -> tuple[Tensor, ...]:
        """Keys (B, H, S, K) of the encoder's controller (N, D)."""
        return (layout.split(self.memory(encoded), self.heads)[0].contiguous(),)

    def forward(
        self, g: Tensor, layout: Layout, mask: Tensor, memory: Sequence[Tensor]
    ) -> tuple[Tensor, Tensor]:
        """g (N, D) as it is, and the scores (B, H, T, S)."""
        (q,) = layout.split(self.query(self.norm(g)), self.heads)
        return g, scores(q, memory[0], mask)


class SampledReading(nn.Module):
    """A model stream's attention: V' where z points."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.value = projection(sizes.width, 1, QKV_GAIN)
        self.output = projection(sizes.width)
        self.residual = Residual(sizes.width, sizes.norm, sizes.dropout)

    def values(self, states: Tensor, layout: Layout) -> Tensor:
        """V' (B, H, S, K) of states (N, D)."""
        return layout.split(self.value(states), self.heads)[0].contiguous()

    def forward(self, h: Tensor, layout: Layout, values: Tensor, z: Tensor) -> Tensor:
        """h (N, D) plus what z (B, H, T, S) reads of the values (B, H, S, K)."""
        return self.residual.leave(h, self.output(layout.merge(product(z, values))))


class Transform(nn.Module):
    """The feed-forward network with its residual connection."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.feed_forward = FeedForward(sizes.width, sizes.hidden, sizes.hidden_dropout)
        self.residual = Residual(sizes.width, sizes.norm, sizes.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """x (N, D) to the same shape."""
        return self.residual.leave(x, self.feed_forward(self.residual.enter(x)))


class EncoderController(nn.Module):
    """A layer of the encoder's controller."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.read = SoftReading(sizes)
        self.transform = Transform(sizes)

    def forward(self, g: Tensor, layout: Layout, mask: Tensor) -> tuple[Tensor, Tensor]:
        """g^(l-1) (N, D) to g^(l) and the scores (B, H, S, S)."""
        g, s = self.read(g, layout, mask)
        return self.transform(g), s


class EncoderStream(nn.Module):
    """A layer of the encoder's model stream."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.read = SampledReading(sizes)
        self.transform = Transform(sizes)

    def forward(self, h: Tensor, layout: Layout, z: Tensor) -> Tensor:
        """h^(l-1) (N, D) and z (B, H, S, S) to h^(l)."""
        values = self.read.values(self.read.residual.enter(h), layout)
        return self.transform(self.read(h, layout, values, z))


class DecoderController(nn.Module):
    """A layer of the decoder's controller; the last one ends with its pointer to the encoder."""

    def __init__(self, sizes: Sizes, last: bool) -> None:
        super().__init__()
        self.read = SoftReading(sizes)
        self.cross = Pointer(sizes) if last else SoftReading(sizes, cross=True)
        self.transform = nn.Identity() if last else Transform(sizes)

    def forward(
        self,
        g: Tensor,
        layout: Layout,
        masks: Masks,
        memory: Sequence[Tensor],
        cache: Cache | None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """g^(l-1) (N, D) to g^(l) and the scores (B, H, T, T) and (B, H, T, S)."""
        g, own = self.read(g, layout, masks[0], cache=cache)
        g, cross = self.cross(g, layout, masks[1], memory)
        return self.transform(g), own, cross


class DecoderStream(nn.Module):
    """A layer of the decoder's model stream."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.read = SampledReading(sizes)
        self.cross = SampledReading(sizes)
        if sizes.norm == "pre":
            # Q is the controller's and V' is normalised by the encoder, so nothing enters here.
            self.cross.residual.norm = nn.Identity()  # type: ignore[assignment]
        self.transform = Transform(sizes)

    def forward(
        self,
        h: Tensor,
        layout: Layout,
        memory: Tensor,
        cache: Cache | None,
        z: tuple[Tensor, Tensor],
    ) -> Tensor:
        """h^(l-1) (N, D) to h^(l), with the samples z (B, H, T, T) and (B, H, T, S)."""
        values = self.read.values(self.read.residual.enter(h), layout)
        if cache is not None:
            (values,) = cache.append(values)
        h = self.read(h, layout, values, z[0])
        return self.transform(self.cross(h, layout, memory, z[1]))


class TwoStreamEncoderDecoder(Translator):
    """Controller and model stream, in encoder and decoder.

    With `tie: all` the controller's two sides, too, share their embedding.

    Args:
        share_embeddings: whether both streams read one embedding; the papers' do not.
        shape: see `Translator`.
    """

    def __init__(self, *shape: Any, share_embeddings: bool = False, **named: Any) -> None:
        self.share_embeddings = share_embeddings  # what `add_layers` needs
        super().__init__(*shape, **named)

    def add_layers(self, sizes: Sizes, normalizers: Normalizers) -> None:
        """Make the controller's embeddings and the layers; a copy of its normalizer for each."""
        self.controller_source, self.controller_target = self.source, self.target
        if not self.share_embeddings:
            self.controller_source, self.controller_target = self.embeddings()
        stack = range(self.layers)
        self.encoder_controller = nn.ModuleList(EncoderController(sizes) for _ in stack)
        self.encoder_stream = nn.ModuleList(EncoderStream(sizes) for _ in stack)
        self.decoder_controller = nn.ModuleList(
            DecoderController(sizes, last=layer == self.layers - 1) for layer in stack
        )
        self.decoder_stream = nn.ModuleList(DecoderStream(sizes) for _ in stack)
        self.encoder_normalizers, self.decoder_normalizers, self.cross_normalizers = (
            nn.ModuleList(copy.deepcopy(normalizer) for _ in stack) for normalizer in normalizers
        )
        pre = sizes.norm == "pre"
        self.controller_norm = nn.LayerNorm(self.width) if pre else nn.Identity()

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
        g = self.embed_source(self.controller_source, source, layout)
        h = self.embed_source(self.source, source, layout, h0)
        for index in range(self.layers):
            g, s = self.encoder_controller[index](g, layout, mask)
            z = routing[index] if routing else self.encoder_normalizers[index](s)
            h = self.encoder_stream[index](h, layout, z)
            used.append(z)
        g, h = self.controller_norm(g), self.encoder_norm(h)
        memories = []
        for controller, stream in zip(self.decoder_controller, self.decoder_stream, strict=True):
            kept = controller.cross.remember(g, layout)  # type: ignore[operator, union-attr]
            memories.append((*kept, stream.cross.values(h, layout)))  # type: ignore
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
        g = self.embed(self.controller_target, words, positions)
        h = self.embed(self.target, words, positions)
        masks, used = (mask, encoding.mask), Attentions(encoding.weights, [], [])
        for index in range(self.layers):
            *memory, values = encoding.memories[index]
            of_controller, of_stream = (c[index] for c in caches) if caches else (None, None)
            if routing:
                z = routing.decoder[index], routing.cross[index]
            else:
                controller = self.decoder_controller[index]
                g, own, cross = controller(g, layout, masks, memory, of_controller)
                z = self.decoder_normalizers[index](own), self.cross_normalizers[index](cross)
            h = self.decoder_stream[index](h, layout, values, of_stream, z)
            if need_weights:
                used.decoder.append(z[0])
                used.cross.append(z[1])
        return Translated(self.decoder_norm(h), used)

    def caches(self, slots: int) -> list[list[Cache]]:
        """Empty caches for `step`, of controller and model stream."""
        return [[Cache(slots) for _ in range(self.layers)] for _ in range(2)]
