"""ALTI-Logit (Ferrando et al. 2023): what attention adds to the logit, back to the tokens.

The state that predicts, at position t, is a sum: attention of layer l adds y_t^l to it, and y_t^l
adds u^l y_t^l to the logit of the predicted class, where u^l is the logit's gradient by y_t^l along
the residual stream, all layer norms linear at their deviation. With f_h(x_j) what head h reads of
the state x_j of token j, W_h^O (W_h^V x_j + b_h^V), x_j after layer norm where that comes first:

    T_i(x_j)   = sum_h w_hij f_h(x_j), plus the state of i itself where i = j
    C_ij       = max(0, ||z_i||_1 - ||z_i - T_i(x_j)||_1),  z_i = sum_j T_i(x_j) + b^O,
                 over its sum over j                       (ALTI, Ferrando et al. 2022)
    M^l        = C^l M^(l-1),  M^0 = I
    update^l_j = u^l sum_h w_htj^l f_h^l(x_j)
    ALTI-Logit = sum_l sum_j update^l_j M_js^(l-1) of token s

The paper's layer norm comes first. Where it comes after the sum, T_i and z_i are taken behind it,
as in the paper of ALTI, and u^l passes it. What starts the stream at t and what feed-forward
networks add is given to no token, as by the authors. In two streams all is of the model stream, and
the step after reading that some mechanisms have is left out.
The authors' code: src/contributions.py and extract_explanations.py (`aff_x_j`) of
mt-upc/logit-explanations at fadf415f.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.batches.batching import Batch
from model.probes.importance.attnlrp import frozen
from model.probes.importance.explanations import predicting_layers
from model.probes.next_symbol import at_predicting


def alti_logit(model: nn.Module, batch: Batch) -> Tensor:
    """What each token (B, T) adds to the logit by attention."""
    layers: Any = list(predicting_layers(model))
    states: list[Tensor] = []
    values: list[Tensor] = []
    added: list[Tensor] = []

    def cut(_: nn.Module, __: tuple[Tensor], y: Tensor) -> Tensor:
        added.append(y.detach().requires_grad_())
        return added[-1]

    with ExitStack() as hooks:
        for layer in layers:
            for hook in (
                layer.register_forward_pre_hook(lambda _, given: states.append(given[0].detach())),
                layer.values.value.register_forward_hook(lambda _, __, v: values.append(v)),
                layer.values.output.register_forward_hook(cut),
                layer.feed_forward.register_forward_hook(lambda _, __, y: y.detach()),
            ):
                hooks.enter_context(hook)
        for part in model.modules():
            if isinstance(part, nn.LayerNorm):
                hooks.enter_context(part.register_forward_hook(frozen))
        prediction = model(batch.tokens, batch.real)
    directions = torch.autograd.grad(prediction.logits.amax(dim=-1).sum(), added)
    with torch.no_grad():
        mixed = torch.eye(batch.tokens.shape[1], dtype=added[0].dtype, device=added[0].device)
        total = torch.zeros_like(added[0][..., 0])
        found = zip(layers, states, values, added, directions, prediction.weights, strict=True)
        for layer, state, value, y, direction, weights in found:
            heads = layer.values.heads
            out = layer.values.output.weight.unflatten(1, (heads, -1))
            read = torch.einsum("bjhk,dhk->bjhd", value.unflatten(-1, (heads, -1)), out)
            there = at_predicting(model, batch.real, weights.transpose(1, 2))
            u = at_predicting(model, batch.real, direction)
            update = torch.einsum("bd,bhj,bjhd->bj", u, there, read)
            total = total + (update[:, None] @ mixed)[:, 0]
            mixed = contributions(layer.attend, state, weights, read, y) @ mixed
    return total


def contributions(attend: Any, state: Tensor, weights: Tensor, read: Tensor, y: Tensor) -> Tensor:
    """C (B, T, T) of a layer, of x (B, T, D), w (B, H, T, T), f (B, T, H, D) and y (B, T, D)."""
    rows = []
    for i in range(state.shape[1]):
        parts = torch.einsum("bhj,bjhd->bjd", weights[:, :, i], read)  # (B, T, D)
        parts[:, i] += state[:, i]
        z = (state[:, i] + y[:, i])[:, None]
        if not attend.pre:
            deviation = (z.var(dim=-1, correction=0, keepdim=True) + attend.norm.eps).sqrt()
            parts = (parts - parts.mean(dim=-1, keepdim=True)) / deviation * attend.norm.weight
            z = attend.norm(z)
        near = z.abs().sum(dim=-1) - (z - parts).abs().sum(dim=-1)
        rows.append(F.normalize(near.clamp(min=0), p=1, dim=-1))
    return torch.stack(rows, dim=1)
