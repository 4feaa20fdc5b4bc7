"""The tests behind claims: whether a difference lies beyond a margin, with its interval.

A difference varies with the training, which seeds tell, and with the test set, which its examples
tell. Its interval is of both: their half-widths add as squares (Howe 1974), so what varies more
decides, and one seed decides nothing. Over examples the test set's half is Student's, over corpora
(BLEU) that of a bootstrap. How often two variants reach an outcome (a measure of 0 or 1) is
compared by Newcombe's interval and Fisher's exact test: where both decide, it is decided.

A claim of a sign may name the smallest difference of interest. An interval that lies wholly within
it says that there is no such difference, also where it leaves out 0: that is a decision too.

A claim is undecidable where the test set alone is too small, however many seeds there are: half its
interval would be wider than the effect with endless seeds, too. More seeds are said to be enough
only where the whole interval, with their spread, would then be no wider than the effect.

A claim that is looked at with several numbers of seeds is decided at each of L looks by an interval
of level 1 - .05 / L. All of these hold at once in 95 % (Bonferroni), so that a look at each number
decides falsely in at most 5 % in all. They are repeated intervals (Jennison and Turnbull 1989).
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
MOST_RUNS = 100
"""No claim will have as many, of proportions on a side."""
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
    """The least p for which an interval of level 1 - p decides, times the number of looks; None
    where none was tested."""
    needed: int | None = None
    """Where the test set is too small: the size at which it alone would not be, with these seeds,
    or where it is undecidable, with endless ones; over proportions, with how many runs of each side
    it is decided, if all of them agree."""
    enough: int | None = None
    """Where the test set is too small: the number of seeds, as far apart as these, with which the
    interval of both is as narrow as the effect; None where no claim will have as many."""


class Hypothesis(NamedTuple):
    """What a claim asks of a difference."""

    direction: str
    """The side of the margin that it names, `greater` or `less`; or `equal`."""
    margin: float
    """The difference to exceed; of what is equal, to stay below on both sides."""
    interest: float | None = None
    """The smallest difference of interest, where it names one: half of the paper's difference."""
    looks: tuple[int, ...] = ()
    """The numbers of seeds at which it is decided, where there are several."""

    @property
    def effect(self) -> float:
        """The difference to find: the paper's, or the distance of none at all from the margin."""
        return 2 * self.interest if self.interest else abs(self.margin) or math.inf

    @property
    def edges(self) -> tuple[float, ...]:
        """The differences between those of which the claim is true and false."""
        return (-self.margin, self.margin) if self.direction == "equal" else (self.margin,)

    def answer(self, ends: Interval) -> Outcome:
        """Return what an interval says, whatever difference is of interest."""
        low, high = ends
        if any(low <= edge <= high for edge in self.edges):
            return "undecided"
        true = {"greater": low > self.margin, "less": high < self.margin}
        return "holds" if true.get(self.direction, abs(low) < self.margin) else "does not hold"

    def of_look(self, level: float = LEVEL) -> float:
        """Return the level of one look, so that all together leave in at most 1 - `level`."""
        return 1 - (1 - level) / max(len(self.looks), 1)

    def looked_at(self, seeds: int) -> "Hypothesis":
        """Return the same with each look at so many seeds, at the level that each look has."""
        return self._replace(looks=(seeds,) * len(self.looks))

    def unplanned(self, seeds: int) -> bool:
        """Say whether a claim with a plan is not to be decided with so many seeds."""
        return bool(self.looks) and seeds not in self.looks


UNDEFINED = Decision("undecided", "the measure is undefined in these runs")
OTHER_TIMES = Decision("undecided", "timed by code before a change of it, and after")
NOT_RUN = Decision("not run", "no pair of runs")


def decide_runs(differences: Sequence[float], asked: Hypothesis) -> Decision:
    """Decide on paired runs by left - right of each seed."""
    if not differences:
        return NOT_RUN
    mean = float(np.mean(differences))
    return _decide(mean, lambda level: (mean, mean), differences, asked, len(differences))


def decide_examples(
    differences: Sequence[float],
    by_seed: Sequence[float],
    asked: Hypothesis,
    common: float | None = None,
) -> Decision:
    """Decide on paired examples.

    Args:
        differences: left - right of each example, averaged over seeds.
        by_seed: the mean difference of each seed.
        asked: what the claim asks.
        common: what seeds have in common of the variance of `differences`, see `intervals.common`.
    """
    if not differences:
        return NOT_RUN
    mean, n = float(np.mean(differences)), len(differences)
    std = intervals.spread(differences)

    def test_set(level: float) -> Interval | None:
        return intervals.interval(mean, std, n, level)

    return _decide(mean, test_set, by_seed, asked, n, common)


