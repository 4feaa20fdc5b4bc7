"""The tests behind claims: whether a difference lies beyond a margin, with its interval.

A difference varies with the training, which seeds tell, and with the test set, which its examples
tell. Its interval is of both: their half-widths add as squares (Howe 1974), so what varies more
decides, and one seed decides nothing. Over examples the test set's half is Student's, over corpora
(BLEU) that of a bootstrap. How often two variants reach an outcome (a measure of 0 or 1) is
compared by Newcombe's interval, which alone decides.

A claim of a sign may name the smallest difference of interest. An interval that lies wholly within
it says that there is no such difference, also where it leaves out 0: that is a decision too.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, get_args

import numpy as np
from scipy import special

from workflow.definitions.claims import Outcome
from workflow.reporting.statistics import bootstrap, intervals
from workflow.reporting.statistics.intervals import LEVEL, Interval

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
    p: float | None = None
    """The least p for which an interval of level 1 - p decides; None where none was tested."""
    needed: int | None = None
    """The examples or sentences of a test set that could show twice the difference of interest with
    as many seeds, where those of today can't."""


class Asked(NamedTuple):
    """What a claim asks of a difference."""

    direction: str
    """The side of the margin that it names, `greater` or `less`."""
    margin: float
    """The difference to exceed."""
    interest: float | None = None
    """The smallest difference of interest, where it names one: half of the paper's difference."""


UNDEFINED = Decision("undecided", "the measure is undefined in these runs")
OTHER_TIMES = Decision("undecided", "timed by code before a change of it, and after")
NOT_RUN = Decision("not run", "no pair of runs")


def decide_runs(differences: Sequence[float], asked: Asked) -> Decision:
    """Decide on paired runs by left - right of each seed."""
    if not differences:
        return NOT_RUN
    mean = float(np.mean(differences))
    return _decide(mean, lambda level: (mean, mean), differences, asked, len(differences))


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
    std = intervals.spread(differences)
    return _decide(mean, lambda level: intervals.interval(mean, std, n, level), by_seed, asked, n)


def decide_corpora(pairs: Sequence[tuple[np.ndarray, np.ndarray]], asked: Asked) -> Decision:
    """Decide on BLEU by the counts of both systems, by seed; see `bootstrap.statistics`."""
    if not pairs:
        return NOT_RUN
    drawn = bootstrap.resample(pairs)

    def test_set(level: float) -> Interval:
        """As far as the bootstrap's at 95 %, and at other levels by the normal distribution."""
        times = float(special.ndtri(0.5 + level / 2) / special.ndtri(0.5 + LEVEL / 2))
        ends = ((1 - times) * drawn.estimate + times * end for end in (drawn.low, drawn.high))
        low, high = ends
        return low, high

    return _decide(drawn.estimate, test_set, drawn.per_seed, asked, drawn.sentences)


def _decide(
    estimate: float,
    test_set: Callable[[float], Interval | None],
    by_seed: Sequence[float],
    asked: Asked,
    n: int,
) -> Decision:
    """Decide by the interval over seeds and test set.

    `test_set` gives that over the latter at a level. With one seed it is shown alone, and nothing
    is decided.
    """
    spread, seeds, around = intervals.spread(by_seed), len(by_seed), (estimate, estimate)
    of_test_set = test_set(LEVEL)
    if of_test_set is None or (spread is None and of_test_set[0] == of_test_set[1]):
        reason = "one pair has no interval"
        return Decision("undecided", reason, estimate, n=n, by_seed=(*by_seed,))

    def at(level: float) -> Interval:
        over_seeds = intervals.interval(estimate, spread, seeds, level)
        return intervals.joined(estimate, test_set(level) or around, over_seeds or around)

    decision = _by_interval(at, asked, estimate, n, (*by_seed,))
    decision = replace(decision, needed=_needed(of_test_set, asked, n))
    if spread is None:
        reason = "one seed says nothing about other trainings"
        return replace(decision, verdict="undecided", reason=reason, p=None)
    if without_spread(by_seed):
        reason = "so few seeds without any spread may agree by chance"
        return replace(decision, verdict="undecided", reason=reason, p=None)
    return decision


def _needed(test_set: Interval, asked: Asked, n: int) -> int | None:
    """Return with how many examples half the interval of a test set is twice the interest.

    None where it is smaller already, or where the interval leaves out the margin. It falls with the
    root of `n`; seeds narrow it too, as far as examples differ by seed.
    """
    low, high = test_set
    half, effect = (high - low) / 2, 2 * (asked.interest or math.inf)
    small = half > effect and low <= asked.margin <= high
    return math.ceil(n * (half / effect) ** 2) if small else None


def _by_interval(
    at: Callable[[float], Interval],
    asked: Asked,
    estimate: float,
    n: int,
    by_seed: tuple[float, ...] = (),
) -> Decision:
    """Decide by the interval of a difference, which `at` gives at a level."""
    direction, margin, interest = asked

    def beyond(ends: Interval) -> bool:
        return not ends[0] <= margin <= ends[1]

    def within(ends: Interval) -> bool:
        return interest is not None and -interest < ends[0] and ends[1] < interest

    low, high = at(LEVEL)
    if within((low, high)):
        verdict, reason = "no difference", f"the interval lies within ±{interest:g}"
    elif beyond((low, high)):
        verdict = "holds" if (low > margin) == (direction == "greater") else "does not hold"
        reason = f"the interval lies {'above' if low > margin else 'below'} {margin:g}"
    else:
        verdict, reason = "undecided", f"the interval contains the margin {margin:g}"
    p = intervals.significance(at, within if verdict == "no difference" else beyond)
    return Decision(verdict, reason, estimate, low, high, n, by_seed, p)


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
        estimate -= right

        def at(level: float) -> Interval:
            low, high = intervals.exact(*counts[0], level)
            return low - right, high - right
    else:
        estimate -= counts[1][0] / counts[1][1]

        def at(level: float) -> Interval:
            return intervals.newcombe(counts[0], counts[1], level)

    decision = _by_interval(at, asked, estimate, sum(n for _, n in counts))
    if min(n for _, n in counts) < 2:
        reason = "one run says nothing about how often"
        return replace(decision, verdict="undecided", reason=reason, p=None)
    return decision
