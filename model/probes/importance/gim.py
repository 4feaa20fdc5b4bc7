"""GIM, gradient interaction modifications (Edin et al. 2025): a gradient that sees self-repair.

Where a softmax gives much to one of two large scores, the other takes over when the first is less,
so that the gradient by either is near 0. GIM is (e_j - e_<unk>) dy/de_j, with y the logit of the
predicted class and three changes of the backward pass:

    temperature-adjusted softmax    dA/dS at S / T, with T = 2; A itself stays softmax(S)
    layer norm frozen               its standard deviation is a constant
    gradient normalization          each factor of A V and of Q K^T gets half

The last two are the rules of `model.probes.importance.attnlrp`, so where no weights pass a
gradient, as those of an argmax, the gradient is that of AttnLRP: what is corrected is not there.
Any other normalizer f is treated as the softmax is, its derivative taken at S / T.
The authors' code: src/gim/{utils,attention,layernorm}.py of JoakimEdin/gim at 38c8472f, and
src/gim/explain.py of corticph/gim at 7e31c65f, where e_<unk> is the baseline of a vocabulary that
has no space; there the gradients of Q and K are a fourth and that of V is half, which is the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from model.batches.batching import Batch
from model.probes.importance.attnlrp import rules, slopes
from model.probes.importance.explanations import UNKNOWN

TEMPERATURE = 2.0
"""T, as the authors set it."""


def gim(model: nn.Module, batch: Batch, temperature: float = TEMPERATURE) -> Tensor:
    """What the logit owes to each token (B, T) rather than <unk>."""
    with ExitStack() as hooks:
        for hook in (*rules(model, batch), *_tempered(model.encoder, temperature)):
            hooks.enter_context(hook)
        unknown = torch.full_like(batch.tokens, UNKNOWN)
        parts = [
            ((embedding.tokens(batch.tokens) - embedding.tokens(unknown)) * slope).sum(dim=-1)
            for embedding, slope in slopes(model, batch)
        ]
    return torch.stack(parts).sum(dim=0).detach()


def _tempered(encoder: Any, temperature: float) -> Iterator[RemovableHandle]:
    """Hooks that take the gradient of weights by scores at scores over the temperature."""
    normalizers = getattr(encoder, "normalizers", None) or [la.normalizer for la in encoder.layers]
    for normalizer in normalizers:
        yield normalizer.register_forward_hook(
            lambda f, given, weights: _at(temperature, f.forward, given[0], weights)
        )
    for layer in getattr(encoder, "controller", []):
        # The softmax of a controller is no module: dropout comes after it, and scores before.
        scores: list[Tensor] = []
        yield layer.routing.register_forward_hook(
            lambda _, __, made, kept=scores: kept.append(made)
        )
        yield layer.attention_dropout.register_forward_hook(
            lambda _, __, weights, kept=scores: _at(
                temperature, partial(torch.softmax, dim=-1), kept.pop(), weights
            )
        )


def _at(temperature: float, f: Any, scores: Tensor, weights: Tensor) -> Tensor:
    """Weights f(S) (B, H, T, S) whose derivative is the one of f at S / T."""
    soft = temperature * f(scores / temperature)
    return weights.detach() + (soft - soft.detach())
