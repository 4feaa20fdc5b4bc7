"""xi, the performance where an agreement is first exceeded, as what it is known to lie between.

Attention of other seeds agrees with a run's the more the longer they train. xi is their performance
at the first checkpoint where they agree more than a given agreement (see `Crossing`): they
have passed it somewhere since the checkpoint before. A measure `<evaluator>.<prefix>xi_<pair>` is
read along the arrays `<prefix>alpha_hat_curve` of its run and `performance_curve` of the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from workflow.reporting.measures import EvaluatedRun
from workflow.reporting.statistics.verdict import Between

DIGITS = 4
"""Decimals that curves are kept with."""
NO_BEFORE = "exceeded at the first checkpoint, before training"
UNKNOWN = "the runs that it is read from are not all there"


@dataclass(frozen=True)
class Crossing:
    """Where the other runs pass an agreement, or would if at each checkpoint (snell2021 eq. 8).

    Means over seeds.
    """

    between: Between
    """Performance at the checkpoint before and at the first one beyond; the best where never."""
    course: tuple[Between, ...]
    """The same for a crossing at each checkpoint but the first."""
    examples: int | None
    """Number of examples behind each run's agreement, and so its performance."""


def crossing(name: str, behind: Sequence[EvaluatedRun]) -> Crossing | str:
    """Return the mean crossing of all runs of a variant that have one, or why there is none.

    Args:
        name: the measure, `<evaluator>.<prefix>xi_<pair>`.
        behind: the runs, among which are those that each is compared with.
    """
    having = [measure for measure in behind if measure.number(name) is not None]
    curves = [_performance(name, measure, behind) for measure in having]
    known = [curve for curve in curves if curve is not None]
    if not having or len(known) < len(curves):
        return UNKNOWN
    ends = []
    for measure, curve in zip(having, known, strict=True):
        found = _between(name, measure, curve)
        if found is None:
            return NO_BEFORE
        ends.append(found)
    mean = np.mean(np.array(known, dtype=float), axis=0)
    before, at = np.mean(np.array(ends), axis=0)
    course = [(float(one), float(other)) for one, other in pairwise(mean)]
    sizes = [agreed.n for it in having if (agreed := it.scalar(_agreement(name))) and agreed.n]
    return Crossing((float(before), float(at)), tuple(course), min(sizes, default=None))


def _agreement(name: str) -> str:
    return name.replace("xi_", "")


def _performance(
    name: str, measure: EvaluatedRun, behind: Sequence[EvaluatedRun]
) -> np.ndarray | None:
    """Return the mean performance along training of the runs that one is compared with."""
    evaluator = name.partition(".")[0]
    wanted = set(measure.records.get(f"{evaluator}.others", ()))
    found = [one for one in behind if one.key in wanted]
    curves = [one.array(f"{evaluator}.performance_curve") for one in found]
    if not wanted or len(found) < len(wanted) or not all(curves):
        return None
    return np.asarray(np.mean(np.array(curves, dtype=float), axis=0))


def _between(name: str, measure: EvaluatedRun, performance: np.ndarray) -> Between | None:
    """Return performance before and at a run's crossing; None if at the first checkpoint."""
    evaluator, _, metric = name.partition(".")
    prefix = metric.partition("xi_")[0]
    agreed = measure.number(_agreement(name))
    along = measure.array(f"{evaluator}.{prefix}alpha_hat_curve")
    at = float(measure.number(name) or 0.0)
    if measure.number(f"{name}_never") or agreed is None or along is None:
        return at, at
    beyond = np.array(along, dtype=float) > round(agreed, DIGITS)
    first = int(beyond.argmax())
    return (float(performance[first - 1]), at) if first else None
