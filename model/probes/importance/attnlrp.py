"""AttnLRP (Achtibat et al. 2024): the relevance R of tokens for the logit of the predicted class.

It starts as that logit, and every operation passes the R of its outputs to its inputs:

    z = W x + b,  z = x + y    R(x_i) = sum_j x_i dz_j/dx_i R(z_j) / z_j    (`eq. 8`, epsilon 0)
    z = relu(x)                R(x_i) = R(z_i)                              (`eq. 9`)
    z = layer norm of x        as z = W x + b: its deviation is a constant  (proposition 3.4)
    z = softmax(x)             R(x_i) = x_i (R(z_i) - z_i sum_j R(z_j))     (proposition 3.1)
    z = A V,  z = Q K^T        half of R to either factor, as by `eq. 8`   (proposition 3.3)

Of other normalizers than the softmax the rule is the one that proposition 3.1 is made by, R(x_i) =
x_i sum_j dz_j/dx_i R(z_j) / z_j. Weights that pass no gradient, as those of an argmax, are a
constant: A V is linear then, and V gets all. In two streams a token has the relevance of both of
its embeddings. A mechanism's step after reading is differentiated as it is.

R = x dy/dx holds at every tensor for the gradient of these rules (Arras et al. 2025, 2502.15886),
so one backward pass finds them. The authors' code: lxt/efficient/patches.py and rules.py of
rachtibat/LRP-eXplains-Transformers at f0434417.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from model.batches.batching import Batch
from model.layers.attention import Routing
from model.layers.blocks import Embedding
from model.probes.importance.explanations import predicting_layers


def attnlrp(model: nn.Module, batch: Batch) -> Tensor:
    """Relevance (B, T) of the tokens."""
    with ExitStack() as hooks:
        for hook in rules(model, batch):
            hooks.enter_context(hook)
        parts = [
            (embedding.tokens(batch.tokens) * slope).sum(dim=-1)
            for embedding, slope in slopes(model, batch)
        ]
    return torch.stack(parts).sum(dim=0).detach()


def rules(model: nn.Module, batch: Batch) -> Iterator[RemovableHandle]:
    """Hooks that make the gradient of a model the one of the rules, and change no output."""
    encoder: Any = model.encoder
    weights = model(batch.tokens, batch.real).weights
    layers = [
        la for la, w in zip(predicting_layers(model), weights, strict=True) if w.requires_grad
    ]
    for layer in [*layers, *getattr(encoder, "controller", [])]:
        yield layer.values.output.register_forward_pre_hook(lambda _, given: halved(given[0]))
    for part in model.modules():
        if isinstance(part, Routing):
            yield part.register_forward_hook(lambda _, __, scores: halved(scores))
        if isinstance(part, nn.LayerNorm):
            yield part.register_forward_hook(frozen)


def slopes(model: nn.Module, batch: Batch) -> list[tuple[Any, Tensor]]:
    """The embeddings that reach the prediction, each with the logit's gradient (B, T, D) by it."""
    read: list[tuple[Any, Tensor]] = []
    with ExitStack() as hooks:
        for part in model.modules():
            if isinstance(part, Embedding):
                hook = part.register_forward_hook(lambda it, _, h0: read.append((it, h0)))
                hooks.enter_context(hook)
        logits = model(batch.tokens, batch.real).logits
    found = torch.autograd.grad(
        logits.amax(dim=-1).sum(), [h0 for _, h0 in read], allow_unused=True
    )
    return [(it, slope) for (it, _), slope in zip(read, found, strict=True) if slope is not None]


def halved(x: Tensor) -> Tensor:
    """The same tensor with half of its gradient."""
    return (x + x.detach()) / 2


def frozen(norm: Any, given: tuple[Tensor], _: Tensor) -> Tensor:
    """Layer norm of x (..., D) whose standard deviation is a constant to the gradient."""
    (x,) = given
    deviation = (x.var(dim=-1, correction=0, keepdim=True) + norm.eps).sqrt().detach()
    return (x - x.mean(dim=-1, keepdim=True)) / deviation * norm.weight + norm.bias
