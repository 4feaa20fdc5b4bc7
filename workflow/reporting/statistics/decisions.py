"""The tests behind claims: whether a difference lies beyond a margin, with its interval.

A difference varies with the training, which seeds tell, and with the test set, which its examples
tell. Its interval is of both: their half-widths add as squares (Howe 1974), so what varies more
decides, and one seed decides nothing. Over examples the test set's half is Student's, over corpora
(BLEU) that of a bootstrap. How often two variants reach an outcome (a measure of 0 or 1) is
compared by Newcombe's interval, which alone decides.

A claim of a sign may name the smallest difference of interest. An interval that lies wholly within
it says that there is no such difference, also where it leaves out 0: that is a decision too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from workflow.definitions.claims import Outcome
from workflow.reporting.statistics import bootstrap, intervals

VERDICTS: tuple[Outcome, ...] = get_args(Outcome)
DECIDED = VERDICTS[:3]
SPREAD = 3
"""So many seeds that agree exactly are believed to; of fewer it may be chance."""


@dataclass(frozen=True)
class Decision:
    """What a test says about `left - right`."""

    verdict: str
    """One of `VERDICTS`."""
    reason: str
    estimate: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    n: int = 0
    """Number of pairs, over corpora of sentences; over proportions, of runs on both sides."""
    by_seed: tuple[float, ...] = ()
    """The difference of each seed; over proportions none."""


UNDEFINED = Decision("undecided", "the measure is undefined in these runs")
NOT_RUN = Decision("not run", "no pair of runs")


def decide_runs(
    differences: Sequence[float], direction: str, margin: float, interest: float | None = None
) -> Decision:
    """Decide whether differences of paired runs lie beyond `margin`.

    Args:
        differences: left - right of each seed.
        direction: the side of the margin that the claim names (`greater` or `less`).
        margin: the difference to exceed.
        interest: the smallest difference of interest, where the claim names one.
    """
    if not differences:
        return NOT_RUN
    mean = float(np.mean(differences))
    n = len(differences)
    return _decide(mean, (mean, mean), differences, direction, margin, n, interest)


def decide_examples(
    differences: Sequence[float],
    by_seed: Sequence[float],
    direction: str,
    margin: float,
    interest: float | None = None,
) -> Decision:
    """Decide whether differences of paired examples lie beyond `margin`.

    Args:
        differences: left - right of each example, averaged over seeds.
        by_seed: the mean difference of each seed.
        direction: the side of the margin that the claim names (`greater` or `less`).
        margin: the difference to exceed.
        interest: the smallest difference of interest, where the claim names one.
    """
    if not differences:
        return NOT_RUN
    mean, n = float(np.mean(differences)), len(differences)
    bounds = intervals.interval(mean, intervals.spread(differences), n)
    return _decide(mean, bounds, by_seed, direction, margin, n, interest)


def decide_corpora(
    pairs: Sequence[tuple[np.ndarray, np.ndarray]],
    direction: str,
    margin: float,
    interest: float | None = None,
) -> Decision:
    """Decide whether one system's BLEU is beyond another's by a margin in `direction`.

    Args:
        pairs: by seed the counts of both systems, see `bootstrap.statistics`.
        direction: the side of the margin that the claim names (`greater` or `less`).
        margin: the difference to exceed.
        interest: the smallest difference of interest, where the claim names one.
    """
    if not pairs:
        return NOT_RUN
    drawn = bootstrap.resample(pairs)
    bounds, by_seed, n = (drawn.low, drawn.high), drawn.per_seed, drawn.sentences
    return _decide(drawn.estimate, bounds, by_seed, direction, margin, n, interest)


def _decide(
    estimate: float,
    test_set: tuple[float, float] | None,
    by_seed: Sequence[float],
    direction: str,
    margin: float,
    n: int,
    interest: float | None = None,
) -> Decision:
    """Decide by the interval over seeds and test set; `test_set` is the interval over the latter.

    With one seed the test set's is shown, and nothing is decided.
    """
    over_seeds = intervals.interval(estimate, intervals.spread(by_seed), len(by_seed))
    if test_set is None or (over_seeds is None and test_set[0] == test_set[1]):
        reason = "one pair has no interval"
        return Decision("undecided", reason, estimate, n=n, by_seed=(*by_seed,))
    low, high = intervals.joined(estimate, test_set, over_seeds or (estimate, estimate))
    verdict, reason = _by_interval(low, high, direction, margin, interest)
    if over_seeds is None:
        verdict, reason = "undecided", "one seed says nothing about other trainings"
    elif without_spread(by_seed):
        verdict, reason = "undecided", "so few seeds without any spread may agree by chance"
    return Decision(verdict, reason, estimate, low, high, n, (*by_seed,))


def _by_interval(
    low: float, high: float, direction: str, margin: float, interest: float | None
) -> tuple[str, str]:
    """Return what an interval of a difference decides, and why."""
    if interest is not None and -interest < low and high < interest:
        return "no difference", f"the interval lies within ±{interest:g}"
    if low <= margin <= high:
        return "undecided", f"the interval contains the margin {margin:g}"
    above = low > margin
    verdict = "holds" if above == (direction == "greater") else "does not hold"
    return verdict, f"the interval lies {'above' if above else 'below'} {margin:g}"


def without_spread(by_seed: Sequence[float]) -> bool:
    """Say whether too few seeds happen to agree exactly."""
    return len(by_seed) < SPREAD and len(set(by_seed)) == 1


def decide_proportions(
    left: Sequence[int],
    right: Sequence[int] | float,
    direction: str,
    margin: float,
    interest: float | None = None,
) -> Decision:
    """Decide whether a difference of two fractions lies beyond `margin` in `direction`.

    Args:
        left: 0 or 1 of each run.
        right: the same of the other variant's runs, or a fixed fraction.
        direction: the side of the margin that the claim names (`greater` or `less`).
        margin: the difference to exceed.
        interest: the smallest difference of interest, where the claim names one.
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
    verdict, reason = _by_interval(low, high, direction, margin, interest)
    if min(n for _, n in counts) < 2:
        verdict, reason = "undecided", "one run says nothing about how often"
    return Decision(verdict, reason, estimate, low, high, sum(n for _, n in counts))
