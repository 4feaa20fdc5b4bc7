"""Claims of a paper as directions, each with its test.

Most tests are paired: the pairs are the runs of two variants with the same seed, or the examples
that both measured, each averaged over those seeds.  An interval over examples says nothing about
other trainings, so such a claim is decided only where every seed points the same way, and never by
one seed. The same holds of corpora: BLEU is compared on one test set drawn anew many times (see
`bootstrap`).

A claim over proportions compares how often two variants reach an outcome (a measure of 0 or 1).
Its sides count as independent groups of runs, and its interval is Newcombe's: there, single seeds
differ by nature, so the interval alone decides.  (Runs of one seed may share initial values, and
all share their data; what they have in common makes the interval too wide rather than too narrow.)
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from scipy import special

from workflow.reporting import bootstrap, intervals
from workflow.reporting.comparability import hindrances
from workflow.reporting.expected import ExpectedValues
from workflow.reporting.files import ReportingError
from workflow.reporting.measures import Measure, Measures
from workflow.reporting.paper import Paper
from workflow.reporting.tables import provenance

WORDS = ("holds", "does not hold", "undecided", "not run")
CHECK = "A check, no claim of the paper: "
"""What a claim of ours begins with."""
OF_EXAMPLES = ("examples", "resampled")
"""What claims are over that compare arrays of numbers, one an example."""


@dataclass(frozen=True)
class Decision:
    """What a test says about `left - right`."""

    verdict: str
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
    if above or below:
        verdict = "holds" if above == (direction == "greater") else "does not hold"
        side = "above" if above else "below"
        return verdict, f"the interval and every seed lie {side} {margin:g}"
    return "undecided", "the interval contains the margin or the seeds disagree"


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


def judge(paper: Paper, scale: str, measures: Measures) -> dict[str, Any]:
    """Return the decisions on all claims of a paper, with the runs behind them.

    A claim decided on runs that can't be compared with the paper's (demo scale, overlay, reduced
    or stand-in data) keeps its decision, and says so in `hindrances`.
    """
    found, runs = [], {}
    for claim in (_with_printed(one, paper.expected) for one in paper.claims["claims"]):
        left, right = (
            measures.of(claim["experiment"], claim[side].get("variant", ""))
            for side in ("left", "right")
        )
        test = _of_groups if claim["over"] == "proportions" else _of_pairs
        decision, ones, others = test(claim, left, right)
        compared = [one for both in zip_longest(ones, others) for one in both if one is not None]
        behind = list({id(measure): measure for measure in compared}.values())
        runs.update({measure.identity: provenance(measure) for measure in behind})
        conditions = paper.tables.get("not_comparable", [])
        found.append(
            {
                "id": claim["id"],
                "source": claim["source"],
                "label": claim["label"],
                "unit": claim["unit"],
                "claim": CHECK + claim["claim"] if claim.get("check") else claim["claim"],
                "digits": claim["digits"],
                "over": claim["over"],
                "direction": claim["direction"],
                "margin": claim["margin"],
                "headline": bool(claim.get("headline")),
                "check": bool(claim.get("check")),
                "paper": printed(claim, paper.expected),
                **asdict(decision),
                "left": _side(claim, "left", ones),
                "right": _side(claim, "right", others),
                "seeds": sorted({measure.seed for measure in behind}),
                "hindrances": hindrances(scale, conditions, behind),
                "measures": [measure.path.as_posix() for measure in behind],
                "runs": [measure.identity for measure in behind],
            }
        )
    return {"schema": 1, "paper": paper.name, "scale": scale, "claims": found, "runs": runs}


def printed(claim: Mapping[str, Any], expected: ExpectedValues) -> str:
    """Return what the paper prints for the two sides (`0.71 vs 0.69`), or nothing."""
    if "printed" not in claim:
        return ""
    places = [claim["printed"][side] for side in ("left", "right") if side in claim["printed"]]
    metric = claim["printed"]["metric"]
    numbers = [expected.at(place, place.get("metric", metric)) for place in places]
    return " vs ".join(number.printed.text for number in numbers)


def _with_printed(claim: Mapping[str, Any], expected: ExpectedValues) -> Mapping[str, Any]:
    """Return a claim with the number printed for its left side where its right side asks for it."""
    if "printed" not in claim["right"]:
        return claim
    number = expected.at(claim["printed"]["left"], claim["printed"]["metric"]).printed.value
    return {**claim, "right": {"label": "the paper's", "value": number}}


def _of_pairs(
    claim: Mapping[str, Any], left: Sequence[Measure], right: Sequence[Measure]
) -> tuple[Decision, list[Measure], list[Measure]]:
    """Return the decision over pairs, and the runs that were paired, of either side."""
    fixed = claim["right"].get("value")
    paired = [
        (one, other)
        for one in left
        for other in ([one] if fixed is not None else right)
        if one.seed == other.seed
    ]
    sides = [_measure(claim, side) for side in ("left", "right")]
    pairs = [
        pair
        for pair in paired
        if all(_measured(claim, name, one) for name, one in zip(sides, pair, strict=True))
    ]
    if claim["over"] == "corpora":
        counts = [(_counts(sides[0], one), _counts(sides[1], other)) for one, other in pairs]
        decision = decide_corpora(counts, claim["direction"], claim["margin"])
    else:
        test = decide_resampled if claim["over"] == "resampled" else decide
        decision = test(*_differences(claim, pairs), claim["direction"], claim["margin"])
    undefined = [
        one.undefined(name) for pair in paired for name, one in zip(sides, pair, strict=True)
    ]
    if any(undefined) and not pairs:
        decision = UNDEFINED
    return decision, [one for one, _ in pairs], [other for _, other in pairs]


def _of_groups(
    claim: Mapping[str, Any], left: Sequence[Measure], right: Sequence[Measure]
) -> tuple[Decision, list[Measure], list[Measure]]:
    """Return the decision over proportions, and the runs that have an outcome, of either side.

    Raises ReportingError when the measure of a run is neither 0 nor 1.
    """
    sides = [(_measure(claim, side), runs) for side, runs in (("left", left), ("right", right))]
    found = [
        [(one, outcome) for one in runs if (outcome := one.outcome(name)) is not None]
        for name, runs in sides
    ]
    ones, others = ([outcome for _, outcome in side] for side in found)
    fixed = claim["right"].get("value")
    against = others if fixed is None else float(fixed)
    decision = decide_proportions(ones, against, claim["direction"], claim["margin"])
    undefined = any(one.undefined(name) for name, runs in sides for one in runs)
    if decision.verdict == "not run" and undefined:
        decision = UNDEFINED
    return decision, [one for one, _ in found[0]], [one for one, _ in found[1]]


def _measure(claim: Mapping[str, Any], side: str) -> str:
    """Return the measure of a side: its own, else the claim's."""
    return str(claim[side].get("measure", claim["measure"]))


