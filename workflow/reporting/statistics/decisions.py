"""The tests behind claims: whether a difference lies beyond a margin, with its interval.

An interval over examples says nothing about other trainings, so such a claim is decided only where
every seed points the same way, and never by one seed. The same holds of corpora: BLEU is compared
on one test set drawn anew many times (see `bootstrap`). How often two variants reach an outcome (a
measure of 0 or 1) is compared by Newcombe's interval, which alone decides.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from workflow.reporting.statistics import bootstrap, intervals

SPREAD = 3
"""So many seeds that agree exactly are believed to; of fewer it may be chance."""


@dataclass(frozen=True)
class Decision:
    """What a test says about `left - right`."""

    verdict: str
    """`holds`, `does not hold`, `undecided` or `not run`."""
    reason: str
    estimate: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int = 0
    """Number of pairs, over corpora of sentences; over proportions, of runs on both sides."""
    p_value: float | None = None
    """Two-sided, of Student's t against the margin, over corpora of the bootstrap; else none."""
    by_seed: tuple[float, ...] = ()
    """The difference of each seed; over proportions none."""


UNDEFINED = Decision("undecided", "the measure is undefined in these runs")


def decide(
    differences: Sequence[float], per_seed: Sequence[float], direction: str, margin: float
) -> Decision:
    """Decide whether paired differences lie beyond `margin` in `direction` (`greater` or `less`).

    Args:
        differences: left - right of each pair (run or example).
        per_seed: the mean difference of each seed.
        direction: the side of the margin that the claim names.
        margin: the difference to exceed.
    """
    if not differences:
        return Decision("not run", "no pair of runs")
    values = np.asarray(differences, dtype=float)
    mean, n = float(values.mean()), len(values)
    bounds, by_seed = intervals.interval(mean, intervals.spread(values.tolist()), n), (*per_seed,)
    if bounds is None:
        return Decision("undecided", "one pair has no interval", mean, n=n, by_seed=by_seed)
    low, high = bounds
    p_value = None
    if error := float(values.std(ddof=1)) / math.sqrt(n):
        p_value = 2 * float(special.stdtr(n - 1, -abs(mean - margin) / error))
    verdict, reason = _by_seeds(bounds, per_seed, direction, margin)
    return Decision(verdict, reason, mean, low, high, n, p_value, by_seed)


def _by_seeds(
    bounds: tuple[float, float], per_seed: Sequence[float], direction: str, margin: float
) -> tuple[str, str]:
    """Return the verdict where interval and every seed must agree, and its reason."""
    above = bounds[0] > margin and all(seed > margin for seed in per_seed)
    below = bounds[1] < margin and all(seed < margin for seed in per_seed)
    if len(per_seed) < 2:
        return "undecided", "one seed says nothing about other trainings"
    if without_spread(*bounds, len(per_seed)):
        return "undecided", "so few seeds without any spread may agree by chance"
    if above or below:
        verdict = "holds" if above == (direction == "greater") else "does not hold"
        side = "above" if above else "below"
        return verdict, f"the interval and every seed lie {side} {margin:g}"
    return "undecided", "the interval contains the margin or the seeds disagree"


def without_spread(low: float, high: float, seeds: int) -> bool:
    """Say whether an interval is a point only because too few seeds happen to agree."""
    return low == high and seeds < SPREAD


def decide_corpora(
    pairs: Sequence[tuple[np.ndarray, np.ndarray]], direction: str, margin: float
) -> Decision:
    """Decide whether one system's BLEU is beyond another's by a margin in `direction`.

    Args:
        pairs: by seed the counts of both systems, see `bootstrap.statistics`.
        direction: the side of the margin that the claim names (`greater` or `less`).
        margin: the difference to exceed.
    """
    if not pairs:
        return Decision("not run", "no pair of runs")
    return _of_bootstrap(bootstrap.resample(pairs, margin), direction, margin)


def decide_resampled(
    differences: Sequence[float], per_seed: Sequence[float], direction: str, margin: float
) -> Decision:
    """Decide as `decide` does, with the interval and the p-value of the bootstrap over examples."""
    if not differences:
        return Decision("not run", "no pair of runs")
    return _of_bootstrap(bootstrap.resample_mean(differences, per_seed, margin), direction, margin)


def _of_bootstrap(found: bootstrap.Resampled, direction: str, margin: float) -> Decision:
    bounds, by_seed = (found.low, found.high), tuple(found.per_seed)
    verdict, reason = _by_seeds(bounds, by_seed, direction, margin)
    estimate, sentences = found.estimate, found.sentences
    return Decision(verdict, reason, estimate, *bounds, sentences, found.p_value, by_seed)


def decide_proportions(
    left: Sequence[int], right: Sequence[int] | float, direction: str, margin: float
) -> Decision:
    """Decide whether a difference of two fractions lies beyond `margin` in `direction`.

    Args:
        left: 0 or 1 of each run.
        right: the same of the other variant's runs, or a fixed fraction.
        direction: the side of the margin that the claim names (`greater` or `less`).
        margin: the difference to exceed.
    """
    groups = [left] if isinstance(right, float) else [left, right]
    if not all(groups):
        return Decision("not run", "no run on one side")
    counts = [(sum(group), len(group)) for group in groups]
    estimate = counts[0][0] / counts[0][1]
    if isinstance(right, float):
        low, high = (end - right for end in intervals.wilson(*counts[0]))
        estimate -= right
    else:
        low, high = intervals.newcombe(*counts)
        estimate -= counts[1][0] / counts[1][1]
    above, below = low > margin, high < margin
    verdict, reason = "undecided", f"the interval contains the margin {margin:g}"
    if min(n for _, n in counts) < 2:
        reason = "one run says nothing about how often"
    elif above or below:
        verdict = "holds" if above == (direction == "greater") else "does not hold"
        reason = f"the interval lies {'above' if above else 'below'} {margin:g}"
    return Decision(verdict, reason, estimate, low, high, sum(n for _, n in counts))
