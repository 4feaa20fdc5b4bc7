"""Learning-rate schedules: what the peak rate is multiplied with at each update."""

from __future__ import annotations

import math


def learning_rate(
    update: int, updates: int, peak: float, name: str, warmup: int = 0, start: float = 0.0
) -> float:
    """The learning rate of an update.

    Args:
        update: counted from 1.
        updates: of the whole run.
        peak: rate at the end of the warm-up.
        name: `constant`, `inverse_sqrt` (Vaswani et al. 2017: peak * sqrt(warmup / update)) or
            `cosine` (to 0 at the last update).
        warmup: updates of linear growth from `start` to `peak`.
        start: rate before the first update.

    Raises:
        ValueError: an unknown name.
    """
    if update < warmup:
        return start + (peak - start) * update / warmup
    if name == "constant":
        return peak
    if name == "inverse_sqrt":
        return peak * math.sqrt(max(warmup, 1) / update)
    if name == "cosine":
        return peak * 0.5 * (1 + math.cos(math.pi * (update - warmup) / max(updates - warmup, 1)))
    raise ValueError(f"schedule '{name}' is unknown: constant, inverse_sqrt or cosine.")
