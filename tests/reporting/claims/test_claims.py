"""Claims: the paired test against scipy, and when a claim is decided."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.equivalent import accept, line
from tests.reporting.synthetic import Results
from workflow.definitions.claims import check_claims
from workflow.definitions.paper import PAPERS, Paper
from workflow.planning.departures import Departures
from workflow.reporting.claims.judged import JudgedClaim, kind_of
from workflow.reporting.claims.judging import judge
from workflow.reporting.claims.markdown import claims_table
from workflow.reporting.measures import EvaluatedRun, Measures
from workflow.reporting.statistics import intervals
from workflow.reporting.statistics.decisions import (
    OTHER_TIMES,
    Hypothesis,
    _decide,
    decide_examples,
    decide_proportions,
    decide_runs,
)
from workflow.runtime.errors import InputError, ReportingError

ABOVE, BELOW = Hypothesis("greater", 0.0), Hypothesis("less", 0.0)


@pytest.mark.parametrize("count", [200, 12, 2])
def test_an_interval_over_runs_is_scipys(count: int) -> None:
    random = np.random.default_rng(count)
    left, right = random.normal(0.7, 0.1, count), random.normal(0.6, 0.1, count)
    decision = decide_runs((left - right).tolist(), ABOVE)
    expected = stats.ttest_rel(left, right).confidence_interval(0.95)
    assert (decision.ci_low, decision.ci_high) == pytest.approx(tuple(expected))
    assert decision.n == count


def tie(interest: float) -> Hypothesis:
    return ABOVE._replace(interest=interest)


@pytest.mark.parametrize(
    ("differences", "asked", "verdict"),
    [
        ([0.10, 0.11, 0.12], ABOVE, "holds"),
        ([0.10, 0.11, 0.12], BELOW, "does not hold"),
        ([0.10, 0.11, 0.12], Hypothesis("greater", 0.3), "does not hold"),
        ([-0.10, -0.11, -0.12], BELOW, "holds"),
        ([0.01, -0.01, 0.02], ABOVE, "undecided"),
        ([0.5], ABOVE, "undecided"),
        ([], ABOVE, "not run"),
        # Few seeds that agree exactly decide nothing.
        ([-26.0], BELOW, "undecided"),
        ([-26.0] * 2, BELOW, "undecided"),
        ([-26.0] * 3, BELOW, "holds"),
        ([-26.0, -25.99], BELOW, "holds"),
        # The half-width of three seeds .01 apart is 4.303 * .01 / sqrt(3) = .0248.
        ([0.01, 0.0, -0.01], tie(0.025), "no difference"),
        ([0.01, 0.0, -0.01], tie(0.0248), "undecided"),
        ([0.01, 0.0, -0.01], ABOVE, "undecided"),
        ([0.04, 0.03, 0.05], tie(0.07), "no difference"),  # though all of it is above 0
        ([0.04, 0.03, 0.05], tie(0.06), "holds"),  # it reaches to .0648
        ([-0.04, -0.03, -0.05], tie(0.07), "no difference"),
        ([-0.04, -0.03, -0.05], tie(0.06), "does not hold"),
        ([0.0], tie(1.0), "undecided"),
        ([0.0, 0.0], tie(1.0), "undecided"),
        ([], tie(1.0), "not run"),
    ],
)
def test_decisions_by_hand(differences: list[float], asked: Hypothesis, verdict: str) -> None:
    assert decide_runs(differences, asked).verdict == verdict


def test_ties_over_examples_and_proportions() -> None:
    # Over 100 examples of +-.1 the half-width is 1.984 * .1005 / 10 = .0199, with that of the seeds
    # above .0318.
    examples, by_seed = [0.1, -0.1] * 50, [0.01, 0.0, -0.01]
    for interest, verdict in ((0.032, "no difference"), (0.031, "undecided")):
        asked = Hypothesis("less", 0.0, interest)
        assert decide_examples(examples, by_seed, asked).verdict == verdict
    # Newcombe's interval of 20 of 20 against 20 of 20 is +-.161.
    for interest, verdict in ((0.162, "no difference"), (0.16, "undecided")):
        asked = Hypothesis("less", 0.0, interest)
        assert decide_proportions([1] * 20, [1] * 20, asked).verdict == verdict
    assert decide_proportions([1], [1], Hypothesis("less", 0.0, 2.0)).verdict == "undecided"


@pytest.mark.parametrize("seeds", [2, 3, 5, 8])
def test_a_difference_of_interest_is_called_none_at_most_once_in_twenty(
    seeds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The true difference is the smallest of interest; without one, ties are found with seeds."""
    monkeypatch.setattr(intervals, "significance", lambda at, decides: None)  # saves most time
    random, trials, interest = np.random.default_rng(seeds), 2000, 3.0
    asked = Hypothesis("greater", 0.0, interest)

    def ties(effect: float, training: float) -> float:
        by_seed = random.normal(effect, training, (trials, seeds))
        found = [decide_runs(one.tolist(), asked).verdict for one in by_seed]
        return float(np.mean([verdict == "no difference" for verdict in found]))

    for training in (0.3, 1.0, 3.0):
        assert ties(interest, training) < 0.05
        assert ties(-interest, training) < 0.05
    assert ties(0.0, 1.0) > {2: 0.1, 3: 0.5, 5: 0.95, 8: 0.99}[seeds]


