"""A recurrent encoder-decoder with one attention head, for translation
(snell2021 section 2.1, appendix A.8).

    h_1 .. h_L   states of a bidirectional LSTM      a_tl    = (W s_t + b)^T h_l
    s_1 .. s_T   states of the decoder's LSTM        alpha_t = normalizer(a_t)
    c_t = sum_l alpha_tl h_l                         p_t     = softmax(V ReLU(U [s_t; P c_t]))

The decoder reads no context, so all its positions are computed at once. Readings, from the
printed parameter count and the authors' code: one embedding for both sides, not tied to V; the
decoder starts from the mean of both directions' last states, layer by layer; the context is
projected by P before it is concatenated. The source is read between <bos> and <eos>, and both are
positions that can be attended to: so says the printed random baseline of the agreement (7.1 to
7.2 % on Multi30k, where L sub-words alone give 7.6).

Dimensions: B sentences, S source length with <bos> and <eos>, T target length, N packed target
tokens, G beams, L layers, D width, H hidden, V words.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from model.architectures.translation.translator import (
    Attentions,
    Encoding,
    Translated,
    parents,
    source_mask,
)
from model.batches.batching import BOS
from model.layers.cached_attention import Cache
from model.layers.packing import Layout


class RecurrentTranslator(nn.Module):
    """LSTM sequence-to-sequence with attention; it translates as any `Translator` does.

    What it computes is snell2021 eq. 1, 2, where p_t says what N is.

    Args:
        vocabulary_size: V, of both sides.
        width: D, size of the embedding.
        hidden: H, of the LSTMs in each direction, of the projected context and of N's hidden layer.
        layers: L, of the encoder and of the decoder.
        normalizer: from scores to weights (`model.normalizers`).
        dropout: probability, between the layers of the LSTMs.
        embedding_std: standard deviation of the initial embedding.
        convex: whether p_t = softmax(V (s_t + P c_t)) (snell2021 eq. 28), so that the loss of a
            word is convex in its attention weights.
        max_length: longest side, in sub-words.
    """

    def __init__(
        self,
        vocabulary_size: int,
        width: int,
        hidden: int,
        layers: int,
        normalizer: nn.Module,
        dropout: float,
        embedding_std: float = 1.0,
        convex: bool = False,
        max_length: int = 1000,
    ) -> None:
        super().__init__()
        self.max_length = max_length
        self.embedding = nn.Embedding(vocabulary_size, width)
        nn.init.normal_(self.embedding.weight, std=embedding_std)
        between = dropout if layers > 1 else 0.0
        self.encoder = nn.LSTM(width, hidden, layers, True, True, between, bidirectional=True)
        self.decoder = nn.LSTM(width, hidden, layers, True, True, between)
        self.query = nn.Linear(hidden, 2 * hidden)
        self.context = nn.Linear(2 * hidden, hidden)
        self.combine = None if convex else nn.Linear(2 * hidden, hidden)
        self.normalizer = normalizer
        # V and, in its last column, its bias: what a state ends with is 1.
        self.output_weight = nn.Parameter(
            torch.empty(vocabulary_size, hidden + 1).uniform_(-(hidden**-0.5), hidden**-0.5)
        )

    def forward(
        self, source: Tensor, source_layout: Layout, target: Tensor, layout: Layout
    ) -> Translated:
        """Predict every target word from those before it.

        Args:
            source: (B, S - 1), each with <eos>.
            source_layout: of its real tokens.
            target: (B, T), <bos> first.
            layout: of its real tokens, N of them.

        Returns:
            States (N, H + 1) and, as the only cross-attention, alpha (B, 1, T, S).

        Raises:
            ValueError: a side is longer than `max_length`.
        """
        encoding = self.encode(source, source_layout)
        s = self.decode(target, encoding)
        context, weights = self.attend(s, encoding)
        states = self.output_projection(layout.pack(s), layout.pack(context))
        return Translated(states, Attentions([], [], [weights]))

    def encode(self, source: Tensor, layout: Layout, h0: Tensor | None = None) -> Encoding:
        """Encode sources (B, S - 1).

        Args:
            source: each with <eos>.
            layout: of the real tokens.
            h0: their embeddings (B, S, D), <bos> first, in place of the model's own.

        Returns:
            h (B, S, 2H), P h (B, S, H), and the decoder's first states, hidden and cell (B, L, H).
        """
        self._check_length(source, "source")
        words, inside = enclosed(source, layout)
        embedded = self.embedding(words) if h0 is None else h0
        lengths = inside.real.sum(dim=1).cpu()
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        with _single_on_gpus():
            states, last = self.encoder(packed)
        h, _ = pad_packed_sequence(states, batch_first=True)
        first = (one.unflatten(0, (-1, 2)).mean(dim=1).transpose(0, 1) for one in last)
        return Encoding([(h, self.context(h), *first)], source_mask(inside), [])

    def decode(self, target: Tensor, encoding: Encoding) -> Tensor:
        """The decoder's states s (B, T, H) of targets (B, T), <bos> first."""
        self._check_length(target, "target")
        _, _, *first = encoding.memories[0]
        h, c = (one.transpose(0, 1).contiguous() for one in first)
        with _single_on_gpus():
            s: Tensor = self.decoder(self.embedding(target), (h, c))[0]
        return s

    def attend(self, s: Tensor, encoding: Encoding) -> tuple[Tensor, Tensor]:
        """What decoder states s (B, T, H) read, P c (B, T, H), and alpha (B, 1, T, S)."""
        h, projected, *_ = encoding.memories[0]
        scores = (self.query(s) @ h.mT)[:, None] + encoding.mask
        weights: Tensor = self.normalizer(scores)
        # The weights of a row sum to 1, so that P sum_l alpha_l h_l = sum_l alpha_l P h_l.
        return weights[:, 0] @ projected, weights

    def output_projection(self, s: Tensor, context: Tensor) -> Tensor:
        """States (..., H + 1) for `output_weight`, of s and P c (..., H)."""
        if self.combine is None:
            hidden = s + context
        else:
            hidden = self.combine(torch.cat([s, context], dim=-1)).relu()
        return F.pad(hidden, (0, 1), value=1.0)

    def logits(self, states: Tensor) -> Tensor:
        """Scores of words (N, V) of states (N, H + 1)."""
        return states @ self.output_weight.t()

    def caches(self, slots: int) -> list[list[Cache]]:
        """An empty cache for `step`, of the decoder's states of every layer."""
        return [[Cache(slots)]]

    def step(
        self,
        words: Tensor,
        position: int,
        layout: Layout,
        encoding: Encoding,
        caches: list[list[Cache]],
        mask: Tensor,
    ) -> Tensor:
        """Decode one more word of every beam; see `Translator.step`.

        Returns:
            States (B G, H + 1).
        """
        sentences, beams = words.shape
        cache = caches[0][0]
        if position:
            # A hypothesis goes on from the states of its parent.
            slots = (parents(mask, beams) + cache.filled - beams)[:, None, :, None]
            parts = [part.gather(2, slots.expand_as(part[:, :, :beams])) for part in cache.parts]
        else:
            first = encoding.memories[0][2:]
            parts = [part[:, :, None].expand(-1, -1, beams, -1) for part in first]
        h, c = (part.transpose(0, 1).flatten(1, 2).contiguous() for part in parts)
        with _single_on_gpus():
            s, last = self.decoder(self.embedding(words).flatten(0, 1)[:, None], (h, c))
        cache.append(*(one.unflatten(1, (sentences, beams)).transpose(0, 1) for one in last))
        s = s.view(sentences, beams, -1)
        context, _ = self.attend(s, encoding)
        return self.output_projection(s, context).flatten(0, 1)

    def _check_length(self, words: Tensor, side: str) -> None:
        if words.shape[1] > self.max_length:
            raise ValueError(
                f"a {side} of {words.shape[1]} tokens is longer than the model's max_length "
                f"{self.max_length}: clean the corpus, or raise it."
            )


def _single_on_gpus() -> torch.autocast:
    """No autocast on GPUs, where an LSTM would be in fp16 beside everything else in bf16."""
    return torch.autocast("cuda", enabled=False)


def enclosed(source: Tensor, layout: Layout) -> tuple[Tensor, Layout]:
    """Sources (B, S - 1), which end with <eos>, with <bos> before them (B, S)."""
    return F.pad(source, (1, 0), value=BOS), Layout(F.pad(layout.real, (1, 0), value=True))
