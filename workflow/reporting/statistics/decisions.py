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
from typing import NamedTuple, get_args

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


class Asked(NamedTuple):
    """What a claim asks of a difference."""

    direction: str
    """The side of the margin that it names, `greater` or `less`."""
    margin: float
    """The difference to exceed."""
    interest: float | None = None
    """The smallest difference of interest, where it names one."""


UNDEFINED = Decision("undecided", "the measure is undefined in these runs")
OTHER_TIMES = Decision("undecided", "timed by code before a change of it, and after")
NOT_RUN = Decision("not run", "no pair of runs")


def decide_runs(differences: Sequence[float], asked: Asked) -> Decision:
    """Decide on paired runs by left - right of each seed."""
    if not differences:
        return NOT_RUN
    mean = float(np.mean(differences))
    return _decide(mean, (mean, mean), differences, asked, len(differences))


def decide_examples(
    differences: Sequence[float], by_seed: Sequence[float], asked: Asked
) -> Decision:
    """Decide on paired examples.

    Args:
        differences: left - right of each example, averaged over seeds.
        by_seed: the mean difference of each seed.
        asked: what the claim asks.
    """
    if not differences:
        return NOT_RUN
    mean, n = float(np.mean(differences)), len(differences)
    bounds = intervals.interval(mean, intervals.spread(differences), n)
    return _decide(mean, bounds, by_seed, asked, n)


def decide_corpora(pairs: Sequence[tuple[np.ndarray, np.ndarray]], asked: Asked) -> Decision:
    """Decide on BLEU by the counts of both systems, by seed; see `bootstrap.statistics`."""
    if not pairs:
        return NOT_RUN
    drawn = bootstrap.resample(pairs)
    bounds = (drawn.low, drawn.high)
    return _decide(drawn.estimate, bounds, drawn.per_seed, asked, drawn.sentences)


def _decide(
    estimate: float,
    test_set: tuple[float, float] | None,
    by_seed: Sequence[float],
    asked: Asked,
    n: int,
) -> Decision:
    """Decide by the interval over seeds and test set; `test_set` is the interval over the latter.

    With one seed the test set's is shown, and nothing is decided.
    """
    over_seeds = intervals.interval(estimate, intervals.spread(by_seed), len(by_seed))
    if test_set is None or (over_seeds is None and test_set[0] == test_set[1]):
        reason = "one pair has no interval"
        return Decision("undecided", reason, estimate, n=n, by_seed=(*by_seed,))
    low, high = intervals.joined(estimate, test_set, over_seeds or (estimate, estimate))
    verdict, reason = _by_interval(low, high, asked)
    if over_seeds is None:
        verdict, reason = "undecided", "one seed says nothing about other trainings"
    elif without_spread(by_seed):
        verdict, reason = "undecided", "so few seeds without any spread may agree by chance"
    return Decision(verdict, reason, estimate, low, high, n, (*by_seed,))


def _by_interval(low: float, high: float, asked: Asked) -> tuple[str, str]:
    """Return what an interval of a difference decides, and why."""
    direction, margin, interest = asked
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


def decide_proportions(left: Sequence[int], right: Sequence[int] | float, asked: Asked) -> Decision:
    """Decide on two fractions.

    Args:
        left: 0 or 1 of each run.
        right: the same of the other variant's runs, or a fixed fraction.
        asked: what the claim asks.
    """
    groups = [left] if isinstance(right, float) else [left, right]
    if not all(groups):
        return Decision("not run", "no run on one side")
    counts = [(sum(group), len(group)) for group in groups]
    estimate = counts[0][0] / counts[0][1]
    if isinstance(right, float):
        low, high = (end - right for end in intervals.exact(*counts[0]))
        estimate -= right
    else:
        low, high = intervals.newcombe(*counts)
        estimate -= counts[1][0] / counts[1][1]
    verdict, reason = _by_interval(low, high, asked)
    if min(n for _, n in counts) < 2:
        verdict, reason = "undecided", "one run says nothing about how often"
    return Decision(verdict, reason, estimate, low, high, sum(n for _, n in counts))
