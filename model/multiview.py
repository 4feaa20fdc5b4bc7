"""Classifying what can be written in two ways (thesis, sections 4.3, 5.3 and 6.3).

The multiview model has one controller stream per view and one model stream for all of them: given
the right attention decisions, the model stream should compute the same for every view.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.attention import padding_mask
from model.batching import BOS, PAD, Batch
from model.classifier import Classifier
from model.loss import Loss
from model.transformer import Embedding, Encoded
from model.two_stream import ControllerLayer, ModelLayer, TwoStreamTransformer

VIEWS = ("infix", "prefix")
CHUNKS = 2


class Controller(nn.Module):
    """The controller stream of one view; it routes as that of the two-stream model does."""

    def __init__(self, embedding: Embedding, layers: Sequence[ControllerLayer]) -> None:
        super().__init__()
        self.controller_embedding = embedding
        self.controller = nn.ModuleList(layers)

    route = TwoStreamTransformer.route


class MultiviewTransformer(nn.Module):
    """One controller stream per view, and a model stream that all views share.

    Args:
        views: U, number of views.
        The others: as of `TwoStreamTransformer`.
    """

    def __init__(
        self,
        views: int,
        vocabulary_size: int,
        width: int,
        hidden: int,
        layers: int,
        heads: int,
        normalizer: nn.Module,
        norm: str = "pre",
        positions: str = "sinusoidal",
        max_length: int = 512,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.width = width
        embed = (vocabulary_size, width, positions, max_length, dropout)
        layer = (width, hidden, heads, norm, dropout)
        self.embedding = Embedding(*embed)
        self.controllers = nn.ModuleList(
            Controller(Embedding(*embed), [ControllerLayer(*layer) for _ in range(layers)])
            for _ in range(views)
        )
        self.normalizers = nn.ModuleList(copy.deepcopy(normalizer) for _ in range(layers))
        self.model_stream = nn.ModuleList(ModelLayer(*layer) for _ in range(layers))
        self.norm = nn.LayerNorm(width) if norm == "pre" else nn.Identity()

    def forward(self, tokens: Tensor, real: Tensor) -> Encoded:
        """Encode every view; the model stream reads all of them as one batch.

        Args:
            tokens: (U, B, T).
            real: (U, B, T), true at real tokens, false at padding.

        Returns:
            The states (U * B, T, D), view after view, and the routing of each layer.
        """
        scores = [
            controller.route(view, padding_mask(shown))  # type: ignore[operator]
            for controller, view, shown in zip(self.controllers, tokens, real, strict=True)
        ]
        by_layer = zip(self.normalizers, zip(*scores, strict=True), strict=True)
        routing = [normalizer(torch.cat(layer)) for normalizer, layer in by_layer]
        h = self.embedding(tokens.flatten(0, 1))
        for layer, z in zip(self.model_stream, routing, strict=True):
            h = layer(h, z)
        return Encoded(self.norm(h), routing)


class MultiviewClassifier(nn.Module):
    """A multiview encoder and one linear layer on its states at <cls>.

    Args:
        encoder: a `MultiviewTransformer`.
        classes: C.
    """

    def __init__(self, encoder: MultiviewTransformer, classes: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.output = nn.Linear(encoder.width, classes)

    def forward(self, tokens: Tensor, real: Tensor) -> Tensor:
        """Logits (U, B, C) of tokens (U, B, T)."""
        state = self.encoder(tokens, real).state[:, 0]
        return self.output(state).unflatten(0, tokens.shape[:2])


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
    found = []
    for chosen in order.chunk(CHUNKS):
        longest = int(lengths[chosen[-1]])
        part, shown = tokens[:, chosen, :longest], real[:, chosen, :longest]
        if isinstance(model, Classifier):
            found.append(model(part[0], shown[0], need_weights=False).logits[None])
        else:
            found.append(model(part, shown))
    return torch.cat(found, dim=1)[:, order.argsort()]


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