def decide_corpora(pairs: Sequence[tuple[np.ndarray, np.ndarray]], asked: Hypothesis) -> Decision:
    """Decide on BLEU by the counts of both systems, by seed; see `bootstrap.statistics`."""
    if not pairs:
        return NOT_RUN
    drawn = bootstrap.resample(pairs)

    def test_set(level: float) -> Interval:
        """As far as the bootstrap's at 95 %, and at other levels by the normal distribution."""
        times = float(special.ndtri(0.5 + level / 2) / special.ndtri(0.5 + LEVEL / 2))
        low, high = ((1 - times) * drawn.estimate + times * it for it in (drawn.low, drawn.high))
        return low, high

    return _decide(drawn.estimate, test_set, drawn.per_seed, asked, drawn.sentences, drawn.common)


def _decide(
    estimate: float,
    test_set: Callable[[float], Interval | None],
    by_seed: Sequence[float],
    asked: Hypothesis,
    n: int,
    common: float | None = None,
) -> Decision:
    """Decide by the interval over seeds and test set.

    `test_set` gives that over the latter at a level. With one seed it is shown alone, and nothing
    is decided.
    """
    spread, seeds, around = intervals.spread(by_seed), len(by_seed), (estimate, estimate)
    of_test_set = test_set(asked.of_look())
    if of_test_set is None or (spread is None and of_test_set[0] == of_test_set[1]):
        reason = "one pair has no interval"
        return Decision("undecided", reason, estimate, n=n, by_seed=(*by_seed,))

    def at(level: float) -> Interval:
        over_seeds = intervals.interval(estimate, spread, seeds, level)
        return intervals.joined(estimate, test_set(level) or around, over_seeds or around)

    decision = _by_interval(at, asked, estimate, n, (*by_seed,))
    decision = _beside_test_set(decision, (of_test_set[1] - of_test_set[0]) / 2, asked, common)
    if spread is None:
        reason = "one seed says nothing about other trainings"
        return replace(decision, verdict="undecided", reason=reason, p=None)
    if without_spread(by_seed):
        reason = "so few seeds without any spread may agree by chance"
        return replace(decision, verdict="undecided", reason=reason, p=None)
    if asked.unplanned(seeds):
        return replace(decision, verdict="undecided", reason=_unplanned(seeds), p=None)
    return decision


def _beside_test_set(
    decision: Decision, half: float, asked: Hypothesis, common: float | None
) -> Decision:
    """Return a decision with what a test set that is too small would need.

    With N examples and S seeds, half its interval is h, of which the part c of h^2 is common to all
    seeds. It alone is as wide as the effect e with N (h / e)^2 examples. Where c h^2 exceeds e^2 no
    number of seeds is enough, and N c (h / e)^2 examples are with endless seeds.

    Args:
        decision: by the interval of seeds and test set.
        half: h, at the level of one look.
        asked: what the claim asks, with e.
        common: c; None with one seed, which tells nothing of it.
    """
    apart = min(abs((decision.estimate or 0) - edge) for edge in asked.edges)
    wide = (half / asked.effect) ** 2
    if decision.verdict != "undecided" or wide <= 1 or apart > half:
        return decision
    if common is None:
        return replace(decision, needed=math.ceil(decision.n * wide))
    if common * wide <= 1:
        enough = _seeds_needed(decision.by_seed, half, asked, common)
        return replace(decision, needed=math.ceil(decision.n * wide), enough=enough)
    reason = f"the test set is too small for a difference of {asked.effect:g}, whatever the seeds"
    needed = math.ceil(decision.n * common * wide)
    return replace(decision, verdict="undecidable", reason=reason, needed=needed)


def _seeds_needed(
    by_seed: Sequence[float], half: float, asked: Hypothesis, common: float
) -> int | None:
    """Return with how many seeds the whole interval is as narrow as the effect.

    With S in the place of s seeds the test set's half is h sqrt(c + (1 - c) s / S), and that of the
    seeds is Student's with their spread of today; see `_beside_test_set`.
    """
    spread, level = intervals.spread(by_seed), asked.of_look()
    for seeds in range(len(by_seed) + 1, MOST_RUNS):
        _, of_seeds = intervals.interval(0.0, spread, seeds, level) or (0.0, 0.0)
        of_test_set = half * math.sqrt(common + (1 - common) * len(by_seed) / seeds)
        if math.hypot(of_test_set, of_seeds) <= asked.effect:
            return seeds
    return None


