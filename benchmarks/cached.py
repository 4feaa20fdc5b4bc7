"""Decoding of `torch.nn.Transformer` with a cache of keys and values, as one would write it.

Every hypothesis is a row. Keys and values of the words so far are kept, and moved when hypotheses
change beams; those of the source stand there once per hypothesis.
Dimensions: B sentences, S source length, G beams, R = B G rows, t words so far, H heads, K head
width, D width.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.baseline import TorchTransformer
from benchmarks.plain_search import Found
from model.architectures.translation.beam_search import Beam
from model.batches.batching import BOS, PAD
from model.batches.pairs import EOS, PairBatch

Pair = Sequence[Tensor]


class CachedTransformer(TorchTransformer):
    """The baseline with another `translate`, of the same rules; its arguments are the same."""

    @torch.no_grad()
    def translate(self, batch: PairBatch, settings: Beam) -> list[list[Found]]:
        """Translate the sources of a batch; the hypotheses of each, best first."""
        beams, real = settings.beam, batch.source_layout.real
        encoded = self.stacks.encoder(self.embed(batch.source), src_key_padding_mask=~real)
        mask = real[:, : encoded.shape[1]].repeat_interleave(beams, 0)[:, None, None]
        layers = self.stacks.decoder.layers
        keys_and_values = slice(encoded.shape[-1], None)
        memories = [
            [
                part.repeat_interleave(beams, 0)
                for part in _project(layer.multihead_attn, encoded, keys_and_values)
            ]
            for layer in layers
        ]
        caches: list[Any] = [None] * len(layers)
        longest = (settings.length_ratio * real.sum(1)).long() + settings.length_extra
        words = torch.full((len(real) * beams, 1), BOS, device=real.device)
        totals = torch.full((len(real), beams), -math.inf, device=real.device)
        totals[:, 0] = 0
        finished: list[list[Found]] = [[] for _ in real]
        for step in range(1, int(longest.max()) + 1):
            h = self.embedding(words[:, -1:]) * math.sqrt(self.embedding.embedding_dim)
            h = h + self.position[step - 1]
            for index, layer in enumerate(layers):
                h, caches[index] = _layer(layer, h, caches[index], memories[index], mask)
            log_p = F.linear(h[:, 0], self.embedding.weight).float().log_softmax(-1)
            log_p[:, [PAD, BOS]] = -math.inf
            last = (longest == step).repeat_interleave(beams)
            log_p[last, EOS + 1 :] = -math.inf
            sums = totals[:, :, None] + log_p.unflatten(0, (-1, beams))
            best, places = sums.flatten(1).topk(2 * beams)
            parents, chosen = places // sums.shape[2], places % sums.shape[2]
            ends = chosen == EOS
            rows = parents + beams * torch.arange(len(real), device=real.device)[:, None]
            for sentence, place in ends[:, :beams].nonzero().tolist():
                score, found = float(best[sentence, place]), finished[sentence]
                if score > -math.inf and len(found) < beams:
                    text = [*words[rows[sentence, place], 1:].tolist(), EOS]
                    found.append(Found(score / settings.divisor(step), text))
            if all(len(found) >= beams for found in finished):
                break
            totals, live = best.masked_fill(ends, -math.inf).topk(beams)
            rows = rows.gather(1, live).flatten()
            words = torch.cat([words[rows], chosen.gather(1, live).view(-1, 1)], 1)
            caches = [(k[rows], v[rows]) for k, v in caches]
        return [sorted(found, key=lambda one: -one.score) for found in finished]


def _layer(
    layer: nn.TransformerDecoderLayer, h: Tensor, cache: Pair | None, memory: Pair, mask: Tensor
) -> tuple[Tensor, Pair]:
    """The newest words' states (R, 1, D) after a layer, and its cache (R, H, t, K) with them."""
    own, cross = layer.self_attn, layer.multihead_attn
    q, *new = _project(own, h, slice(None))
    k, v = new if cache is None else (torch.cat(pair, 2) for pair in zip(cache, new, strict=True))
    h = layer.norm1(h + _read(own, q, k, v))
    (q,) = _project(cross, h, slice(h.shape[-1]))
    h = layer.norm2(h + _read(cross, q, memory[0], memory[1], mask))
    return layer.norm3(h + layer.linear2(layer.linear1(h).relu())), (k, v)


def _project(attention: nn.MultiheadAttention, x: Tensor, part: slice) -> Iterator[Tensor]:
    """States (R, t, D) to queries, keys and values, or a part of these, each (R, H, t, K)."""
    made = F.linear(x, attention.in_proj_weight[part], attention.in_proj_bias[part])
    for one in made.split(x.shape[-1], -1):
        yield one.unflatten(-1, (attention.num_heads, -1)).transpose(1, 2)


def _read(
    attention: nn.MultiheadAttention, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> Tensor:
    """What queries (R, H, 1, K) read of keys and values (R, H, t, K); (R, 1, D)."""
    read = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return attention.out_proj(read.transpose(1, 2).flatten(2))
