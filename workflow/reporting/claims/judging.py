"""Claims of a paper as directions, each decided by its test on the runs that it compares.

Most tests are paired: the pairs are the runs of two variants with the same seed, on the device that
most pairs were trained on, and the examples that both measured, each averaged over those seeds. The
sides of a claim over proportions count as independent groups of runs of one device: single seeds
differ by nature there. (What the two sides have in common, initial values of one seed or their
data, makes the interval too wide rather than too narrow. The data that all runs of one side share
are drawn once; what varies by them is not in the interval.)
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import zip_longest
from statistics import fmean
from typing import Any, Literal, cast

import numpy as np

from workflow.definitions.claims import Claim, ComparedVariant, Constant, looks_of
from workflow.definitions.expected import Expected, ExpectedValues
from workflow.definitions.paper import NOTHING, Paper
from workflow.planning.departures import Departures
from workflow.reporting.bounds import bounds_of
from workflow.reporting.claims.judged import ClaimSide, JudgedClaim, kind_of
from workflow.reporting.measures import (
    EvaluatedRun,
    Measures,
    comparable,
    crossed,
    device_of,
    numbers_of,
    partners,
    provenance,
    usual_device,
)
from workflow.reporting.overlaid import Overlaid, exchanged
from workflow.reporting.statistics import bootstrap, intervals
from workflow.reporting.statistics.comparability import base_scale, hindrances
from workflow.reporting.statistics.decisions import (
    DECIDED,
    OTHER_TIMES,
    UNDEFINED,
    Decision,
    Hypothesis,
    decide_corpora,
    decide_examples,
    decide_proportions,
    decide_runs,
)
from workflow.runtime.errors import ReportingError

PAIR = 2
ONE_PAIR = "two seeds that are read beside each other are one pair of trainings"
CHECK = "A check, no claim of the paper: "
"""What a claim of ours begins with."""
SideName = Literal["left", "right"]
SIDES: tuple[SideName, ...] = ("left", "right")
STATED = ("id", "source", "label", "unit", "digits", "over", "direction", "margin")
"""What a judged claim has of its definition as it stands there."""


def judge(
    paper: Paper, scale: str, measures: Measures, changed: Overlaid = NOTHING
) -> dict[str, Any]:
    """Return the decisions on all claims of a paper, with the runs behind them.

    A claim decided on runs that can't be compared with the paper's (demo scale, overlay, reduced
    or stand-in data) keeps its decision, and says so in `hindrances`. Timings by code before a
    change of it and after decide nothing.

    Args:
        paper: whose claims are decided.
        scale: the scale, or `<scale>+<overlay>`.
        measures: of the runs that there are.
        changed: what an overlay changes of runs.
    """
    claims, runs = [], {}
    departures = Departures(paper.folder.parent, base_scale(scale))
    for claim in (_with_printed(one, paper.expected) for one in paper.claims["claims"]):
        (left, off_left), (right, off_right) = (_runs(claim, side, measures) for side in SIDES)
        test = _of_groups if claim["over"] == "proportions" else _of_pairs
        looks = looks_of(paper.claims, base_scale(scale), claim["id"])
        asked = Hypothesis(claim["direction"], claim["margin"], _interest(claim), looks)
        decision, ones, others = test(claim, left, right, asked)
        sides = zip(SIDES, (ones, others), strict=True)
        named = [
            (measure, _measure(claim, side))
            for side, used in sides
            for measure in used
            if "value" not in claim[side]
        ]
        if not comparable((it, name) for it, name in named if it.timed(name.partition(".")[0])):
            decision = OTHER_TIMES
        decision = _within(claim, decision, _unit(claim, named), others)
        shared = crossed(named)
        if shared and len(ones) == PAIR and decision.verdict in DECIDED:
            decision = replace(decision, verdict="undecided", reason=ONE_PAIR, p=None)
        fragile = None
        if decision.verdict in DECIDED:
            left_out = _left_out(claim, ones, others)
            fragile = sum(
                (shared and len(one) == PAIR)
                or test(claim, one, other, asked.looked_at(len(one)))[0].verdict != decision.verdict
                for one, other in left_out
            )
        compared = [one for both in zip_longest(ones, others) for one in both if one is not None]
        compared += [
            off[one.seed]
            for used, off in ((ones, off_left), (others, off_right))
            for one in used
            if off
        ]
        behind = list({one.path: one for one in compared}.values())
        runs.update({measure.identity: provenance(measure) for measure in behind})
        conditions = paper.tables.get("not_comparable", [])
        judged = JudgedClaim(
            **asdict(decision),
            **_stated(claim),
            claim=CHECK + claim["claim"] if claim.get("check") else claim["claim"],
            headline=bool(claim.get("headline")),
            interest=_interest(claim),
            looks=[*looks],
            kind=kind_of(claim, departures),
            check=bool(claim.get("check")),
            family=claim.get("family", ""),
            paper=printed(claim, paper.expected),
            left=_side(claim, "left", ones),
            right=_side(claim, "right", others),
            seeds=sorted({measure.seed for measure in behind}),
            devices=dict(Counter(str(one.provenance.get("device")) for one in behind)),
            hindrances=[*hindrances(scale, conditions, behind), *_other_data(changed, behind)],
            below=_below(claim, (ones, others)),
            measures=[measure.path.as_posix() for measure in behind],
            runs=[measure.identity for measure in behind],
            partners=partners(named),
            crossed=shared,
            fragile=fragile,
        )
        claims.append(judged.told())
    return {"schema": 1, "paper": paper.name, "scale": scale, "claims": claims, "runs": runs}


def _left_out(
    claim: Claim, left: Sequence[EvaluatedRun], right: Sequence[EvaluatedRun]
) -> list[tuple[list[EvaluatedRun], list[EvaluatedRun]]]:
    """Return what a claim compares without each of its seeds; over proportions, of its runs."""

    def without(runs: Sequence[EvaluatedRun]) -> list[list[EvaluatedRun]]:
        return [[*runs[:place], *runs[place + 1 :]] for place in range(len(runs))]

    if claim["over"] != "proportions":
        return [*zip(without(left), without(right), strict=True)]
    return [(one, [*right]) for one in without(left)] + [([*left], one) for one in without(right)]


def _runs(
    claim: Claim, side: SideName, measures: Measures
) -> tuple[list[EvaluatedRun], dict[int, EvaluatedRun]]:
    """Return a side's measures, and by seed the controls that are taken off them, where it has any.

    A run counts where there is a control of its seed, trained on the same kind of device.
    """
    told = cast(ComparedVariant, claim[side])
    runs = measures.of(claim["experiment"], told.get("variant", ""))
    if "beyond" not in told:
        return runs, {}
    controls = {one.seed: one for one in measures.of(claim["experiment"], told["beyond"])}
    found = [
        run.beyond(controls[run.seed], _measure(claim, side))
        for run in runs
        if run.seed in controls and device_of(run) == device_of(controls[run.seed])
    ]
    return found, controls


def _below(claim: Claim, behind: tuple[Sequence[EvaluatedRun], Sequence[EvaluatedRun]]) -> str:
    """Say which sides are, in the mean, below the baseline of a claim that has one."""
    if "baseline" not in claim:
        return ""
    baseline = claim["baseline"]
    found = numbers_of([run for runs in behind for run in runs], baseline["measure"])
    sides = [_side(claim, side, runs) for side, runs in zip(SIDES, behind, strict=True)]
    low = [it.label for it in sides if it.mean is not None and found and it.mean < fmean(found)]
    said = f"below the {baseline['label']}'s {fmean(found):.{claim['digits']}f}" if low else ""
    return f"{' and '.join(low)} {said}".strip()


def _other_data(changed: Overlaid, behind: Sequence[EvaluatedRun]) -> list[str]:
    data = exchanged(changed, behind)
    return [f"the overlay puts other data ({data}) in the place of the claim's"] if data else []


def _unit(claim: Claim, named: Sequence[tuple[EvaluatedRun, str]]) -> str:
    """Return the unit of what was compared: points of a claim may be percentages."""
    units = {told.unit for measure, name in named if (told := measure.scalar(name))}
    return units.pop() if len(units) == 1 else claim["unit"]


def _within(
    claim: Claim, decision: Decision, unit: str, others: Sequence[EvaluatedRun]
) -> Decision:
    """Return a decision whose interval ends where the difference of two bounded values has to.

    What is equal in all runs of the right side, as what a random order has on some data, is fixed.
    """
    if decision.ci_low is None or decision.ci_high is None:
        return decision
    low, high = bounds_of(unit, _measure(claim, "left").rpartition(".")[2])
    if {"times"} & {*claim["left"], *claim["right"]}:
        return decision
    if "beyond" in claim["left"]:
        low, high = low - high, high - low
    values = numbers_of(others, _measure(claim, "right")) if claim["over"] == "runs" else []
    fixed = values[0] if len(values) > 1 and len({*values}) == 1 else _fixed(claim)
    least, most = (low, high) if fixed is None else (fixed, fixed)
    return replace(
        decision,
        ci_low=max(decision.ci_low, low - most),
        ci_high=min(decision.ci_high, high - least),
    )


def printed(claim: Claim, expected: ExpectedValues) -> str:
    """Return what the paper prints for the two sides (`0.71 vs 0.69`), or nothing."""
    return " vs ".join(number.printed.text for number in _numbers(claim, expected))


def _numbers(claim: Claim, expected: ExpectedValues) -> list[Expected]:
    """Return the paper's numbers of the sides for which it prints them, left first."""
    if "printed" not in claim:
        return []
    told = claim["printed"]
    places = [told[side] for side in SIDES if side in told]
    return [expected.at(place, place.get("metric", told["metric"])) for place in places]


