"""Explanations of a classifier's prediction: a score for every token, by eight methods.

With y the probability of the class that is predicted for the whole text, e_j the embedding of
token j, h^l the states that layer l reads and w^l its weights, of H heads:

    attention               sum_l sum_h sum_i w_hij^l
    rollout                 the predicting row of A^L ... A^1,   A^l = (mean_h w_h^l + I) / 2
    value_norm              sum_l sum_i || sum_h w_hij^l f_h(x_j) ||,
                            f_h(x) = (x W_h^V + b_h^V) W_h^O
    gradient                || dy / dh_j^0 ||
    gradient_input          (dy / dh_j^0) e_j
    integrated_gradients    e_j times the mean of dy / dh_j^0 on the way from no words to the text
    occlusion               y less what it is with <unk> in the place of token j
    attcat                  sum_l mean_hi(w_hij^l) (dy / dh_j^l) h_j^l

Of rollout: Abnar and Zuidema (2020); of value norms: Kobayashi et al. (2020); of integrated
gradients: Sundararajan et al. (2017); of AttCAT: Qiang et al. (2022). Sums over i are over real
queries. The last four have a sign: above 0 a token speaks for the class.

Every function takes a `Classifier` (or `NextSymbolClassifier`) in evaluation mode and a batch of B
texts, and returns scores (B, T); <cls> and padding have no meaning in them. Gradients are those of
the model as it is: where routing is an argmax they see what is read and not who looks where. In two
streams they are the model stream's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from model.batches.batching import Batch
from model.probes.fields.influence import TOGETHER
from model.probes.importance.classification import token_scores
from model.probes.next_symbol import predicting

UNKNOWN = 2
"""The id of <unk>."""


class Explanation(Protocol):
    """A batch of texts to scores (B, T)."""

    def __call__(self, model: nn.Module, batch: Batch) -> Tensor: ...


def explanations(steps: int) -> dict[str, Explanation]:
    """All methods by name; integrated gradients take so many steps."""
    return {
        "attention": attention,
        "rollout": rollout,
        "value_norm": value_norm,
        "gradient": gradient,
        "gradient_input": gradient_input,
        "integrated_gradients": partial(integrated_gradients, steps=steps),
        "occlusion": occlusion,
        "attcat": attcat,
    }


def attention(model: nn.Module, batch: Batch) -> Tensor:
    """What each token receives (kinley2020 section 5.4)."""
    return token_scores(model, batch).attention


def rollout(model: nn.Module, batch: Batch) -> Tensor:
    """Attention through all layers to <cls>, or to the last symbol; 1/2 stands for the residual."""
    with torch.no_grad():
        weights = model(batch.tokens, batch.real).weights
    flow = torch.eye(batch.tokens.shape[1], dtype=weights[0].dtype, device=weights[0].device)
    reached = flow[predicting(model, batch.real), None]
    for layer in reversed(weights):
        reached = reached @ (layer.mean(dim=1) + flow) / 2
    return reached[:, 0]


def value_norm(model: nn.Module, batch: Batch) -> Tensor:
    """Norms of what is read, as || sum_h w_h f_h ||^2 = sum_hg w_h w_g (f_h f_g).

    The step after reading that some mechanisms have is left out.
    """
    parts = [layer.values for layer in predicting_layers(model)]
    values: list[Tensor] = []
    hooks = [
        part.value.register_forward_hook(lambda _, __, value: values.append(value))
        for part in parts
    ]
    with torch.no_grad():
        weights = model(batch.tokens, batch.real).weights
        for hook in hooks:
            hook.remove()
        queries = batch.real[:, :, None]
        total = torch.zeros_like(weights[0][:, 0, 0])
        for part, value, w in zip(parts, values, weights, strict=True):
            out = part.output.weight.unflatten(1, (part.heads, -1))
            read = torch.einsum("bjhk,dhk->bjhd", value.unflatten(-1, (part.heads, -1)), out)
            products = torch.einsum("bjhd,bjgd->bjhg", read, read)
            squares = torch.einsum("bhij,bgij,bjhg->bij", w, w, products)
            total += (squares.clamp(min=0).sqrt() * queries).sum(dim=1)
    return total


def gradient(model: nn.Module, batch: Batch) -> Tensor:
    """The norm of the gradient (kinley2020 section 5.4)."""
    return token_scores(model, batch).norm


def gradient_input(model: nn.Module, batch: Batch) -> Tensor:
    """How y would change from no word to the token's, were it linear."""
    return _slopes_times_words(model, batch, [1.0])


