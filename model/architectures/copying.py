"""Copying with a recurrent encoder-decoder and one attention head (snell2021 section 2.1, 3.3).

    h_1 .. h_T   encoder states             alpha_t = softmax((W s_t + b)^T h)
    s_1 .. s_T   decoder states             c_t     = sum_j alpha_tj h_j
    p(o_t)       = softmax(V tanh(U [s_t; P c_t]))

Readings (from the authors' code): one embedding for both sides, drawn from N(0, 1); the decoder
starts from the encoder's last state; the context is projected before it is concatenated.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.kernels.recurrence import SymbolLSTM


class Copied(NamedTuple):
    """What a copying model predicts.

    Attributes:
        logits: (B, T, V), of every symbol of the copy.
        weights: alpha, (B, T, T).
    """

    logits: Tensor
    weights: Tensor


class CopyingModel(nn.Module):
    """LSTM encoder and decoder with single-head attention, one direction and one layer each.

    What it computes is snell2021 eq. 1, 2.

    Every part is initialised from a generator of its own, derived from the seed and the part's
    name, so that a change to one part leaves the initial values of the others as they are.

    Args:
        vocabulary_size: V.
        width: D, size of the embedding.
        hidden: H, of both LSTMs and of the layer before the output.
        embedding_std: standard deviation of the initial embedding.
    """

    def __init__(
        self, vocabulary_size: int, width: int, hidden: int, embedding_std: float = 1.0
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, width)
        self.encoder = SymbolLSTM(width, hidden)
        self.decoder = SymbolLSTM(width, hidden)
        self.query = nn.Linear(hidden, hidden)
        self.context = nn.Linear(hidden, hidden)
        self.combine = nn.Linear(2 * hidden, hidden)
        self.output = nn.Linear(hidden, vocabulary_size)
        for name, part in self.named_children():
            own = torch.Generator().manual_seed(
                zlib.crc32(f"{torch.initial_seed()} {name}".encode())
            )
            if isinstance(part, nn.Embedding):
                nn.init.normal_(part.weight, std=embedding_std, generator=own)
                continue
            # As torch does: within 1 / sqrt(inputs), of an LSTM within 1 / sqrt(H).
            inputs = part.in_features if isinstance(part, nn.Linear) else hidden
            for parameter in part.parameters():
                nn.init.uniform_(parameter, -(inputs**-0.5), inputs**-0.5, generator=own)

    def forward(self, source: Tensor, before: Tensor) -> Copied:
        """Predict each symbol of the copy.

        Args:
            source: (B, T), what to copy.
            before: (B, T), the true symbol before each prediction; BOS first.
        """
        table = self.embedding.weight
        h, last = self.encoder(source.t(), table)
        s, _ = self.decoder(before.t(), table, last)
        keys = h.transpose(0, 1)
        weights = (self.query(s).transpose(0, 1) @ keys.transpose(1, 2)).softmax(dim=-1)
        # U [s; P c] = U_s s + (U_c P) c: the product of the matrices is smaller than one by one.
        of_state, of_context = self.combine.weight.chunk(2, dim=1)
        bias = self.combine.bias + of_context @ self.context.bias
        mixed = F.linear(weights @ keys, of_context @ self.context.weight)
        hidden = (F.linear(s, of_state, bias) + mixed.transpose(0, 1)).tanh()
        return Copied(self.output(hidden).transpose(0, 1), weights)
