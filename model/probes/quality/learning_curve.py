"""How a language model's loss fell along training, in bits."""

from __future__ import annotations

import math

from model.probes.measure import History, Measured, Subject


def learning_curve(subject: Subject, history: History) -> Measured:
    """The loss of every row of the history, as bits per character.

    Args:
        subject: unused.
        history: of a run whose metric `loss` is in nats per character; what it says of `train` was
            measured before each update, on characters that are new to the model in the first epoch.

    Returns:
        Arrays `update`, `epoch`, and `train` and `dev`, None where the row is of the other.
    """
    bits = {
        split: [row["loss"] / math.log(2) if row["split"] == split else None for row in history]
        for split in ("train", "dev")
    }
    steps = {"update": [row["step"] for row in history], "epoch": [r["epoch"] for r in history]}
    return Measured({}, steps | bits)
