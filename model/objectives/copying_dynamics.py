"""Copying, with a record of what is learned first: words, or where to look
(snell2021 section 3)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from model.architectures.multihead_copying import MultiheadCopyingModel
from model.batches.batching import Batch
from model.objectives.copying import Copying
from model.objectives.loss import Loss

ONE_IN = 20
"""Positions of which one counts as among the highest: 5 % (snell2021 section 3.1)."""


class Dynamics(NamedTuple):
    """Where attention and the lexical probe are highest, (B, T - 1) each, 0 or 1.

    The end symbol, which stands wherever the source ends, is left out.

    Attributes:
        attended: attention is highest on the symbol to copy.
        lexical: the lexical probe is highest there.
        agreement: A(alpha, beta), where attention is highest the lexical probe is among its highest
            5 % (snell2021 eq. 7).
    """

    attended: Tensor
    lexical: Tensor
    agreement: Tensor


class CopyingDynamics:
    """The objective of copying, which also follows attention and the lexical probe.

    Args:
        probed: sequences of each batch that are probed, the first ones; a sequence has T x T
            values of the probe.
    """

    def __init__(self, probed: int = 8) -> None:
        self.probed = probed

    def loss(self, model: MultiheadCopyingModel, batch: Batch, epoch: float) -> Loss:
        """Loss of a batch of sequences, each closed by the end symbol.

        Metrics: those of `Copying`, and the fields of `Dynamics` as fractions of symbols, before
        the update. They are of attention as it is at test time, without noise.

        Raises:
            ValueError: the sequences have different lengths.
        """
        mean, units, sums = Copying().loss(model, batch, epoch)
        tokens = batch.tokens[: self.probed]
        training = model.training
        model.eval()
        followed = dynamics(model, tokens[:, 1:], tokens[:, :-1])
        model.train(training)
        probed = {name: units * value.mean() for name, value in followed._asdict().items()}
        return Loss(mean, units, sums | probed)


@torch.no_grad()
def dynamics(model: MultiheadCopyingModel, source: Tensor, before: Tensor) -> Dynamics:
    """Compare attention (the mean over heads) and the lexical probe at every symbol of a copy.

    Args:
        model: with any number of heads.
        source: (B, T), the last of them the end symbol.
        before: (B, T), the true symbol before each prediction; BOS first.
    """
    symbols = source.shape[1] - 1
    alpha = model(source, before).weights[:, :symbols, :symbols]
    beta = model.lexical(source, before)[:, :symbols, :symbols]
    places = torch.arange(symbols, device=source.device)
    looked = alpha.argmax(dim=2)
    there = beta.gather(2, looked[..., None])
    higher = (beta > there).sum(dim=2)
    return Dynamics(
        (looked == places).float(),
        (beta.argmax(dim=2) == places).float(),
        (ONE_IN * higher < symbols).float(),
    )
