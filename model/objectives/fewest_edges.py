"""The fewest edges of attention at a loss that may not rise (Draye et al. 2025, 2512.05865)."""

from __future__ import annotations

import torch
from torch import Tensor

from model.architectures.constrained_language_model import ConstrainedLanguageModel
from model.batches.batching import Batch
from model.normalizers.edge_gates import EdgeGates
from model.objectives.language_modelling import LanguageModelling
from model.objectives.loss import Loss


class FewestEdges:
    """The expected share of gates that are open, at a loss of at most a bound.

    A model that was trained with softmax is trained on with it. The Lagrangian is loss + beta *
    share. log beta grows by `rate` times the slack, which is the bound less a moving average of the
    loss (GECO, Rezende and Viola 2018, with beta = 1 / lambda): a loss above its bound takes the
    weight from the edges.

    Args:
        bound: most nats per token.
        beta: its value at the start.
        rate: growth of log beta by an update, per nat of slack.
        memory: of the moving average.

    Raises:
        ValueError: a bound, beta or rate that is not positive, or a memory that is not below 1.
    """

    def __init__(
        self,
        bound: float,
        beta: float = 0.001,
        rate: float = 1.0,
        memory: float = 0.99,
    ) -> None:
        if min(bound, beta, rate) <= 0 or not 0 <= memory < 1:
            raise ValueError(
                f"bound, beta and rate must be positive, and memory from 0 to below 1: {bound}, "
                f"{beta}, {rate}, {memory}."
            )
        self.bound, self.beta, self.rate, self.memory = bound, beta, rate, memory

    def loss(self, model: ConstrainedLanguageModel, batch: Batch, epoch: float) -> Loss:
        """Loss of a batch; metrics `loss` (nats per token) and, in training, `edges`: the share."""
        nll, units, sums = LanguageModelling().loss(model, batch, epoch)
        if not model.training:
            return Loss(nll, units, sums)
        gates = [part.openness for part in model.modules() if isinstance(part, EdgeGates)]
        share = open_share([one for one in gates if one is not None], batch.real[:, :-1])
        with torch.no_grad():
            model.excess.mul_(self.memory).add_((1 - self.memory) * (nll - self.bound))
            model.pressure.sub_(self.rate * model.excess)
        mean = nll + self.beta * model.pressure.exp() * share
        return Loss(mean, units, {**sums, "edges": share.detach() * units})


def open_share(openness: list[Tensor], real: Tensor) -> Tensor:
    """Mean probability (B, H, T, T) of causal edges to be open, over layers, heads, real queries.

    Args:
        openness: of each layer.
        real: whether a query is no padding, (B, T).

    Raises:
        ValueError: there is no layer.
    """
    if not openness:
        raise ValueError("no layer has gates: give the decoder the normalizer EdgeGates.")
    total = sum((layer.sum(dim=-1).mean(dim=1) * real).sum() for layer in openness)
    edges = (real * torch.arange(1, real.shape[1] + 1, device=real.device)).sum()
    return total / (len(openness) * edges)