def _with_printed(claim: Claim, expected: ExpectedValues) -> Claim:
    """Return a claim with printed numbers where its right side or its interest asks for them."""
    values = [number.printed.value for number in _numbers(claim, expected)]
    numbers = [value for value in values if value is not None]
    filled = dict(claim)
    if "printed" in claim["right"]:
        filled["right"] = {"label": "the paper's", "value": numbers[0]}
    if claim.get("interest") == "half":
        filled["interest"] = abs(numbers[0] - numbers[1]) / 2
    return cast(Claim, filled)


def _of_pairs(
    claim: Claim, left: Sequence[EvaluatedRun], right: Sequence[EvaluatedRun], asked: Hypothesis
) -> tuple[Decision, list[EvaluatedRun], list[EvaluatedRun]]:
    """Return the decision over pairs, and the runs that were paired, of either side."""
    fixed = _fixed(claim)
    paired = [
        (one, other)
        for one in left
        for other in ([one] if fixed is not None else right)
        if one.seed == other.seed
    ]
    sides = [_measure(claim, side) for side in SIDES]
    pairs = [
        pair
        for pair in paired
        if all(_measured(claim, name, one) for name, one in zip(sides, pair, strict=True))
    ]
    device = usual_device(pairs)
    pairs = [pair for pair in pairs if {device_of(run) for run in pair} == {device}]
    if claim["over"] == "corpora":
        counts = [(_counts(sides[0], one), _counts(sides[1], other)) for one, other in pairs]
        decision = decide_corpora(counts, asked)
    elif claim["over"] == "runs":
        decision = decide_runs(_of_runs(claim, pairs), asked)
    else:
        averaged, by_seed, common = _of_examples(claim, pairs)
        decision = decide_examples(averaged, by_seed, asked, common)
    undefined = [
        one.undefined(name) for pair in paired for name, one in zip(sides, pair, strict=True)
    ]
    if any(undefined) and not pairs:
        decision = UNDEFINED
    return decision, [one for one, _ in pairs], [other for _, other in pairs]


