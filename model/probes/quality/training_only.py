"""Top-k attention in training alone: any probe on a run's weights with softmax in its place.

zhao2019 table 5 asks what top-k attention does "in the training phase" (T) and in both (T&P).
Training is the same for both, so T is the run of T&P, measured with softmax.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

from torch import nn

from model.normalizers.softmax import Softmax
from model.normalizers.topk import TopK
from model.probes.measure import Measured, Subject


def training_only(subject: Subject, probe: Callable[[Subject], Measured]) -> Measured:
    """What a probe finds on the run's model with softmax wherever it has top-k attention.

    Args:
        subject: a run with top-k attention; its model stays as it is.
        probe: what to measure.

    Raises:
        ValueError: the model has no top-k attention.
    """
    model = copy.deepcopy(subject.model)
    if not _replace(model):
        raise ValueError(
            "the model has no top-k attention to be left out after training: take the evaluator "
            "away from this run."
        )
    return probe(subject._replace(model=model))


def _replace(model: nn.Module) -> int:
    """Put softmax in the place of every top-k; returns how many there were."""
    replaced = 0
    for part in list(model.modules()):
        for name, child in part.named_children():
            if isinstance(child, TopK):
                setattr(part, name, Softmax())
                replaced += 1
    return replaced
