"""Roles given at test time in another way than a run's own: any probe on the model that has them.

One role a token is trained on samples and read at their mode (`model.normalizers.gumbel`). What
lies between the two is what the mode loses.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
from torch import nn

from model.architectures.translation.with_roles import RoleEncoderDecoder
from model.probes.measure import Measured, Subject


def other_assignment(
    subject: Subject, assignment: nn.Module, probe: Callable[[Subject], Measured]
) -> Measured:
    """What a probe finds on the run's model with another assignment on both sides.

    Args:
        subject: a run with roles; its model stays as it is.
        assignment: scores to roles, as in training: `Gumbel` gives samples, which the run's seed
            decides.
        probe: what to measure.

    Raises:
        ValueError: the model assigns no roles, or dense ones, which have no scores.
    """
    model = copy.deepcopy(subject.model)
    if not isinstance(model, RoleEncoderDecoder) or model.roles.assignment is None:
        raise ValueError(
            f"a {type(model).__name__} gives its tokens no roles by their scores: take the "
            f"evaluator away from this run."
        )
    for layer in (model.source_roles, model.target_roles):
        layer.assignment = copy.deepcopy(assignment).train()
    with torch.random.fork_rng():
        torch.manual_seed(subject.seed)
        return probe(subject._replace(model=model))
