"""What the speed is compared with: `torch.nn.Transformer`, trained and decoded as it comes.

Padded batches, the whole matrix of logits, torch's own dropout; decoding computes the prefix anew
at every step. Embeddings, positions and dropout are in the same places as in the model under test,
so that the same weights give the same loss and the same translations.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.plain_search import Found, plain_search
from model.architectures.translation.beam_search import Beam
from model.architectures.translation.encoder_decoder import EncoderDecoder
from model.batches.batching import PAD
from model.batches.pairs import PairBatch
from model.layers.blocks import sinusoids


class TorchTransformer(nn.Module):
    """`torch.nn.Transformer`, post-norm, with one matrix of source, target and output words.

    Args:
        vocabulary_size: V.
        width: d_model.
        hidden: d_ff.
        layers: L.
        heads: h.
        dropout: probability.
    """

    position: Tensor

    def __init__(
        self, vocabulary_size: int, width: int, hidden: int, layers: int, heads: int, dropout: float
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, width)
        self.register_buffer("position", sinusoids(1024, width), persistent=False)
        self.dropout = nn.Dropout(dropout)
        self.stacks = nn.Transformer(
            width, heads, layers, layers, hidden, dropout, batch_first=True
        )
        # Post-norm layers end with a norm; the further ones would normalise twice.
        self.stacks.encoder.norm = self.stacks.decoder.norm = None

    def embed(self, tokens: Tensor) -> Tensor:
        """(B, T) to (B, T, D)."""
        scaled = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)
        return self.dropout(scaled + self.position[: tokens.shape[1]])

    def loss(self, batch: PairBatch, smoothing: float = 0.1) -> Tensor:
        """Label-smoothed cross-entropy per target token."""
        inputs, targets = batch.tokens[:, :-1], batch.tokens[:, 1:]
        hidden = ~batch.source_layout.real
        states = self.stacks(
            self.embed(batch.source),
            self.embed(inputs),
            tgt_mask=_causal(inputs),
            src_key_padding_mask=hidden,
            memory_key_padding_mask=hidden,
            tgt_is_causal=True,
        )
        logits = F.linear(states, self.embedding.weight).flatten(0, 1)
        return F.cross_entropy(
            logits, targets.flatten(), ignore_index=PAD, label_smoothing=smoothing
        )

    @torch.no_grad()
    def translate(self, batch: PairBatch, settings: Beam) -> list[list[Found]]:
        """Translate the sources of a batch; the hypotheses of each, best first."""
        hidden = ~batch.source_layout.real
        memory = self.stacks.encoder(self.embed(batch.source), src_key_padding_mask=hidden)
        if memory.shape[1] < hidden.shape[1]:
            hidden = hidden[:, : memory.shape[1]]

        def log_p(prefixes: Tensor, sentences: Tensor) -> Tensor:
            states = self.stacks.decoder(
                self.embed(prefixes),
                memory[sentences],
                tgt_mask=_causal(prefixes),
                memory_key_padding_mask=hidden[sentences],
                tgt_is_causal=True,
            )
            return F.linear(states[:, -1], self.embedding.weight).log_softmax(dim=-1)

        lengths = batch.source_layout.real.sum(1)
        longest = (settings.length_ratio * lengths).long() + settings.length_extra
        return plain_search(log_p, longest.tolist(), settings)


def same_weights(model: EncoderDecoder, baseline: TorchTransformer) -> None:
    """Copy a soft post-norm model's weights into the baseline."""
    ours: Any
    theirs: Any
    with torch.no_grad():
        baseline.embedding.weight.copy_(model.output_weight)
        for ours, theirs in zip(model.encoder, baseline.stacks.encoder.layers, strict=True):
            _copy_attention(ours.read.project, ours.read.output, theirs.self_attn)
            _copy_feed_forward(ours, theirs)
            theirs.norm1.load_state_dict(ours.attend.norm.state_dict())
            theirs.norm2.load_state_dict(ours.transform.norm.state_dict())
        for ours, theirs in zip(model.decoder, baseline.stacks.decoder.layers, strict=True):
            _copy_attention(ours.read.project, ours.read.output, theirs.self_attn)
            packed = nn.Linear(1, 1)
            packed.weight = nn.Parameter(
                torch.cat([ours.cross.query.weight, ours.cross.memory.weight])
            )
            packed.bias = nn.Parameter(torch.cat([ours.cross.query.bias, ours.cross.memory.bias]))
            _copy_attention(packed, ours.cross.output, theirs.multihead_attn)
            _copy_feed_forward(ours, theirs)
            theirs.norm1.load_state_dict(ours.attend.norm.state_dict())
            theirs.norm2.load_state_dict(ours.consult.norm.state_dict())
            theirs.norm3.load_state_dict(ours.transform.norm.state_dict())


def _copy_attention(project: nn.Linear, output: nn.Linear, theirs: nn.MultiheadAttention) -> None:
    theirs.in_proj_weight.copy_(project.weight)
    theirs.in_proj_bias.copy_(project.bias)
    theirs.out_proj.load_state_dict(output.state_dict())


def _copy_feed_forward(ours: Any, theirs: Any) -> None:
    theirs.linear1.load_state_dict(ours.feed_forward[0].state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward[3].state_dict())


def _causal(words: Tensor) -> Tensor:
    """(T, T), true at the words behind each of words (B, T)."""
    length = words.shape[1]
    return torch.ones(length, length, dtype=torch.bool, device=words.device).triu(1)
