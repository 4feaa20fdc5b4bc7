"""A one-layer LSTM over symbols, close to the speed of its matrix products on one CPU core.

`nn.LSTM` multiplies every embedded symbol with W_ih, and its backward pass multiplies once more per
position for each gradient. Over a vocabulary of V symbols W_ih e has V values, so here they are
computed once and looked up, and the gradient of W_hh is one product over all positions. The
function is the same (Hochreiter and Schmidhuber 1997, as in `nn.LSTM`); a training step of the
copying model (snell2021 section 3.3) takes two thirds of the time.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

RecurrentState = tuple[Tensor, Tensor]
"""Hidden and cell state, (B, H) each."""


class SymbolLSTM(nn.Module):
    """An LSTM that reads embedded symbols.

    Args:
        width: D, size of an embedding.
        hidden: H.
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.lstm = nn.LSTM(width, hidden)

    def forward(
        self, tokens: Tensor, embedding: Tensor, state: RecurrentState | None = None
    ) -> tuple[Tensor, RecurrentState]:
        """Read symbols.

        Args:
            tokens: (T, B).
            embedding: the table (V, D).
            state: to start from; zeros without one.

        Returns:
            The hidden states (T, B, H), time first, and the last state; under autocast, too, in the
            parameters' precision, as cell states are long sums.
        """
        with torch.autocast(tokens.device.type, enabled=False):
            return self._read(tokens, embedding.to(next(self.lstm.parameters()).dtype), state)

    def _read(
        self, tokens: Tensor, embedding: Tensor, state: RecurrentState | None
    ) -> tuple[Tensor, RecurrentState]:
        if state is None:
            zeros = embedding.new_zeros(tokens.shape[1], self.hidden)
            state = (zeros, zeros)
        if tokens.device.type != "cpu":
            embedded = F.embedding(tokens, embedding)
            states, last = self.lstm(embedded, (state[0][None], state[1][None]))
            return states, (last[0][0], last[1][0])
        of_input, of_state, *biases = self.lstm.parameters()
        gates = F.linear(embedding, of_input, biases[0] + biases[1])
        states, h, c = _Recurrence.apply(tokens, gates, of_state, *state)
        return states, (h, c)


class _Recurrence(torch.autograd.Function):
    """The recurrence given W_ih e + b of every symbol; gates in the order i, f, g, o."""

    @staticmethod
    def forward(
        ctx: Any, tokens: Tensor, table: Tensor, weight: Tensor, h0: Tensor, c0: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Run over tokens (T, B) with table (V, 4H), weight (4H, H) and states (B, H)."""
        length, batch = tokens.shape
        size = weight.shape[1]
        gates = table.new_empty(length, batch, 4 * size)
        h = table.new_empty(length + 1, batch, size)
        c, squashed = torch.empty_like(h), torch.empty_like(h)
        h[0], c[0] = h0, c0
        transposed = weight.t()
        for t in range(length):
            torch.index_select(table, 0, tokens[t], out=gates[t])
            gates[t].addmm_(h[t], transposed)
            gates[t, :, : 2 * size].sigmoid_()
            i, f, g, o = gates[t].chunk(4, dim=1)
            g.tanh_()
            o.sigmoid_()
            torch.mul(f, c[t], out=c[t + 1]).addcmul_(i, g)
            torch.tanh(c[t + 1], out=squashed[t + 1])
            torch.mul(o, squashed[t + 1], out=h[t + 1])
        ctx.save_for_backward(tokens, gates, h, c, squashed, weight)
        ctx.symbols = len(table)
        return h[1:], h[-1].clone(), c[-1].clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor, Tensor, Tensor, Tensor]:
        """Back through time; the gradients of table and weight are summed in one product each."""
        tokens, gates, h, c, squashed, weight = ctx.saved_tensors
        d_states, d_h, d_c = gradients[0], gradients[1].clone(), gradients[2].clone()
        d_gates = torch.empty_like(gates)
        for t in reversed(range(len(tokens))):
            i, f, g, o = gates[t].chunk(4, dim=1)
            d_i, d_f, d_g, d_o = d_gates[t].chunk(4, dim=1)
            d_h += d_states[t]
            d_c.addcmul_(d_h * o, 1 - squashed[t + 1] ** 2)
            torch.mul(d_h * squashed[t + 1], o - o * o, out=d_o)
            torch.mul(d_c * g, i - i * i, out=d_i)
            torch.mul(d_c * c[t], f - f * f, out=d_f)
            torch.mul(d_c * i, 1 - g * g, out=d_g)
            d_c *= f
            torch.mm(d_gates[t], weight, out=d_h)
        flat = d_gates.flatten(0, 1)
        d_table = gates.new_zeros(ctx.symbols, flat.shape[1]).index_add_(0, tokens.flatten(), flat)
        return None, d_table, flat.t() @ h[:-1].flatten(0, 1), d_h, d_c
