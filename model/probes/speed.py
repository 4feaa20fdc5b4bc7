"""How fast a run trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from model.probes.measure import Measured, Subject, scalar


def training_speed(subject: Subject, history: Sequence[Mapping[str, Any]]) -> Measured:
    """Tokens per second of training, on the machine and among the neighbours that it had.

    Args:
        subject: the run; nothing of it is used.
        history: of the run.

    Returns:
        Scalar `tokens_per_second`, the median of the rows recorded in training, which a pause or
        an evaluation between two rows does not move.
    """
    rates = [row["tokens_per_second"] for row in history if row["split"] == "train"]
    value = float(median(rates)) if rates else None
    return Measured({"tokens_per_second": scalar(value, "tokens/s", n=len(rates))}, {})
