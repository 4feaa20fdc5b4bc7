"""Arithmetic in two views: one answer from prefix, infix, or both."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.architectures.classifier import Classifier
from model.batches.batching import BOS, PAD, Batch
from model.objectives.loss import Loss

VIEWS = ("infix", "prefix")
CHUNKS = 2


class Evaluation:
    """Cross-entropy of an expression's value in every view, summed over the views.

    Args:
        view: the view in the corpus; without one it holds both.
        depths: of the expressions; the accuracy at each is reported as a share of all examples.
    """

    def __init__(self, depths: Sequence[int], view: str | None = None) -> None:
        self.depths = depths
        self.views = VIEWS if view is None else (view,)

    def loss(self, model: nn.Module, batch: Batch, epoch: float) -> Loss:
        """Loss of a batch with the columns `label` and `depth`.

        Metrics: `loss` (nats, summed over the views), `accuracy` (%, their mean), and for each
        view and depth `<view>_depth_<d>`, the percentage of all examples that are of this depth
        and right.
        """
        logits = predict(model, batch)
        labels, depth = batch.columns["label"], batch.columns["depth"]
        losses = [F.cross_entropy(view.float(), labels) for view in logits]
        loss = torch.stack(losses).sum()
        units = len(labels)
        with torch.no_grad():
            right = 100.0 * (logits.argmax(dim=-1) == labels)
            sums = {"loss": loss.detach() * units, "accuracy": right.mean(0).sum()}
            for name, of_view in zip(self.views, right, strict=True):
                for d in self.depths:
                    sums[f"{name}_depth_{d}"] = (of_view * (depth == d)).sum()
        return Loss(loss, units, sums)


def predict(model: nn.Module, batch: Batch) -> Tensor:
    """Logits (U, B, C) of a batch, from a `Classifier` or a `MultiviewClassifier`.

    The batch is computed in chunks of similar lengths, which spares most of the padding.
    """
    tokens = by_view(batch) if "infix_length" in batch.columns else batch.tokens[None]
    real = tokens != PAD
    lengths = real.sum(dim=-1).amax(dim=0)
    order = lengths.argsort()
    logits = []
    for chosen in order.chunk(CHUNKS):
        longest = int(lengths[chosen[-1]])
        part, shown = tokens[:, chosen, :longest], real[:, chosen, :longest]
        if isinstance(model, Classifier):
            logits.append(model(part[0], shown[0], need_weights=False).logits[None])
        else:
            logits.append(model(part, shown))
    return torch.cat(logits, dim=1)[:, order.argsort()]


def by_view(batch: Batch) -> Tensor:
    """Take apart examples that hold the infix form and then the prefix form, to (2, B, T).

    The column `infix_length` (B,) says how many tokens the first has; each view begins with BOS.
    """
    first = batch.columns["infix_length"]
    lengths = torch.stack([first, batch.real.sum(dim=1) - 1 - first])
    starts = torch.stack([torch.ones_like(first), 1 + first])
    place = torch.arange(int(lengths.max()), device=first.device)
    where = (starts[..., None] + place).clamp(max=batch.tokens.shape[1] - 1)
    tokens = batch.tokens.expand(2, -1, -1).gather(2, where)
    tokens = tokens.masked_fill(place >= lengths[..., None], PAD)
    return F.pad(tokens, (1, 0), value=BOS)