def _of_groups(
    claim: Claim, left: Sequence[EvaluatedRun], right: Sequence[EvaluatedRun], asked: Hypothesis
) -> tuple[Decision, list[EvaluatedRun], list[EvaluatedRun]]:
    """Return the decision over proportions, and the runs that have an outcome, of either side.

    Raises ReportingError when the measure of a run is neither 0 nor 1.
    """
    behind = zip(SIDES, (left, right), strict=True)
    sides = [(_measure(claim, side), runs) for side, runs in behind]
    known = [
        [(run, outcome) for run in runs if (outcome := run.outcome(name)) is not None]
        for name, runs in sides
    ]
    device = usual_device([run] for side in known for run, _ in side)
    known = [
        [(run, outcome) for run, outcome in side if device_of(run) == device] for side in known
    ]
    ones, others = ([outcome for _, outcome in side] for side in known)
    fixed = _fixed(claim)
    against = others if fixed is None else fixed
    decision = decide_proportions(ones, against, asked)
    undefined = any(one.undefined(name) for name, runs in sides for one in runs)
    if decision.verdict == "not run" and undefined:
        decision = UNDEFINED
    return decision, [run for run, _ in known[0]], [run for run, _ in known[1]]


def _stated(claim: Claim) -> dict[str, Any]:
    return {name: value for name, value in claim.items() if name in STATED}