def _measured(claim: Mapping[str, Any], name: str, measure: Measure) -> bool:
    if claim["over"] in OF_EXAMPLES:
        return any(value is not None for value in measure.array(name) or ())
    return measure.scalar(name) is not None


def _value(name: str, measure: Measure) -> float:
    scalar = measure.scalar(name) or {}
    return float(scalar["value"])


def _counts(name: str, measure: Measure) -> np.ndarray:
    """Return the counts behind BLEU of the translations that an evaluator keeps."""
    evaluator = name.partition(".")[0]
    texts = [measure.array(f"{evaluator}.{side}") for side in ("hypotheses", "references")]
    if None in texts:
        raise ReportingError(
            f"{measure.path}: {evaluator} keeps no translations, which a claim over corpora needs; "
            "measure the run again."
        )
    return bootstrap.statistics(*texts)


def _differences(
    claim: Mapping[str, Any], pairs: Sequence[tuple[Measure, Measure]]
) -> tuple[list[float], list[float]]:
    """Return left - right of each pair (examples or runs), and its mean in each seed."""
    fixed = claim["right"].get("value")
    left_name, right_name = (_measure(claim, side) for side in ("left", "right"))
    if claim["over"] == "runs":
        by_run = [
            _value(left_name, one) - (_value(right_name, other) if fixed is None else float(fixed))
            for one, other in pairs
        ]
        return by_run, by_run
    by_seed = []
    for one, other in pairs:
        left = intervals.numbers(one.array(left_name))
        right = intervals.numbers(other.array(right_name)) if fixed is None else fixed
        if fixed is None and len(left) != len(right):
            raise ReportingError(
                f"{one.path} and {other.path} measured {len(left)} and {len(right)} examples; "
                "measure both runs on the same data."
            )
        by_seed.append(left - right)
    if not by_seed:
        return [], []
    averaged = intervals.over_seeds([differences.tolist() for differences in by_seed])
    known = [differences[~np.isnan(differences)] for differences in by_seed]
    return averaged.tolist(), [float(one.mean()) for one in known if len(one)]


def _side(claim: Mapping[str, Any], side: str, behind: Sequence[Measure]) -> dict[str, Any]:
    """Return a side's label, variant, mean over the runs compared and, of proportions, counts."""
    if "value" in claim[side]:
        label = claim[side].get("label", "fixed value")
        return {"label": label, "variant": None, "mean": claim[side]["value"]}
    name = _measure(claim, side)
    values = [_value(name, measure) for measure in behind if measure.scalar(name)]
    mean = sum(values) / len(values) if values else None
    counts = {"count": int(sum(values)), "runs": len(values)}
    return {
        "label": claim[side]["label"],
        "variant": claim[side]["variant"],
        "mean": mean,
        **(counts if claim["over"] == "proportions" else {}),
    }