def test_seeds_count_beside_many_examples() -> None:
    values = np.random.default_rng(0).normal(0.5, 0.1, 1000).tolist()
    assert decide_examples(values, [0.5], ABOVE).verdict == "undecided"
    assert decide_examples(values, [0.49, 0.5, 0.51], ABOVE).verdict == "holds"
    assert decide_examples(values, [1.1, -0.1], ABOVE).verdict == "undecided"
    unlike = [0.9, 0.8, 0.7, 0.8, 0.9, -0.1, 0.6, 0.4]
    assert decide_examples(values, unlike, ABOVE).verdict == "holds"


def test_an_interval_is_of_seeds_and_of_examples() -> None:
    random = np.random.default_rng(1)
    values, by_seed = random.normal(0.1, 1.0, 50), [0.05, 0.12, 0.13]
    found = decide_examples(values.tolist(), by_seed, ABOVE)
    half = np.sqrt(
        (stats.t.ppf(0.975, 49) * stats.sem(values)) ** 2
        + (stats.t.ppf(0.975, 2) * stats.sem(by_seed)) ** 2
    )
    ends = (values.mean() - half, values.mean() + half)
    assert (found.ci_low, found.ci_high) == pytest.approx(ends)


@pytest.mark.parametrize("seeds", range(2, 9))
def test_at_most_one_decision_in_twenty_is_false_and_power_grows(
    seeds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trainings vary by half to ten times the error of the test set, 1; there is no difference.

    In the second half of the trials one of 20 is to be found where trainings vary by 2.
    """
    monkeypatch.setattr(intervals, "significance", lambda at, decides: None)  # saves a minute
    random, trials = np.random.default_rng(seeds), 4000

    def decided(training: float, effect: float) -> float:
        test_set = random.normal(effect, 1, trials)
        by_seed = test_set[:, None] + random.normal(0, training, (trials, seeds))
        decisions = [
            _decide(mean, lambda level, mean=mean: (mean - 1.96, mean + 1.96), one, ABOVE, 1000)
            for mean, one in zip(by_seed.mean(1).tolist(), by_seed.tolist(), strict=True)
        ]
        return float(np.mean([one.verdict != "undecided" for one in decisions]))

    chance = 2.6 * np.sqrt(0.05 * 0.95 / trials)
    for training in (0.5, 1, 2, 5, 10):
        assert decided(training, 0.0) < 0.05 + chance
    powers = {2: 0.2, 3: 0.9, 4: 0.95}
    assert decided(2, 20.0) > powers.get(seeds, 0.99)


def test_what_is_equal_has_two_margins() -> None:
    asked = Hypothesis("equal", 0.07)
    near, far = [0.01, 0.02, 0.03], [0.2, 0.21, 0.22]
    assert decide_runs(near, asked).reason == "the interval lies within ±0.07"
    found = [decide_runs(one, asked) for one in (near, far, [-one for one in far], [0.0, 0.1, 0.2])]
    assert [one.verdict for one in found] == ["holds", *["does not hold"] * 2, "undecided"]
    assert found[3].reason == "the interval reaches beyond ±0.07"
    for values, decision in zip((near, far), found, strict=False):
        assert decision.p == pytest.approx(stats.ttest_1samp(values, 0.07).pvalue, rel=1e-6)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=6), st.floats(-0.5, 0.5))
def test_directions_mirror_each_other(differences: list[float], margin: float) -> None:
    mirrored = [-value for value in differences]
    one = decide_runs(differences, Hypothesis("greater", margin)).verdict
    assert one == decide_runs(mirrored, Hypothesis("less", -margin)).verdict
    opposite = {"holds": "does not hold", "does not hold": "holds"}.get(one, one)
    assert decide_runs(differences, Hypothesis("less", margin)).verdict == opposite


def claim(found: dict, name: str) -> dict:
    return next(one for one in found["claims"] if one["id"] == name)


def test_pairs_are_examples_averaged_over_seeds(paper: Paper, measures: Measures) -> None:
    found = claim(judge(paper, "lite", measures), "tau_sst")
    by_seed = []
    for seed in range(3):
        soft, discrete = (
            np.array(
                measures.of("text_classification", variant)[seed].array(
                    "attention_importance.tau_norm"
                ),
                dtype=float,
            )
            for variant in ("sst_soft", "sst_two_stream")
        )
        by_seed.append(discrete - soft)
    differences = np.mean(by_seed, axis=0)
    differences = differences[~np.isnan(differences)]
    halves = [
        stats.t.ppf(1 - 0.05 / 3 / 2, len(sample) - 1) * stats.sem(sample)  # one look of three
        for sample in (differences, [np.nanmean(one) for one in by_seed])
    ]
    low, high = differences.mean() - np.hypot(*halves), differences.mean() + np.hypot(*halves)
    assert found["n"] == len(differences) == 1820
    assert found["estimate"] == pytest.approx(differences.mean())
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((low, high))
    assert found["verdict"] == "holds"
    assert found["paper"] == "0.71 vs 0.69"
    assert len(found["runs"]) == 6


def test_pairs_are_runs_of_the_same_seed(paper: Paper, measures: Measures) -> None:
    found = claim(judge(paper, "lite", measures), "penalty_needed_uniform")
    values = {
        variant: [it.number("receptive_field.f1") for it in measures.of("stack_language", variant)]
        for variant in ("uniform_discrete_penalty", "uniform_discrete")
    }
    expected = stats.ttest_rel(*values.values()).confidence_interval(0.95)
    assert (found["ci_low"], found["ci_high"]) == pytest.approx(tuple(expected))
    assert found["seeds"] == [0, 1, 2]


def test_a_fixed_value_is_compared_seed_by_seed(paper: Paper, measures: Measures) -> None:
    found = claim(judge(paper, "lite", measures), "precision_uniform")
    runs = measures.of("stack_language", "uniform_discrete_penalty")
    values = [one.number("receptive_field.precision") for one in runs]
    assert found["estimate"] == pytest.approx(np.mean(values) - 0.95)
    assert found["right"]["mean"] == 0.95


def test_the_right_side_may_be_what_the_paper_prints(measures: Measures) -> None:
    paper = Paper("discrete_transformer")
    against = next(one for one in paper.claims["claims"] if one["id"] == "tau_sst")
    against["right"] = {"printed": "left"}
    found = claim(judge(paper, "lite", measures), "tau_sst")
    runs = measures.of("text_classification", against["left"]["variant"])
    taus = np.array([one.array("attention_importance.tau_norm") for one in runs], dtype=float)
    assert found["right"] == {"label": "the paper's", "variant": None, "mean": 0.71}
    assert found["estimate"] == pytest.approx(np.nanmean(taus.mean(axis=0)) - 0.71)


def test_unpaired_seeds_are_left_out(paper: Paper, results: Results) -> None:
    for seed in (0, 1):
        results.add("stack_language", "uniform_discrete", seed)
    for seed in (1, 2):
        results.add("stack_language", "uniform_discrete_penalty", seed)
    found = judge(paper, "lite", results.read())
    assert claim(found, "penalty_needed_uniform")["seeds"] == [1]
    assert claim(found, "penalty_needed_uniform")["verdict"] == "undecided"
    assert claim(found, "tau_sst")["verdict"] == "not run"


@pytest.mark.parametrize(
    ("left", "right", "unit", "compared"),
    [(*"aa", "ms", True), (*"ac", "ms", True), (*"ab", "ms", False), (*"ab", "%", True)],
)
def test_timings_by_code_before_a_change_and_after_are_not_compared(
    paper: Paper,
    results: Results,
    monkeypatch: pytest.MonkeyPatch,
    left: str,
    right: str,
    unit: str,
    compared: bool,
) -> None:
    accept(monkeypatch, line("a" * 16, "b" * 16))
    name = "penalty_needed_uniform"
    (asked,) = (one for one in paper.claims["claims"] if one["id"] == name)
    evaluator = asked["measure"].partition(".")[0]
    for seed in range(4):
        for side in ("left", "right"):
            results.add(asked["experiment"], asked[side]["variant"], seed)
    read = results.read()
    for side, code in (("left", left), ("right", right)):
        for one in read.of(asked["experiment"], asked[side]["variant"]):
            told = one.evaluators[evaluator]
            told["code"] = code * 16
            for scalar in told["scalars"].values():
                scalar["unit"] = unit
    found = claim(judge(paper, "lite", read), name)
    timed = (found["verdict"], found["reason"]) == ("undecided", OTHER_TIMES.reason)
    assert timed != compared and len(found["runs"]) == 8


def test_what_cannot_be_compared_is_said(paper: Paper, results: Results) -> None:
    for variant in ("sst_soft", "sst_two_stream"):
        for seed in (0, 1):
            results.add("text_classification", variant, seed, source="generated")
    found = judge(paper, "demo", results.read())
    reasons = claim(found, "tau_sst")["hindrances"]
    assert len(reasons) == 2
    assert any("generated corpus" in reason for reason in reasons)
    changed = {"text_classification/sst_soft": {"data": [{"dataset": "sst"}, {"dataset": "own"}]}}
    overlaid = claim(judge(paper, "demo", results.read(), changed), "tau_sst")["hindrances"]
    assert overlaid == [*reasons, "the overlay puts other data (own) in the place of the claim's"]


@pytest.mark.parametrize("name", ["accuracy_sst", "tau_sst"])
def test_what_is_not_defined_is_undecided(paper: Paper, results: Results, name: str) -> None:
    for variant in ("sst_soft", "sst_two_stream"):
        for seed in (0, 1):
            results.add("text_classification", variant, seed)
    read = results.read()
    for measure in read.of("text_classification", "sst_soft"):
        for evaluator in measure.evaluators.values():
            for scalar in evaluator["scalars"].values():
                scalar["value"] = None
            arrays = evaluator["arrays"]
            arrays |= {name: [None] * len(values) for name, values in arrays.items()}
    found = claim(judge(paper, "lite", read), name)
    assert (found["verdict"], found["estimate"]) == ("undecided", None)
    assert "undefined" in found["reason"]
    assert "| **undecided** (undefined) |" in claims_table([JudgedClaim.of(found)])


def test_a_score_that_says_what_it_needs_is_not_run(paper: Paper, results: Results) -> None:
    for variant in ("sst_soft", "sst_two_stream"):
        results.add("text_classification", variant, 0)
    read = results.read()
    for measure in read.of("text_classification", "sst_soft"):
        for evaluator in measure.evaluators.values():
            for scalar in evaluator["scalars"].values():
                scalar["value"] = "needs a library"
    found = judge(paper, "lite", read)
    json.dumps(found, allow_nan=False)
    assert claim(found, "accuracy_sst")["verdict"] == "not run"


def test_runs_on_different_examples_are_refused(paper: Paper, results: Results) -> None:
    results.fill(seeds=1)
    read = results.read()
    soft = read.of("text_classification", "sst_soft")
    evaluators = {
        **soft[0].evaluators,
        "attention_importance": {"scalars": {}, "arrays": {"tau_norm": [0.1, 0.2]}},
    }
    soft[0] = replace(soft[0], evaluators=evaluators)
    with pytest.raises(ReportingError, match="measured 1821 and 2 examples"):
        judge(paper, "lite", read)


def test_runs_that_a_measure_was_compared_with_are_named(paper: Paper, measures: Measures) -> None:
    def with_partner(run: EvaluatedRun) -> EvaluatedRun:
        read = {"attention_importance.one": [f"e/{run.run['variant']}/seed-{run.seed + 100}"]}
        return replace(run, records=read)

    runs = [with_partner(run) for group in measures.groups.values() for run in group]
    found = judge(paper, "lite", Measures(runs))
    assert claim(found, "tau_sst")["partners"] == [
        f"e/{name}/seed-{seed}"
        for name in ("sst_soft", "sst_two_stream")
        for seed in (100, 101, 102)
    ]
    assert claim(found, "accuracy_sst")["partners"] == []
    assert claim(found, "tau_sst")["crossed"] is False

    same = [replace(run, records={"attention_importance.one": ["e/v/seed-9"]}) for run in runs]
    assert claim(judge(paper, "lite", Measures(same)), "tau_sst")["crossed"] is True


def test_numbers_that_are_printed_together_are_of_one_kind() -> None:
    """What fails beside what holds, of the same runs, is no other reading for it."""
    kinds: dict[tuple[str, ...], set[str]] = {}
    for paper in Paper.all():
        for claim in paper.claims["claims"]:
            left = claim.get("printed", {}).get("left", {})
            place = (claim["left"]["variant"], *(left.get(name, "") for name in ("table", "row")))
            if left:
                kinds.setdefault(place, set()).add(claim.get("kind", ""))
    assert len(kinds) > 20 and {*map(len, kinds.values())} == {1}, kinds


@pytest.mark.parametrize(
    ("left", "right", "stated", "kind"),
    [
        ("sst_two_stream", "sst_soft", None, "the paper's setting"),
        ("imdb_two_stream", None, None, "the paper's data, shorter training"),
        ("ag_news_two_stream", "sst_soft", None, "smaller or other data"),
        ("sst_two_stream", "sst_soft", "another reading", "another reading"),
        ("wmt_soft", None, "another reading", "data not here in full"),
    ],
)
def test_kinds(left: str, right: str | None, stated: str | None, kind: str) -> None:
    claim = {
        "experiment": "translation" if left.startswith("wmt") else "text_classification",
        "left": {"variant": left},
        "right": {"variant": right} if right else {"value": 1},
    }
    claim |= {"kind": stated} if stated else {}
    assert kind_of(claim, Departures(PAPERS, "lite")) == kind


def test_half_of_the_printed_effect_is_the_difference_of_interest() -> None:
    paper = Paper("discrete_transformer")
    (sst,) = (one for one in paper.claims["claims"] if one["id"] == "tau_sst")
    paper.claims = {"claims": [{**sst, "interest": "half"}, {**sst, "id": "x", "interest": 0.2}]}
    half, written = judge(paper, "lite", Measures([]))["claims"]
    assert half["interest"] == pytest.approx((0.71 - 0.69) / 2)
    assert written["interest"] == 0.2


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"margin": 1, "interest": 2.0}, "a difference of interest is one from 0"),
        ({"interest": "half"}, "needs the numbers of both sides"),
    ],
)
def test_interests_that_cannot_be(changes: dict, why: str) -> None:
    (claim,) = (one for one in Paper("discrete_transformer").claims["claims"][:1])
    plain = {name: told for name, told in claim.items() if name not in ("printed", "interest")}
    with pytest.raises(InputError, match=why):
        check_claims({"claims": [{**plain, **changes}]}, "claims.yaml")


LEANING = re.compile(r"(?i)(so (it|does|do|they)|they|it|this|these|by then|within as many|then)\b")


@pytest.mark.parametrize("paper", Paper.all(), ids=lambda paper: paper.name)
def test_each_sentence_stands_alone(paper: Paper) -> None:
    sentences = [claim["claim"] for claim in paper.claims["claims"]]
    assert [one for one in sentences if LEANING.match(one)] == []
    assert [one for one in sentences if not one.endswith(".") or "{" in one] == []
    assert len(set(sentences)) == len(sentences)


def test_a_test_set_too_small_for_twice_the_interest_says_the_size_that_could_show_it() -> None:
    """Of so many examples the interval over them alone is as narrow as the difference."""
    random = np.random.default_rng(0)
    examples = random.normal(0.0, 1.0, 500)
    half = stats.t.ppf(0.975, 499) * examples.std(ddof=1) / math.sqrt(500)

    def needed(effect: float, by_seed: list[float]) -> int | None:
        return decide_examples(examples.tolist(), by_seed, tie(effect / 2)).needed

    seeds = [examples.mean() + shift for shift in (-0.01, 0.0, 0.01)]
    assert needed(half / 3, seeds) == needed(half / 3, seeds[:1]) == 4500
    assert needed(1.01 * half, seeds) is None
    assert decide_examples(examples.tolist(), seeds, ABOVE).needed is None
    far = (examples + 2 * half).tolist()
    assert decide_examples(far, seeds, tie(half / 6)).needed is None  # it shows a larger one
    assert decide_runs([0.1, -0.1, 0.2], tie(0.001)).needed is None
