"""Is it attention? What every mapping from scores to weights must do, tried before training."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from model.build import build

SHAPE = (2, 5, 7)
"""B, T and S of the scores that a mechanism is tried on; H is the model's."""


def check_mechanisms(model: Mapping[str, Any]) -> None:
    """Try every normaliser that a model's node names.

    Args:
        model: the node, with arguments; `heads` stands beside `normalizer`, or the normaliser of
            one place, such as `cross_normalizer`.

    Raises:
        ValueError: a normaliser can't be built, or its weights are none; the sentence names it.
    """
    for node, heads in _normalizers(model):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            try:
                fault = _fault(build(node), heads)
            except Exception as error:
                fault = f"it fails with {type(error).__name__}: {error}"
        if fault:
            raise ValueError(
                f"{node['path']} is no attention mechanism: {fault.splitlines()[0]}. It maps "
                f"scores (B, H, T, S), masked keys at -inf, to weights (docs/own_mechanism.md)."
            )


def _normalizers(node: Any) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Yield the normalisers anywhere below a node, each with its number of heads."""
    if isinstance(node, Mapping):
        for name, value in node.items():
            named = name.endswith("normalizer") and isinstance(value, Mapping)
            if named and "heads" in node:
                yield value, node["heads"]
            yield from _normalizers(value)


def _fault(mechanism: Callable[[Tensor], Any], heads: int) -> str:
    """Say what is wrong with a mechanism's weights; empty where nothing is."""
    batch, queries, keys = SHAPE
    scores = torch.randn(batch, heads, queries, keys)
    masked = torch.zeros_like(scores, dtype=torch.bool)
    masked[1, ..., -3:] = True
    scores = scores.masked_fill(masked, -torch.inf).requires_grad_()
    weights = mechanism(scores)
    if not isinstance(weights, Tensor):
        return f"it returns {type(weights).__name__}, no tensor"
    if weights.shape != scores.shape:
        return f"scores {tuple(scores.shape)} become weights {tuple(weights.shape)}"
    if not weights.isfinite().all():
        return "some weights are not finite; take the -inf of masked keys out before you multiply"
    if (weights < 0).any():
        return "some weights are negative"
    if (weights[masked] != 0).any():
        return "masked keys get a weight"
    sums = weights.detach().sum(dim=-1)
    if not torch.allclose(sums, torch.ones_like(sums), atol=1e-4):
        return f"rows sum to {float(sums.min()):.4g} to {float(sums.max()):.4g}, not to 1"
    if weights.requires_grad:
        (weights * torch.randn_like(weights)).sum().backward()
        learned = mechanism.parameters() if isinstance(mechanism, nn.Module) else ()
        gradients = [parameter.grad for parameter in learned]
        gradients += [scores.grad[~masked] if scores.grad is not None else None]
        if any(one is not None and not one.isfinite().all() for one in gradients):
            return "the gradient of its weights is not finite; mind the -inf of masked keys"
    return ""