def integrated_gradients(model: nn.Module, batch: Batch, steps: int) -> Tensor:
    """Gradients along the line from no words to the text, at the middles of so many steps.

    Positions and <cls> are in place from the start. The scores sum to the difference of y between
    the ends where y is continuous between them, which it is not where an argmax of what is on the
    way routes.
    """
    return _slopes_times_words(model, batch, [(step + 0.5) / steps for step in range(steps)])


def _slopes_times_words(model: nn.Module, batch: Batch, shares: Sequence[float]) -> Tensor:
    """Mean gradient of y at texts whose words have such a share of their embedding, times it."""
    embedding: Any = model.encoder.embedding  # type: ignore[union-attr]
    text, words = embedding(batch.tokens).detach(), embedding.tokens(batch.tokens).detach()
    words[:, 0] = 0
    label = predicted(model, batch)
    slopes = torch.zeros_like(words)
    for share in shares:
        h0 = (text - (1 - share) * words).requires_grad_()
        y = _probability(model(batch.tokens, batch.real, h0=h0).logits, label)
        slopes += torch.autograd.grad(y.sum(), h0)[0] / len(shares)
    return (slopes * words).sum(dim=-1)


def occlusion(model: nn.Module, batch: Batch) -> Tensor:
    """What y loses when one token is unknown; the routing is made anew."""
    count, length = batch.tokens.shape
    label = predicted(model, batch)
    hidden = torch.eye(length, dtype=torch.bool, device=label.device)
    tried = batch.tokens[:, None].masked_fill(hidden, UNKNOWN).flatten(0, 1)
    real = batch.real.repeat_interleave(length, dim=0)
    some = max(1, TOGETHER // length)
    with torch.no_grad():
        y = _probability(model(batch.tokens, batch.real).logits, label)
        logits = [
            model(*part, need_weights=False).logits
            for part in zip(tried.split(some), real.split(some), strict=True)
        ]
        without = _probability(torch.cat(logits), label.repeat_interleave(length))
    return y[:, None] - without.view(count, length)


def attcat(model: nn.Module, batch: Batch) -> Tensor:
    """Attention times what the states that it reads are worth, summed over layers."""
    states: list[Tensor] = []
    hooks = [
        layer.register_forward_pre_hook(lambda _, given: states.append(given[0]))
        for layer in predicting_layers(model)
    ]
    h0 = model.encoder.embedding(batch.tokens)  # type: ignore[union-attr, operator]
    prediction = model(batch.tokens, batch.real, h0=h0.detach().requires_grad_())
    for hook in hooks:
        hook.remove()
    y = prediction.logits.softmax(dim=-1).amax(dim=-1)
    gradients = torch.autograd.grad(y.sum(), states)
    queries = batch.real[:, None, :, None]
    total = torch.zeros_like(y[:, None])
    for weights, state, slope in zip(prediction.weights, states, gradients, strict=True):
        received = (weights * queries).sum(dim=2).mean(dim=1) / batch.real.sum(dim=1, keepdim=True)
        total = total + received * (slope * state).sum(dim=-1)
    return total.detach()


def predicted(model: nn.Module, batch: Batch) -> Tensor:
    """The predicted class (B,) of every text."""
    with torch.no_grad():
        classes: Tensor = model(batch.tokens, batch.real, need_weights=False).logits.argmax(dim=-1)
    return classes


def _probability(logits: Tensor, label: Tensor) -> Tensor:
    """Of logits (B, C) the probability (B,) of the labels (B,)."""
    return logits.softmax(dim=-1).gather(1, label[:, None])[:, 0]


def predicting_layers(model: nn.Module) -> Any:
    """The layers that the prediction is computed by; of two streams those of the model stream."""
    encoder: Any = model.encoder
    return encoder.model_stream if hasattr(encoder, "model_stream") else encoder.layers
