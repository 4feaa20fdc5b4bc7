"""What a probe gets and what it returns."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import nn

from model.batches.corpus import Corpus


class Subject(NamedTuple):
    """A trained model, its data, and what to compute on.

    Attributes:
        model: in evaluation mode, on the device.
        corpus: the data of the run.
        device: the device.
        seed: the run's seed, for probes that draw at random.
    """

    model: nn.Module
    corpus: Corpus
    device: torch.device
    seed: int


class Measured(NamedTuple):
    """What a probe found.

    Attributes:
        scalars: by metric, see `scalar`.
        arrays: by name, lists of numbers or text for figures and paired tests.
    """

    scalars: dict[str, dict[str, Any]]
    arrays: dict[str, list[Any]]


def scalar(
    value: float | None, unit: str, std: float | None = None, n: int | None = None
) -> dict[str, Any]:
    """A metric's value with its unit; `std` is the spread over the n examples it is a mean of.

    A value that is not defined (a mean over no examples) is None.
    """
    found: dict[str, Any] = {"value": value, "unit": unit}
    if n is not None:
        found["n"] = n
    if std is not None:
        found |= {"std": std, "spread_over": "examples"}
    return found
