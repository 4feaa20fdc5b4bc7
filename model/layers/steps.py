"""Steps of a mechanism around its weights: `before`, on scores; `after`, on what is read."""

from __future__ import annotations

import inspect

from torch import Tensor


def scores_before(mechanism: object, scores: Tensor, queries: Tensor, keys: Tensor) -> Tensor:
    """Map scores (B, H, T, S) by states (B, T, D) and (B, S, D); as they are without the step."""
    if not hasattr(mechanism, "before"):
        return scores
    changed: Tensor = mechanism.before(scores, queries, keys)
    return changed


def context_after(mechanism: object, context: Tensor, states: Tensor) -> Tensor:
    """Map what is read (B, H, T, K), by the queries' states (B, T, D) where the step takes them."""
    if not hasattr(mechanism, "after"):
        return context
    states_too = (states,) if after_takes_states(mechanism) else ()
    changed: Tensor = mechanism.after(context, *states_too)
    return changed


def after_takes_states(mechanism: object) -> bool:
    """Whether the mechanism's step after reading has the states as its second argument."""
    after = getattr(mechanism, "after", None)
    return after is not None and len(inspect.signature(after).parameters) > 1
