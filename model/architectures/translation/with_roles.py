"""The encoder-decoder with a Role Interaction Layer on either side, and its matched baseline
(weissenborn2019).

The layer stands between the embedding, sqrt(d) included, and the positions:

    h^(0) = dropout(RIL(e) + positions)

Each side has a layer of its own, the source's of both directions, the target's causal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor, nn

from model.architectures.translation.encoder_decoder import EncoderDecoder
from model.architectures.translation.translator import Attentions, Encoding, Translated, parents
from model.build import count_parameters
from model.layers.blocks import Embedding
from model.layers.cached_attention import Cache
from model.layers.packing import Layout
from model.layers.role_context import ContextState
from model.layers.role_interaction import RoleInteraction, Roles


class RoleCache(Cache):
    """What the target's layer keeps of every hypothesis, moved when these change beams.

    Attributes:
        state: of its context, (B, G, ...) each; empty before the first word.
    """

    def __init__(self) -> None:
        super().__init__(0)
        self.state: ContextState = ()

    def follow(self, mask: Tensor, beams: int) -> None:
        """Give each beam the state of the hypothesis that it continues.

        Args:
            mask: (B, 1, G, t G) of `Translator.step`.
            beams: G.
        """
        if self.state:
            continued = parents(mask, beams)
            sentences = torch.arange(len(continued), device=continued.device)[:, None]
            self.state = tuple(part[sentences, continued] for part in self.state)

    def select(self, sentences: Tensor) -> None:
        """Keep some of the sentences, by number."""
        self.state = tuple(part[sentences] for part in self.state)


class RoleEncoderDecoder(EncoderDecoder):
    """An encoder-decoder whose embedded tokens pass a Role Interaction Layer.

    Args:
        roles: of the layer.
        shape: see `Translator`; `dropout` is on the roles, too.

    Raises:
        ValueError: more roles than words; a convolution that is wider than the longest sentence.
    """

    def __init__(self, *shape: Any, roles: Roles, **named: Any) -> None:
        super().__init__(*shape, **named)
        words = min(self._embed[:2])
        if roles.number > words:
            raise ValueError(
                f"roles.number: {roles.number} roles are more than the vocabulary's {words} words "
                f"can fill: lower it."
            )
        if roles.window is not None:
            check_window(roles.window, self.max_length, "max_length is")
        self.roles, dropout = roles, self.source.dropout.p
        self.source_roles = RoleInteraction(self.width, roles, causal=False, dropout=dropout)
        self.target_roles = RoleInteraction(self.width, roles, causal=True, dropout=dropout)

    def embed(self, embedding: Embedding, words: Tensor, positions: Tensor) -> Tensor:
        """Tokens (N, D) that have passed the layer, and positions (N,), to h^(0) (N, D)."""
        at = embedding.position[positions] * embedding.position_scale
        return embedding.dropout(words + at)

    def embed_source(
        self, embedding: Embedding, source: Tensor, layout: Layout, h0: Tensor | None = None
    ) -> Tensor:
        """Sources (B, S), or their embeddings h0 (B, S, D), to packed h^(0) (N, D)."""
        self.check_length(source, "source")
        if h0 is not None:
            return layout.pack(h0)
        e = embedding.tokens(layout.pack(source))
        return self.embed(embedding, self.source_roles(e, layout), layout.columns)

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
        e = self.target.tokens(words)
        if caches is None:
            e = self.target_roles(e, layout)
        else:
            e = self._step(e, layout, mask, cast(RoleCache, caches[1][0]))
        return super().decode(e, positions, layout, mask, encoding, caches, routing, need_weights)

    def _step(self, e: Tensor, layout: Layout, mask: Tensor, cache: RoleCache) -> Tensor:
        """Newest tokens (B G, D) of every beam, with what the cache knows of those before."""
        beams = layout.real.shape[1]
        cache.follow(mask, beams)
        state = tuple(part.flatten(0, 1) for part in cache.state)
        e, state = self.target_roles.step(e, state)
        cache.state = tuple(part.unflatten(0, (-1, beams)) for part in state)
        return e

    def caches(self, slots: int) -> list[list[Cache]]:
        """Empty caches for `step`."""
        return [*super().caches(slots), [RoleCache()]]

    def assign(self, words: Tensor, layout: Layout, side: str) -> Tensor:
        """Roles (N, R) of the real ones of words (B, T) of a side, `source` or `target`."""
        source = side == "source"
        embedding, layer = (
            (self.source, self.source_roles) if source else (self.target, self.target_roles)
        )
        return layer.assign(embedding.tokens(layout.pack(words)), layout)


class MatchedEncoderDecoder(EncoderDecoder):
    """The baseline as large as a model with the layer: wider, with about as many parameters.

    It takes the arguments of the `RoleEncoderDecoder` that it is to match, and solves for the
    largest width, a multiple of the heads, that is not too large with d_ff in proportion, and then
    for the d_ff that comes nearest.

    Args:
        vocabulary_size: V.
        width: d_model of the model to match.
        hidden: its d_ff.
        heads: H.
        roles: of the layer to match.
        shape: see `Translator`.

    Attributes:
        matched: parameters of the model with the layer.
    """

    def __init__(
        self,
        vocabulary_size: int,
        width: int,
        hidden: int,
        *,
        heads: int,
        roles: Roles,
        **shape: Any,
    ) -> None:
        shape["heads"] = heads
        matched = parameters(
            RoleEncoderDecoder, vocabulary_size, width, hidden, roles=roles, **shape
        )

        def plain(width: int, hidden: int) -> int:
            return parameters(EncoderDecoder, vocabulary_size, width, hidden, **shape)

        ratio = hidden / width
        wide = heads * _largest(lambda n: plain(heads * n, round(heads * n * ratio)) <= matched)
        deep = _largest(lambda n: plain(wide, n) <= matched)
        deep = min(deep, deep + 1, key=lambda n: abs(plain(wide, n) - matched))
        super().__init__(vocabulary_size, wide, deep, **shape)
        self.matched = matched


def parameters(kind: type[nn.Module], *arguments: Any, **settings: Any) -> int:
    """How many parameters a model has, which is built without memory for them."""
    with torch.device("meta"):
        return count_parameters(kind(*arguments, **settings))


def check_window(window: int, longest: int, what: str) -> None:
    """Refuse a convolution that no sentence fills.

    Raises:
        ValueError: it is wider than the longest sentence.
    """
    if window > longest:
        raise ValueError(
            f"roles.window: a convolution of width {window} is wider than the longest sentence "
            f"({what} {longest}): make it narrower."
        )


def _largest(fits: Callable[[int], bool]) -> int:
    """The largest number from 1 on that fits, where all below it do."""
    high = 2
    while fits(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
