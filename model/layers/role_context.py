"""What a token's role is read from: its sentence, by an LSTM or a convolution
(weissenborn2019 section 3.1).

A context maps packed tokens e (N, D) and their layout to one vector a token, (N, H). On the target
side it is causal, and decodes token by token: `step` takes the newest token of every hypothesis and
the state that is left of the ones before it.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from model.kernels.recurrence import SymbolLSTM
from model.layers.packing import Layout

ContextState = tuple[Tensor, ...]
"""What is left of the tokens before, (R, ...) of R hypotheses; empty at the start."""


class LSTMContext(nn.Module):
    """States of an LSTM: of both directions on the source side, of one on the target side.

    Args:
        width: D, of a token; H = D, half of it for each of two directions.
        causal: whether a token sees none after it.
        inclusive: whether a causal one sees the token itself.

    Raises:
        ValueError: two directions cannot share an odd width.
    """

    def __init__(self, width: int, causal: bool, inclusive: bool) -> None:
        super().__init__()
        if width % 2 and not causal:
            raise ValueError(
                f"width: two directions of an LSTM can't share {width}: make it even, or give the "
                f"roles a window."
            )
        self.exclusive = causal and not inclusive
        self.rightward = SymbolLSTM(width, width if causal else width // 2)
        self.leftward = None if causal else SymbolLSTM(width, width // 2)

    def forward(self, e: Tensor, layout: Layout) -> Tensor:
        """Tokens e (N, D) to what is known of each, (N, H)."""
        batch, length = layout.real.shape
        rows = layout.places // length
        # A place of padding, which stands after the tokens, reads some token; nobody looks there.
        tokens = (layout.real.flatten().cumsum(0) - 1).clamp(min=0).view(batch, length)
        # `SymbolLSTM` reads rows of a table: here the table has a row for each token.
        states, _ = self.rightward(tokens.t(), e)
        right = states.flatten(0, 1).index_select(0, layout.columns * batch + rows)
        if self.exclusive:
            before = right.roll(1, 0)
            return before.masked_fill((layout.columns == 0)[:, None], 0)
        if self.leftward is None:
            return right
        lengths = layout.real.sum(1, keepdim=True)
        column = torch.arange(length, device=e.device)
        mirrored = tokens.gather(1, (lengths - 1 - column).clamp(min=0))
        states, _ = self.leftward(mirrored.t(), e)
        back = lengths[rows, 0] - 1 - layout.columns
        left = states.flatten(0, 1).index_select(0, back * batch + rows)
        return torch.cat([right, left], 1)

    def step(self, e: Tensor, state: ContextState) -> tuple[Tensor, ContextState]:
        """Newest tokens (R, D) of R hypotheses to what is known of them, (R, H), and the state."""
        before = state[0] if state else e.new_zeros(len(e), self.rightward.hidden)
        newest = torch.arange(len(e), device=e.device)[None]
        _, state = self.rightward(newest, e, (state[0], state[1]) if state else None)
        return before if self.exclusive else state[0], state


class ConvolutionContext(nn.Module):
    """A convolution with a ReLU: the token in the middle on the source side, last on the target's.

    Beyond the ends of a sentence stand zeros.

    Args:
        width: D, of a token; H = D.
        window: how many tokens it covers, an odd number.
        causal: whether a token sees none after it.
        inclusive: whether a causal one sees the token itself.
    """

    def __init__(self, width: int, window: int, causal: bool, inclusive: bool) -> None:
        super().__init__()
        self.window, self.exclusive = window, causal and not inclusive
        after = -1 if self.exclusive else 0 if causal else window // 2
        self.offsets = range(after - window + 1, after + 1)
        self.linear = nn.Linear(window * width, width)
        nn.init.xavier_uniform_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, e: Tensor, layout: Layout) -> Tensor:
        """Tokens e (N, D) to what is known of each, (N, H)."""
        offsets = torch.tensor(list(self.offsets), device=e.device)
        lengths = layout.real.sum(1)[layout.places // layout.real.shape[1]]
        columns = layout.columns[:, None] + offsets
        token = torch.arange(len(e), device=e.device)[:, None] + offsets
        outside = (columns < 0) | (columns >= lengths[:, None])
        seen = torch.cat([e, torch.zeros_like(e[:1])])[token.masked_fill(outside, len(e))]
        context: Tensor = self.linear(seen.flatten(1)).relu()
        return context

    def step(self, e: Tensor, state: ContextState) -> tuple[Tensor, ContextState]:
        """Newest tokens (R, D) of R hypotheses to what is known of them, (R, H), and the state."""
        before = state[0] if state else e.new_zeros(len(e), self.window, e.shape[1])
        after = torch.cat([before[:, 1:], e[:, None]], 1)
        seen = before if self.exclusive else after
        return self.linear(seen.flatten(1)).relu(), (after,)