def _unplanned(seeds: int) -> str:
    """Return why nothing is decided between two looks."""
    return f"no look is planned at {seeds} seeds"


def _by_interval(
    alone: Callable[[float], Interval],
    asked: Hypothesis,
    estimate: float,
    n: int,
    by_seed: tuple[float, ...] = (),
) -> Decision:
    """Decide by the interval of a difference, which `alone` gives at a level for a lone look."""
    interest = asked.interest

    def at(level: float) -> Interval:
        """Return the interval that all looks together leave in at most 1 - `level`."""
        return alone(asked.of_look(level))

    def beyond(ends: Interval) -> bool:
        return asked.answer(ends) != "undecided"

    def within(ends: Interval) -> bool:
        return interest is not None and -interest < ends[0] and ends[1] < interest

    low, high = at(LEVEL)
    verdict, margin = asked.answer((low, high)), f"{asked.margin:g}"
    if within((low, high)):
        verdict, reason = "no difference", f"the interval lies within ±{interest:g}"
    elif asked.direction == "equal":
        where = {"holds": "lies within", "undecided": "reaches beyond"}.get(verdict, "lies beyond")
        reason = f"the interval {where} ±{margin}"
    elif verdict == "undecided":
        reason = f"the interval contains the margin {margin}"
    else:
        reason = f"the interval lies {'above' if low > asked.margin else 'below'} {margin}"
    p = intervals.significance(at, within if verdict == "no difference" else beyond)
    return Decision(verdict, reason, estimate, low, high, n, by_seed, p)


def without_spread(by_seed: Sequence[float]) -> bool:
    """Say whether too few seeds happen to agree exactly."""
    return len(by_seed) < SPREAD and len(set(by_seed)) == 1


def decide_proportions(
    left: Sequence[int], right: Sequence[int] | float, asked: Hypothesis
) -> Decision:
    """Decide on two fractions.

    Against a fixed 0 or 1 one run that differs shows it, which is no test.

    Args:
        left: 0 or 1 of each run.
        right: the same of the other variant's runs, or a fixed fraction.
        asked: what the claim asks.
    """
    groups = [left] if isinstance(right, float) else [left, right]
    if not all(groups):
        return Decision("not run", "no run on one side")
    counts = [(sum(group), len(group)) for group in groups]
    fixed = right if isinstance(right, float) else None
    decision, runs = _of_counts(counts, fixed, asked), min(n for _, n in counts)
    decision = replace(decision, needed=_runs_needed(decision, runs, fixed, asked))
    if runs < 2:
        reason = "one run says nothing about how often"
        return replace(decision, verdict="undecided", reason=reason, p=None)
    if asked.unplanned(len(left)):
        return replace(decision, verdict="undecided", reason=_unplanned(len(left)), p=None)
    return replace(decision, p=None) if fixed in (0, 1) else decision


def _of_counts(
    counts: Sequence[tuple[int, int]], fixed: float | None, asked: Hypothesis
) -> Decision:
    """Decide on one fraction beside a fixed one, or on two; each is (successes, n)."""
    shares, runs = [count / n for count, n in counts], sum(n for _, n in counts)
    if fixed is not None:

        def exact(level: float) -> Interval:
            low, high = intervals.exact(*counts[0], level)
            return low - fixed, high - fixed

        return _by_interval(exact, asked, shares[0] - fixed, runs)
    one, other = counts

    def newcombe(level: float) -> Interval:
        return intervals.newcombe(one, other, level)

    decision = _by_interval(newcombe, asked, shares[0] - shares[1], runs)
    if decision.verdict == "no difference" or decision.p is None:
        return decision
    p = max(decision.p, min(1, intervals.fisher(one, other) * max(len(asked.looks), 1)))
    if p <= 1 - LEVEL or decision.verdict == "undecided":
        return replace(decision, p=p)
    reason = f"Fisher's exact test: p = {f'{p:.2g}'.removeprefix('0')}"
    return replace(decision, verdict="undecided", reason=reason, p=p)


def _runs_needed(
    decision: Decision, runs: int, fixed: float | None, asked: Hypothesis
) -> int | None:
    """Return with how many runs a side it is decided if all agree; None with as many already."""
    above = (decision.estimate or 0) >= asked.margin
    for n in range(2, MOST_RUNS):
        ones, others = (n, 0) if above else (0, n)
        counts = [(ones, n)] if fixed is not None else [(ones, n), (others, n)]
        if _of_counts(counts, fixed, asked).verdict in DECIDED:
            return n if n > runs else None
    return None
