"""Real tokens of a batch end to end, for all that looks at one token at a time.

Linear layers, norms and dropout work on the N real tokens alone, x (N, D); only attention needs
them side by side, (B, H, T, K), where the change of shape and the split into heads are one copy.
Dimensions: B batch, T length, H heads, K head width, D = H K, N real tokens.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class Layout:
    """Where the real tokens of a batch stand.

    Args:
        real: (B, T), true at real tokens; padding stands at the end of a row.

    Attributes:
        real: the same.
        places: (N,) places of the real tokens in the flattened batch.
        columns: (N,) their positions in their rows.
        full: whether there is no padding.
    """

    def __init__(self, real: Tensor) -> None:
        self.real = real
        self.places = real.flatten().nonzero().squeeze(1)
        self.columns = self.places % real.shape[1]
        self.full = len(self.places) == real.numel()
        self._padding = (~real).flatten().nonzero().squeeze(1)
        # The row of each place; a place of padding repeats the token before it.
        self._rows = (real.flatten().cumsum(0) - 1).clamp_(min=0).view(real.shape)
        self._routes: dict[tuple[int, int], tuple[Tensor, Tensor]] = {}

    def to(self, device: torch.device) -> Layout:
        """The same layout on another device."""
        moved = Layout.__new__(Layout)
        moved._routes, moved.full = {}, self.full
        for name in ("real", "places", "columns", "_padding", "_rows"):
            setattr(moved, name, getattr(self, name).to(device, non_blocking=True))
        return moved

    def pack(self, x: Tensor) -> Tensor:
        """(B, T, ...) to (N, ...)."""
        return x.flatten(0, 1).index_select(0, self.places)

    def split(self, x: Tensor, heads: int, parts: int = 1) -> tuple[Tensor, ...]:
        """Packed projections (N, parts D) to `parts` tensors (B, H, T, K); padding is arbitrary."""
        batch, length = self.real.shape
        if self.full:
            return x.view(batch, length, parts, heads, -1).permute(2, 0, 3, 1, 4).unbind()
        there, back = self._route(heads, parts)
        rows = _Split.apply(x.reshape(len(x) * parts * heads, -1), there, back)
        return rows.view(parts, batch, heads, length, -1).unbind()

    def merge(self, x: Tensor) -> Tensor:
        """(B, H, T, K) to (N, D)."""
        if self.full:
            return x.transpose(1, 2).reshape(len(self.places), -1)
        there, back = self._route(x.shape[1], 1)
        rows = _Merge.apply(x.reshape(-1, x.shape[-1]), there, back, self._hidden(x.shape[1]))
        return rows.view(len(self.places), -1)

    def _route(self, heads: int, parts: int) -> tuple[Tensor, Tensor]:
        """Rows of K numbers: which packed one each head's place takes, and the way back."""
        if (heads, parts) not in self._routes:
            batch, length = self.real.shape
            part = torch.arange(parts, device=self.real.device)
            head = torch.arange(heads, device=self.real.device)
            there = (self._rows[:, None] * parts + part[:, None, None, None]) * heads
            there = (there + head[:, None]).flatten()
            row, column = self.places // length, self.columns
            back = (part[:, None] * batch + row[:, None, None]) * heads + head
            back = (back * length + column[:, None, None]).flatten()
            self._routes[heads, parts] = there, back
        return self._routes[heads, parts]

    def _hidden(self, heads: int) -> Tensor:
        """Places of padding in every head."""
        length = self.real.shape[1]
        row, column = self._padding // length, self._padding % length
        head = torch.arange(heads, device=row.device)
        return ((row[:, None] * heads + head) * length + column[:, None]).flatten()


class _Split(torch.autograd.Function):
    """Rows to their places; padding gets some row, and its gradient counts for nothing."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, there: Tensor, back: Tensor) -> Tensor:
        ctx.save_for_backward(back)
        return rows.index_select(0, there)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (back,) = ctx.saved_tensors
        return gradient.index_select(0, back), None, None


class _Merge(torch.autograd.Function):
    """Places back to rows; padding gets no gradient."""

    @staticmethod
    def forward(ctx: Any, places: Tensor, there: Tensor, back: Tensor, hidden: Tensor) -> Tensor:
        ctx.save_for_backward(there, hidden)
        return places.index_select(0, back)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        there, hidden = ctx.saved_tensors
        return gradient.index_select(0, there).index_fill_(0, hidden, 0), None, None, None
