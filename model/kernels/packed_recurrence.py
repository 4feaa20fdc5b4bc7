"""An LSTM over texts of different lengths that computes nothing for padding, in a packed layout.

Texts are sorted, the longest first, and laid end to end in time: all their first words, then the
second words of those that have one, and so on (as in `torch.nn.utils.rnn.PackedSequence`). With
texts as different as reviews are, half of a padded batch is padding. The recurrence is that of
`model.kernels.recurrence`, of which it takes the parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence

from model.kernels.recurrence import SymbolLSTM


@dataclass(frozen=True)
class PackedOrder:
    """Where the M words of a padded batch (B, T) stand in the packed layout.

    Attributes:
        rows: (M,) the text of each word.
        positions: (M,) its position there.
        mirrored: (M,) the place of the word as far from the end of the same text.
        sizes: T numbers, how many texts have a word at each position.
    """

    rows: Tensor
    positions: Tensor
    mirrored: Tensor
    sizes: Sequence[int]

    @classmethod
    def of(cls, real: Tensor) -> PackedOrder:
        """Lay out a batch.

        Args:
            real: (B, T), false at padding, which comes last.
        """
        lengths = real.sum(dim=1)
        order = lengths.argsort(descending=True, stable=True)
        positions, ranks = real[order].t().nonzero(as_tuple=True)
        rows = order[ranks]
        sizes = real.sum(dim=0)
        starts = sizes.cumsum(dim=0) - sizes
        mirrored = starts[lengths[rows] - 1 - positions] + ranks
        return cls(rows, positions, mirrored, sizes[sizes > 0].tolist())

    def pad(self, packed: Tensor, value: float, shape: torch.Size) -> Tensor:
        """Lay packed numbers (M,) out as a batch (B, T), with a value at padding."""
        return packed.new_full(shape, value).index_put((self.rows, self.positions), packed)


def read_packed(layer: SymbolLSTM, symbols: Tensor, table: Tensor, sizes: Sequence[int]) -> Tensor:
    """Read packed texts from a state of zeros.

    Args:
        layer: the LSTM.
        symbols: (M,) rows of the table.
        table: (U, D) embedded symbols.
        sizes: how many texts have a word at each position, falling.

    Returns:
        Hidden states (M, H); under autocast, too, in the parameters' precision.
    """
    with torch.autocast(symbols.device.type, enabled=False):
        return _read(layer, symbols, table.to(next(layer.lstm.parameters()).dtype), sizes)


def _read(layer: SymbolLSTM, symbols: Tensor, table: Tensor, sizes: Sequence[int]) -> Tensor:
    if symbols.device.type != "cpu":
        packed = PackedSequence(F.embedding(symbols, table), torch.tensor(sizes))
        states: Tensor = layer.lstm(packed)[0].data
        return states
    of_input, of_state, *biases = layer.lstm.parameters()
    gates = F.linear(table, of_input, biases[0] + biases[1])
    read: Tensor = _Packed.apply(symbols, gates, of_state, sizes)
    return read


class _Packed(torch.autograd.Function):
    """The recurrence given W_ih e + b of every symbol; gates in the order i, f, g, o."""

    @staticmethod
    def forward(
        ctx: Any, symbols: Tensor, table: Tensor, weight: Tensor, sizes: Sequence[int]
    ) -> Tensor:
        """Run over symbols (M,) with table (U, 4H) and weight (4H, H)."""
        size = weight.shape[1]
        gates = table.index_select(0, symbols)
        h, c, squashed = (table.new_empty(len(symbols), size) for _ in range(3))
        transposed = weight.t()
        before, start = 0, 0
        for n in sizes:
            own, last = slice(start, start + n), slice(before, before + n)
            if start:
                gates[own].addmm_(h[last], transposed)
            gates[own, : 2 * size].sigmoid_()
            i, f, g, o = gates[own].chunk(4, dim=1)
            g.tanh_()
            o.sigmoid_()
            torch.mul(i, g, out=c[own])
            if start:
                c[own].addcmul_(f, c[last])
            torch.tanh(c[own], out=squashed[own])
            torch.mul(o, squashed[own], out=h[own])
            before, start = start, start + n
        ctx.save_for_backward(symbols, gates, h, c, squashed, weight)
        ctx.sizes, ctx.symbols = sizes, len(table)
        return h

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor, Tensor, None]:
        """Back through time; the gradients of table and weight are summed in one product each."""
        symbols, gates, h, c, squashed, weight = ctx.saved_tensors
        sizes, (d_states,) = ctx.sizes, gradients
        d_h, d_c = (h.new_zeros(sizes[0], h.shape[1]) for _ in range(2))
        d_gates = torch.empty_like(gates)
        start = len(symbols)
        for t in reversed(range(len(sizes))):
            n = sizes[t]
            start -= n
            own = slice(start, start + n)
            i, f, g, o = gates[own].chunk(4, dim=1)
            d_i, d_f, d_g, d_o = d_gates[own].chunk(4, dim=1)
            # Texts that end here had no gradient so far.
            now, cell = d_h[:n], d_c[:n]
            now += d_states[own]
            cell.addcmul_(now * o, 1 - squashed[own] ** 2)
            torch.mul(now * squashed[own], o - o * o, out=d_o)
            torch.mul(cell * g, i - i * i, out=d_i)
            torch.mul(cell * i, 1 - g * g, out=d_g)
            if t == 0:
                d_f.zero_()
                break
            before = start - sizes[t - 1]
            torch.mul(cell * c[before : before + n], f - f * f, out=d_f)
            cell *= f
            torch.mm(d_gates[own], weight, out=now)
        d_table = gates.new_zeros(ctx.symbols, gates.shape[1]).index_add_(0, symbols, d_gates)
        # The state before each word but the first: that of the same text, one position earlier.
        of_position = torch.tensor(sizes)
        behind = of_position[:-1].repeat_interleave(of_position[1:])
        previous = h[torch.arange(sizes[0], len(symbols)) - behind]
        return None, d_table, d_gates[sizes[0] :].t() @ previous, None