def _interest(claim: Claim) -> float | None:
    """Return the smallest difference of interest, of a claim that has its printed numbers."""
    interest = claim.get("interest")
    return None if isinstance(interest, str) else interest


def _fixed(claim: Claim) -> float | None:
    """Return the fixed value that the left side is compared with, None where it is runs."""
    value = claim["right"].get("value")
    return float(value) if isinstance(value, int | float) else None


def _measure(claim: Claim, side: SideName) -> str:
    return str(claim[side].get("measure", claim["measure"]))


def _times(claim: Claim, side: SideName) -> float:
    return cast(ComparedVariant, claim[side]).get("times", 1)


def _measured(claim: Claim, name: str, measure: EvaluatedRun) -> bool:
    if claim["over"] == "examples":
        return any(value is not None for value in measure.array(name) or ())
    return measure.number(name) is not None


def _counts(name: str, measure: EvaluatedRun) -> np.ndarray:
    """Return the counts behind BLEU of the translations that an evaluator keeps."""
    evaluator = name.partition(".")[0]
    texts = [measure.array(f"{evaluator}.{side}") for side in ("hypotheses", "references")]
    if None in texts:
        raise ReportingError(
            f"{measure.path}: {evaluator} keeps no translations, which a claim over corpora needs; "
            "measure the run again."
        )
    return bootstrap.statistics(*texts)


def _of_runs(claim: Claim, pairs: Sequence[tuple[EvaluatedRun, EvaluatedRun]]) -> list[float]:
    fixed = _fixed(claim)
    left, right = (_measure(claim, side) for side in SIDES)
    of_left = intervals.numbers([one.number(left) for one, _ in pairs])
    of_right = intervals.numbers([other.number(right) for _, other in pairs])
    of_left, of_right = of_left * _times(claim, "left"), of_right * _times(claim, "right")
    differences: list[float] = (of_left - (of_right if fixed is None else fixed)).tolist()
    return differences


def _of_examples(
    claim: Claim, pairs: Sequence[tuple[EvaluatedRun, EvaluatedRun]]
) -> tuple[list[float], list[float], float | None]:
    """Return left - right of each example, averaged over seeds, and its mean in each seed.

    The last is what seeds have in common of the variance over examples.
    """
    fixed = _fixed(claim)
    left_name, right_name = (_measure(claim, side) for side in SIDES)
    by_seed = []
    for one, other in pairs:
        left = intervals.numbers(one.array(left_name))
        if fixed is not None:
            by_seed.append(left - fixed)
            continue
        right = intervals.numbers(other.array(right_name))
        if len(left) != len(right):
            raise ReportingError(
                f"{one.path} and {other.path} measured {len(left)} and {len(right)} examples; "
                "measure both runs on the same data."
            )
        by_seed.append(left - right)
    if not by_seed:
        return [], [], None
    averaged = intervals.over_seeds([differences.tolist() for differences in by_seed])
    known = [differences[~np.isnan(differences)] for differences in by_seed]
    whole = np.array(by_seed)
    common = intervals.common(whole[:, ~np.isnan(whole).any(0)]) if len(averaged) > 1 else None
    return averaged.tolist(), [float(one.mean()) for one in known if len(one)], common


def _side(claim: Claim, side: SideName, behind: Sequence[EvaluatedRun]) -> ClaimSide:
    """Return a side's label, variant, mean over the runs compared and, of proportions, counts."""
    told = cast(ComparedVariant, claim[side])
    if "value" in told:
        value = cast(Constant, told)["value"]
        return ClaimSide(told.get("label", "fixed value"), None, value)
    values = numbers_of(behind, _measure(claim, side))
    mean = sum(values) / len(values) * _times(claim, side) if values else None
    counts = (int(sum(values)), len(values)) if claim["over"] == "proportions" else ()
    return ClaimSide(told["label"], told["variant"], mean, *counts)
