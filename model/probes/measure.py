"""What a probe gets and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from model.batches.batching import Batch, in_order
from model.batches.corpus import Corpus
from model.training.checkpointer import HistoryRow

Scalar = dict[str, Any]
"""A metric as the measures hold it, see `scalar`."""
History = Sequence[HistoryRow]
"""The rows that training recorded."""


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

    def batches(self, tokens: int) -> Iterator[Batch]:
        """Every example of the test split once, in batches of at most so many tokens."""
        return in_order(self.corpus.split("test"), tokens, self.device)

    def gathered(
        self, tokens: int, of_batch: Callable[[Batch], Mapping[str, Tensor]]
    ) -> dict[str, Tensor]:
        """What is said of each batch of the test split, end to end, without gradients."""
        parts: dict[str, list[Tensor]] = {}
        with torch.no_grad():
            for batch in self.batches(tokens):
                for name, values in of_batch(batch).items():
                    parts.setdefault(name, []).append(values)
        return {name: torch.cat(values) for name, values in parts.items()}


class Measured(NamedTuple):
    """What a probe found.

    Attributes:
        scalars: by metric, see `scalar`.
        arrays: by name, lists of numbers or text for figures and paired tests.
    """

    scalars: dict[str, Scalar]
    arrays: dict[str, list[Any]]


def scalar(
    value: float | None, unit: str, std: float | None = None, n: int | None = None
) -> Scalar:
    """A metric's value with its unit; `std` is the spread over the n examples it is a mean of.

    A value that is not defined (a mean over no examples) is None.
    """
    metric: Scalar = {"value": value, "unit": unit}
    if n is not None:
        metric["n"] = n
    if std is not None:
        metric |= {"std": std, "spread_over": "examples"}
    return metric


def mean_over_examples(values: np.ndarray, unit: str) -> Scalar:
    """The mean of values (N,), one an example, with their spread; NaN is left out."""
    known = values[~np.isnan(values)]
    mean = float(known.mean()) if len(known) else None
    return scalar(mean, unit, float(known.std(ddof=1)) if len(known) > 1 else None, len(known))


def rounded(values: Iterable[float], digits: int) -> list[float | None]:
    """Numbers for a figure; NaN as None."""
    return [None if np.isnan(value) else round(float(value), digits) for value in values]


def curves(rows: History, names: Iterable[str]) -> dict[str, list[Any]]:
    """`<name>_curve` of every name along some rows of the history, and the `step` of each row."""
    along = {f"{name}_curve": [row[name] for row in rows] for name in names}
    return {"step": [row["step"] for row in rows], **along}


def rows_of(history: History, split: str) -> History:
    """The rows of a history that are of a split."""
    return [row for row in history if row["split"] == split]
