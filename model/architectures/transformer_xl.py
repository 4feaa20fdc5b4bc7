"""Transformer-XL: relative positions and a memory of earlier segments (Dai et al. 2019, section 3).

    a_ij = (q_i + u)^T k_j + (q_i + v)^T W^(R) r_(i-j),   A <- normalizer(a / sqrt(d_k))

Keys and values are made of the memory and the segment, queries of the segment alone. The memory of
a layer is what it read for the last M characters; no gradient flows into it. With norm `pre` a
last LayerNorm stands behind the stack, as in the other architectures; the released code has none.
Dimensions: T characters of the segment, M of the memory, S = M + T keys.
"""

from __future__ import annotations

import copy
import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from model.kernels.dropout import Dropout
from model.layers.attention import merge_heads, split_heads
from model.layers.blocks import FeedForward, Residual

INIT_STD = 0.45
"""Times D^-0.5 the standard deviation of initial weights: the released code's .02 at D = 512."""


class Read(NamedTuple):
    """What a segment becomes.

    Attributes:
        logits: (B, T, V), of the character after each one.
        memory: (L, B, M, D), what each layer has to remember of it and of what stood before.
    """

    logits: Tensor
    memory: Tensor


class RelativeAttention(nn.Module):
    """Multi-head attention whose scores know how far back a key lies, not where it stands.

    Args:
        width: D.
        heads: H.
        normalizer: scores to weights.

    Raises:
        ValueError: the width is not a multiple of the number of heads.
    """

    def __init__(self, width: int, heads: int, normalizer: nn.Module) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"width {width} is not a multiple of {heads} heads.")
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key_value = nn.Linear(width, 2 * width, bias=False)
        self.position = nn.Linear(width, width, bias=False)
        self.output = nn.Linear(width, width, bias=False)
        self.normalizer = normalizer

    def forward(
        self, queries: Tensor, keys: Tensor, distances: Tensor, u: Tensor, v: Tensor
    ) -> Tensor:
        """Read the keys.

        Args:
            queries: (B, T, D), the last T of the keys.
            keys: (B, S, D).
            distances: r (S, D), of the distances S - 1 to 0.
            u: bias of the query towards contents (D,).
            v: bias of the query towards distances (D,).

        Returns:
            What was read (B, T, D).
        """
        q = self.query(queries)
        scale = 1 / math.sqrt(q.shape[-1] // self.heads)
        to_contents, to_distances = (split_heads((q + bias) * scale, self.heads) for bias in (u, v))
        k, values = (split_heads(x, self.heads) for x in self.key_value(keys).chunk(2, dim=-1))
        r = split_heads(self.position(distances)[None], self.heads)
        weights = self.normalizer(relative_scores(to_contents @ k.mT, to_distances @ r.mT))
        return self.output(merge_heads(weights.to(values.dtype) @ values))


def relative_scores(content: Tensor, distance: Tensor) -> Tensor:
    """The sum of both terms of the scores, -inf at the keys after each query.

    Column s of `distance` is that of the keys S - 1 - s back. Row i has to be shifted by T - 1 - i
    to the left for its columns to be keys: laid end to end, the rows are shifted so where they are
    cut into rows of one less.

    Args:
        content: (B, H, T, S), of each query and key.
        distance: (B, H, T, S), of each query and distance.

    Returns:
        Scores (B, H, T, S).
    """
    return _RelativeScores.apply(content, distance)


class _RelativeScores(torch.autograd.Function):
    """The shifted sum; in it, and in its gradient, nothing is copied but the result."""

    @staticmethod
    def forward(ctx: Any, content: Tensor, distance: Tensor) -> Tensor:
        rows, keys = content.shape[-2:]
        ctx.dtype = content.dtype
        scores = content + future(rows, keys, content.device)
        scores[..., :-1] += _shifted(distance, rows, keys)
        scores[..., -1, -1] += distance[..., -1, -1]
        return scores

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        rows, keys = gradient.shape[-2:]
        gradient = gradient.to(ctx.dtype)
        distance = torch.empty(gradient.shape, dtype=gradient.dtype, device=gradient.device)
        distance.flatten(-2)[..., : rows - 1] = 0
        _shifted(distance, rows, keys).copy_(gradient[..., :-1])
        distance[..., -1, -1] = gradient[..., -1, -1]
        return gradient, distance


def _shifted(distance: Tensor, rows: int, keys: int) -> Tensor:
    """The view (B, H, T, S - 1) of all columns but the last, in the last of which only one key is
    not masked."""
    flat = distance.flatten(-2)
    return flat[..., rows - 1 : rows - 1 + rows * (keys - 1)].unflatten(-1, (rows, keys - 1))


def future(rows: int, keys: int, device: torch.device) -> Tensor:
    """Additive mask (T, S): -inf at the keys after each query, of which the last stand last."""
    return torch.full((rows, keys), -math.inf, device=device).triu(keys - rows + 1)


class TransformerXLLayer(nn.Module):
    """One layer: relative attention, then the feed-forward network."""

    def __init__(
        self, width: int, hidden: int, heads: int, normalizer: nn.Module, norm: str, dropout: float
    ) -> None:
        super().__init__()
        self.attention = RelativeAttention(width, heads, normalizer)
        self.attend = Residual(width, norm, dropout)
        self.feed_forward = FeedForward(width, hidden, dropout)
        self.transform = Residual(width, norm, dropout)

    def forward(self, h: Tensor, memory: Tensor, distances: Tensor, u: Tensor, v: Tensor) -> Tensor:
        """h^(l-1) (B, T, D), after a memory (B, M, D), to h^(l)."""
        read = self.attend.enter(torch.cat([memory, h], dim=1))
        context = self.attention(read[:, memory.shape[1] :], read, distances, u, v)
        h = self.attend.leave(h, context)
        return self.transform.leave(h, self.feed_forward(self.transform.enter(h)))


class TransformerXL(nn.Module):
    """A stack of such layers over characters, whose embedding is the output layer's too.

    For training it remembers the streams that it reads: what is in `past` belongs to the state of a
    run, and so to what is saved and resumed. Of processes that share a run only the first one's
    streams are saved; a resumed run reads zeros in the place of the others' memory.

    Args:
        vocabulary_size: V.
        width: d_model.
        hidden: d_ff.
        layers: L.
        heads: H.
        normalizer: scores to weights; every layer gets a copy.
        memory: M, in training.
        streams: how many are read side by side in training.
        norm: `post` or `pre`.
        dropout: probability, on embeddings, distances, sub-layer outputs, the hidden layer of the
            FFN and the last layer's output.
    """

    past: Tensor

    def __init__(
        self,
        vocabulary_size: int,
        width: int,
        hidden: int,
        layers: int,
        heads: int,
        normalizer: nn.Module,
        memory: int,
        streams: int,
        norm: str = "post",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, width)
        self.u = nn.Parameter(torch.empty(width))
        self.v = nn.Parameter(torch.empty(width))
        self.layers = nn.ModuleList(
            TransformerXLLayer(width, hidden, heads, copy.deepcopy(normalizer), norm, dropout)
            for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width) if norm == "pre" else nn.Identity()
        self.bias = nn.Parameter(torch.zeros(vocabulary_size))
        self.dropout = Dropout(dropout)
        self.memory = memory
        self.register_buffer("past", torch.zeros(layers, streams, memory, width))
        for name, parameter in self.named_parameters():
            if name in ("u", "v") or (parameter.dim() > 1 and "normalizer" not in name):
                nn.init.normal_(parameter, std=INIT_STD * width**-0.5)

    def forward(
        self,
        tokens: Tensor,
        memory: Tensor | None = None,
        keep: int | None = None,
        furthest: int | None = None,
    ) -> Read:
        """Predict the character after each one.

        Args:
            tokens: (B, T).
            memory: (L, B, M, D), of what stands before them; none if nothing does.
            keep: how many characters the new memory has at most; as in training if not given.
            furthest: a distance; longer ones count as this one.
        """
        if memory is None:
            memory = self.past.new_zeros(len(self.layers), len(tokens), 0, self.past.shape[-1])
        h = self.dropout(self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim))
        back = torch.arange(memory.shape[2] + tokens.shape[1] - 1, -1, -1, device=tokens.device)
        back = back if furthest is None else back.clamp(max=furthest)
        distances = self.dropout(sinusoids(back, h.shape[-1]).to(h.dtype))
        read = []
        for layer, of_layer in zip(self.layers, memory, strict=True):
            read.append(h)
            h = layer(h, of_layer, distances, self.u, self.v)
        h = self.dropout(self.norm(h))
        logits = nn.functional.linear(h, self.embedding.weight, self.bias)
        keep = self.memory if keep is None else keep
        new = torch.cat([memory, torch.stack(read).detach().to(memory.dtype)], dim=2)
        return Read(logits, new[:, :, max(new.shape[2] - keep, 0) :])

    def recall(self, streams: Tensor, before: int) -> Tensor:
        """What is remembered (L, B, M', D) of streams (B,) of which so many characters were read.

        Raises:
            ValueError: there is a stream that the model has no memory of.
        """
        if int(streams.max()) >= self.past.shape[1]:
            raise ValueError(
                f"training.batch.tokens makes more streams than model.streams, which is "
                f"{self.past.shape[1]}: make it as many segments as there are streams."
            )
        return self.past[:, streams, self.memory - min(before, self.memory) :]

    def remember(self, streams: Tensor, memory: Tensor) -> None:
        """Keep the memory (L, B, M', D) of streams (B,) until their next segment."""
        self.past[:, streams, self.memory - memory.shape[2] :] = memory


def sinusoids(distances: Tensor, width: int) -> Tensor:
    """Sinusoids (S, D) of distances (S,), sines first; rate i is 10000^(-2i / D)."""
    rates = 10000.0 ** (-torch.arange(0, width, 2, device=distances.device) / width)
    angles = distances[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], dim=1)[:, :width]
