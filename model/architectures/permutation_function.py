"""Copying in another order: a fixed permutation of positions (snell2021 section 6.2).

The output is x_pi(1) .. x_pi(T), with one random pi for all sequences. Sequences are drawn so that
any order of their symbols is alike likely, so an example's sequence is taken to be the output, and
what the encoder reads is the same symbols put where pi says. Then everything that is defined for
copying (its loss, its accuracy, the attention on the right position) is so for this function too.
"""

from __future__ import annotations

import zlib

import torch
from torch import Tensor

from model.architectures.copying import Copied, CopyingModel


class PermutationModel(CopyingModel):
    """A copying model whose source is put in another order before it is read (snell2021 eq. 22).

    pi comes from a generator of its own, derived from the seed, so that the parameters start from
    the same values as those of a `CopyingModel`.

    Args:
        vocabulary_size: V.
        width: D, size of the embedding.
        hidden: H, of both LSTMs and of the layer before the output.
        length: T, symbols of a sequence; the end symbol behind them stays where it is.
        embedding_std: standard deviation of the initial embedding.
    """

    def __init__(
        self,
        vocabulary_size: int,
        width: int,
        hidden: int,
        length: int,
        embedding_std: float = 1.0,
    ) -> None:
        super().__init__(vocabulary_size, width, hidden, embedding_std)
        own = torch.Generator().manual_seed(
            zlib.crc32(f"{torch.initial_seed()} permutation".encode())
        )
        order = torch.cat([torch.randperm(length, generator=own), torch.tensor([length])])
        self.register_buffer("permutation", order)

    def forward(self, source: Tensor, before: Tensor) -> Copied:
        """Predict each symbol of the output.

        Args:
            source: (B, T + 1), the symbols in the order of the output and the end symbol.
            before: (B, T + 1), the true symbol before each prediction; BOS first.

        Returns:
            The prediction; column t of `weights` is the position that holds the t-th symbol of the
            output, so that the right position is the t-th in row t.

        Raises:
            ValueError: the sequences have another length.
        """
        order: Tensor = self.permutation  # type: ignore[assignment]
        if source.shape[1] != len(order):
            raise ValueError(
                f"the permutation is of {len(order) - 1} positions and the sequences have "
                f"{source.shape[1] - 1} symbols; set `length` of the model to that."
            )
        # x_pi(t) = y_t: position p of what is read holds the symbol t with pi(t) = p.
        logits, weights = super().forward(source[:, order.argsort()], before)
        return Copied(logits, weights[:, :, order])
