"""Mechanisms in the models of Hugging Face's transformers (docs/transformers.md).

Dimensions: B batch, T queries, S keys, H heads, K head width.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.build import Node, build, locate
from model.layers.steps import after_takes_states
from model.normalizers.selective import Selective


def register(name: str, path: str, **arguments: Any) -> None:
    """Let models of transformers have a mechanism by `attn_implementation="saccade_<name>"`.

    Args:
        name: of the mechanism.
        path: `module:Name` of a function or class, from scores to weights.
        arguments: of it. Where they leave out `heads`, `head_width` or `width`, a layer adds its.

    Raises:
        ValueError: the path names nothing, or another mechanism has the name.
    """
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    locate(path)
    name = f"saccade_{name}"
    node = {"path": path, **arguments}
    known = AttentionInterface().get(name)
    if known is not None and known.args != (name, node):
        raise ValueError(f"{name} is already {known.args[1]}; take another name.")
    AttentionInterface.register(name, functools.partial(attend, name, node))
    AttentionMaskInterface.register(name, eager_mask)


def attend(
    name: str,
    node: Node,
    layer: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    position_bias: Tensor | None = None,
    **more: Any,
) -> tuple[Tensor, Tensor]:
    """Read values (B, H, S, K) with the weights of a layer's mechanism.

    The arguments after `node` are those of an attention function of transformers. Keys and values
    may have fewer heads, each for as many queries.

    Returns:
        What is read (B, T, H, K), and the weights (B, H, T, S), 0 for a query without a key.

    Raises:
        ValueError: attention of this model has a part that mechanisms leave out, the mechanism
            needs queries that a cache leaves out, or its weights in a layer's first pass are none.
    """
    for part in ("softcap", "s_aux", "sinks"):
        if more.get(part) is not None:
            raise ValueError(f"{name}: attention of this model has {part!r}; take another model.")
    first = not hasattr(layer, name)
    mechanism = _mechanism(name, node, layer, query.shape[1], value)
    if isinstance(mechanism, Selective) and query.shape[2] < key.shape[2]:
        raise ValueError(f"{name} needs all queries at once: generate with use_cache=False.")
    if hasattr(mechanism, "before") or after_takes_states(mechanism):
        raise ValueError(f"{name} reads states, which transformers does not give; take another.")
    groups = query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1)
    scores = query @ key.mT * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    if position_bias is not None:
        scores = scores + position_bias
    if attention_mask is not None:
        scores, empty = _masked(scores, attention_mask)
    weights = mechanism(scores)
    if first and (fault := _fault(mechanism, weights, scores)):
        delattr(layer, name)
        raise ValueError(f"{name}: {fault}; docs/own_mechanism.md has the rules of weights.")
    if attention_mask is not None:
        weights = weights.masked_fill(empty, 0)
    weights = F.dropout(weights.to(value.dtype), dropout, layer.training)
    context = weights @ value
    if hasattr(mechanism, "after"):
        context = mechanism.after(context).to(value.dtype)
    return context.transpose(1, 2).contiguous(), weights


def _fault(mechanism: Any, weights: Any, scores: Tensor) -> str:
    """Say what is wrong with weights of scores (B, H, T, S), -inf at masked keys; else nothing."""
    if not isinstance(weights, Tensor) or weights.shape != scores.shape:
        shape = tuple(getattr(weights, "shape", ()))
        return f"its weights have the shape {shape}, and its scores {tuple(scores.shape)}"
    if not weights.isfinite().all():
        return "some weights are not finite"
    if weights[scores == -math.inf].any():
        return "masked keys get a weight"
    if getattr(mechanism, "sign", "positive") != "any" and (weights < 0).any():
        return "some weights are negative"
    sums, stated = weights.detach().float().sum(-1), getattr(mechanism, "sum", "one")
    wrong = sums - 1 if stated == "at most one" else (sums - 1).abs()
    if stated != "free" and (wrong > 0.02).any():  # half precision
        return f"rows sum to {float(sums.min()):.4g} to {float(sums.max()):.4g}, not to {stated}"
    return ""


def _masked(scores: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Scores with -inf at masked keys, and which rows (B, H, T, 1) have no key and stay as is."""
    hidden = mask.logical_not()
    if mask.dtype != torch.bool:
        hidden = mask <= torch.finfo(mask.dtype).min / 2  # in the place of -inf
        scores = scores + mask.masked_fill(hidden, 0)
    empty = hidden.all(-1, keepdim=True)
    return scores.masked_fill(hidden & ~empty, -math.inf), empty


def _mechanism(name: str, node: Node, layer: nn.Module, heads: int, value: Tensor) -> Any:
    """The layer's own mechanism, an attribute that its first pass makes."""
    if not hasattr(layer, name):
        width, learning = value.shape[-1], torch.is_grad_enabled()
        sizes = {"heads": heads, "head_width": width, "width": heads * width}
        with torch.inference_mode(False), value.device:
            mechanism = build(node, **{size: sizes[size] for size in sizes.keys() - node.keys()})
        if isinstance(mechanism, nn.Module):
            if learning and [*mechanism.parameters()]:
                raise RuntimeError(
                    f"{name} has parameters, which layers get in the first pass: call the model "
                    "once under torch.no_grad(), then make the optimizer."
                )
            mechanism.train(layer.training)
        if hasattr(mechanism, "depth"):
            mechanism.depth = getattr(layer, "layer_idx", None) or 0
        setattr(layer, name, mechanism)
    return getattr(layer, name)
