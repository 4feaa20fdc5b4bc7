"""Mechanisms in the models of Hugging Face's transformers (docs/transformers.md).

Dimensions: B batch, T queries, S keys, H heads, K head width.
"""

from __future__ import annotations

import copy
import functools
import inspect
import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.build import Node, accepted, build, locate
from model.layers.steps import after_takes_states
from model.normalizers.selective import Selective

SIZES = ("heads", "head_width", "width")
"""Arguments of a mechanism that a layer gives."""
TRIED = 64
"""Most queries, and keys, on which a layer's first pass tries what weights depend on."""


def register(name: str, path: str, **arguments: Any) -> None:
    """Let models of transformers have a mechanism by `attn_implementation="saccade_<name>"`.

    Args:
        name: of the mechanism.
        path: `module:Name` of a function or class, from scores to weights.
        arguments: of it. Where they leave out `heads`, `head_width` or `width`, a layer adds its.

    Raises:
        ValueError: the path names nothing, an argument is missing or none of the mechanism's, or
            another mechanism has the name.
    """
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    _check_arguments(path, arguments)
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
            needs queries that a cache leaves out, or its weights in a layer's first pass are none
            or depend on what they must not.
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
    if first:
        unused, before = copy.deepcopy(mechanism), scores.detach().clone()
    weights = mechanism(scores)
    if first and (
        fault := _fault(mechanism, weights, before, scores) or _unrelated(unused, before)
    ):
        delattr(layer, name)
        raise ValueError(f"{name}: {fault}; docs/own_mechanism.md has the rules of weights.")
    if attention_mask is not None:
        weights = weights.masked_fill(empty, 0)
    weights = F.dropout(weights.to(value.dtype), dropout, layer.training)
    context = weights @ value
    if hasattr(mechanism, "after"):
        context = mechanism.after(context).to(value.dtype)
    return context.transpose(1, 2).contiguous(), weights


def _check_arguments(path: str, arguments: dict[str, Any]) -> None:
    """Raise ValueError for an argument that a mechanism does not take, or lacks."""
    part = locate(path)
    parameters = accepted(part)
    more = [
        name for name, it in parameters.items() if it.kind in (it.VAR_POSITIONAL, it.VAR_KEYWORD)
    ]
    names = [name for name in parameters if name not in more]
    if not inspect.isclass(part):  # the first are the scores
        names = names[1:]
    odd = sorted(arguments.keys() - {*names})
    if odd and (inspect.isclass(part) or not more):
        raise ValueError(
            f"{path} takes no argument {odd[0]!r}, only: {', '.join(names) or 'none'}."
        )
    needed = [name for name in names if parameters[name].default is inspect.Parameter.empty]
    if missing := [name for name in needed if name not in (*arguments, *SIZES)]:
        raise ValueError(f"{path} needs {missing[0]!r}: give it to register, {missing[0]}=...")


@torch.no_grad()
def _unrelated(mechanism: Any, scores: Tensor) -> str:
    """Say on what the weights of scores (B, H, T, S) depend that they must not; else nothing."""
    one = scores[:1, :, :TRIED, :TRIED]
    one = one.masked_fill((one == -math.inf).all(-1, keepdim=True), 0)
    both = one.repeat(2, 1, 1, 1)

    def weights(scores: Tensor, seed: int = 1, training: bool = True) -> Any:
        torch.manual_seed(seed)
        own = copy.deepcopy(mechanism)
        return (own if training or not isinstance(own, nn.Module) else own.eval())(scores.clone())

    def other(first: int, later: int) -> Tensor:
        """Other scores of the second text, or of later queries, masked alike."""
        changed = both.clone()
        part = changed[first:, :, later:]
        part.copy_((10 * torch.randn_like(part)).masked_fill(part == -math.inf, -math.inf))
        return changed

    with torch.random.fork_rng():
        evaluated = weights(both, 1, False)
        if not torch.equal(evaluated, weights(both, 2, False)):
            return "it draws random numbers outside training"
        if not torch.allclose(evaluated[0], evaluated[1], rtol=1e-3, atol=1e-4):
            return "what a text gets changes with its place in the batch"
        answer, T = weights(both), both.shape[2]
        if not torch.equal(weights(other(1, 0))[0], answer[0]):
            return "what a text gets changes with another text of its batch"
        future = torch.ones_like(both, dtype=torch.bool).triu(1)
        if 1 < T == both.shape[3] and (both[future] == -math.inf).all():
            seen = (T + 1) // 2
            if not torch.equal(weights(other(0, seen))[:, :, :seen], answer[:, :, :seen]):
                return "what a query gets changes with later ones: it sees the future"
    return ""


def _fault(mechanism: Any, weights: Any, scores: Tensor, after: Tensor) -> str:
    """Say what is wrong with weights of scores (B, H, T, S), -inf at masked keys; else nothing.

    `after` are the scores as the mechanism left them.
    """
    if not ((after == scores) | scores.isnan()).all():
        return "it changes the scores that it is given"
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
        sizes = dict(zip(SIZES, (heads, width, heads * width), strict=True))
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
