"""Claims that are looked at with several numbers of seeds decide falsely in one of twenty at most.

Outcomes of runs are enumerated, everything else is simulated.
"""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

from tests.reporting.synthetic import one_run, toy, toy_claim, toy_table
from workflow import ROOT
from workflow.definitions.claims import Claims, check_claims
from workflow.definitions.loader import check
from workflow.definitions.paper import Paper
from workflow.reporting.cells import records
from workflow.reporting.claims.judged import JudgedClaim, read_claims
from workflow.reporting.claims.judging import judge
from workflow.reporting.claims.markdown import claims_table
from workflow.reporting.measures import Measures
from workflow.reporting.statistics import intervals
from workflow.reporting.statistics.decisions import (
    Decision,
    Hypothesis,
    _decide,
    decide_proportions,
    decide_runs,
)
from workflow.runtime.errors import InputError

LOOKS = (2, 3, 4, 5)
TRIALS = 3000
CHANCE = 2.6 * np.sqrt(0.05 * 0.95 / TRIALS)
SIGNS = ("holds", "does not hold")


@pytest.fixture
def without_p(monkeypatch: pytest.MonkeyPatch) -> None:
    """Save the search for p in what is tried thousands of times."""
    monkeypatch.setattr(intervals, "significance", lambda at, decides: 0.0)


def false(decided: Callable[[list[float]], Decision], values: np.ndarray, *words: str) -> float:
    """Return how often any of the looks at the seeds of a trial ends with one of some verdicts."""
    ended = [any(decided(row[:n].tolist()).verdict in words for n in LOOKS) for row in values]
    return float(np.mean(ended))


@pytest.mark.usefixtures("without_p")
def test_looks_at_runs() -> None:
    values = np.random.default_rng(0).normal(size=(TRIALS, 5))
    planned = Hypothesis("greater", 0.0, looks=LOOKS)
    assert false(lambda row: decide_runs(row, planned), values, *SIGNS) < 0.05 + CHANCE
    # Without a plan: .05 at the first look, .13 at all.
    once = Hypothesis("greater", 0.0)
    assert false(lambda row: decide_runs(row, once), values, *SIGNS) > 0.11


@pytest.mark.usefixtures("without_p")
@pytest.mark.parametrize("training", [0.5, 1.0, 5.0])
def test_looks_at_runs_on_one_test_set(training: float) -> None:
    """Its error is 1, and the same at each look."""
    random = np.random.default_rng(1)
    values = random.normal(size=(TRIALS, 1)) + random.normal(0, training, (TRIALS, 5))
    planned = Hypothesis("greater", 0.0, looks=LOOKS)

    def decided(row: list[float]) -> Decision:
        mean = float(np.mean(row))

        def test_set(level: float) -> tuple[float, float]:
            half = float(special.ndtri(0.5 + level / 2))
            return mean - half, mean + half

        return _decide(mean, test_set, row, planned, 1000, 1.0)

    assert false(decided, values, *SIGNS) < 0.05 + CHANCE


@pytest.mark.usefixtures("without_p")
def test_looks_at_a_difference_of_interest() -> None:
    """The true difference is the smallest of interest."""
    values = np.random.default_rng(2).normal(3.0, 1.0, (TRIALS, 5))
    planned = Hypothesis("greater", 0.0, 3.0, LOOKS)
    assert false(lambda row: decide_runs(row, planned), values, "no difference") < 0.05 + CHANCE


def paths(length: int) -> Iterator[tuple[int, ...]]:
    """Yield the numbers of successes after each run, of all sequences of outcomes."""
    for outcomes in product((0, 1), repeat=length):
        yield tuple(np.cumsum(outcomes).tolist())


def verdict_of(counts: tuple[int, ...], n: int, fixed: float | None, asked: Hypothesis) -> bool:
    """Say whether some numbers of successes of n runs decide a claim."""
    left, *right = ([1] * count + [0] * (n - count) for count in counts)
    decision = decide_proportions(left, right[0] if fixed is None else fixed, asked)
    return decision.verdict in SIGNS


@pytest.mark.usefixtures("without_p")
@pytest.mark.parametrize("looks", [(2,), (4,), (5,), (6,), (8,), LOOKS, (4, 6, 8)])
@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 0.7, 0.9])
def test_outcomes_beside_a_fixed_share(looks: tuple[int, ...], share: float) -> None:
    asked = Hypothesis("greater", 0.0, looks=looks if len(looks) > 1 else ())
    wrong = 0.0
    for path in paths(looks[-1]):
        if any(verdict_of((path[n - 1],), n, share, asked) for n in looks):
            wrong += share ** path[-1] * (1 - share) ** (looks[-1] - path[-1])
    assert wrong <= 0.05


@pytest.mark.usefixtures("without_p")
@pytest.mark.parametrize("looks", [(2,), (3,), (4,), (5,), LOOKS])
def test_outcomes_of_two_variants(looks: tuple[int, ...]) -> None:
    """Both reach the outcome in the same share of runs, whichever it is."""
    asked = Hypothesis("greater", 0.0, looks=looks if len(looks) > 1 else ())
    decided = cache(lambda one, other, n: verdict_of((one, other), n, None, asked))
    last = looks[-1]
    ends = [
        one[-1] + other[-1]
        for one, other in product([*paths(last)], repeat=2)
        if any(decided(one[n - 1], other[n - 1], n) for n in looks)
    ]
    for share in (0.05, 0.2, 0.35, 0.5):
        wrong = sum(share**both * (1 - share) ** (2 * last - both) for both in ends)
        assert wrong <= 0.05, share


def test_newcombes_interval_alone_decides_falsely_with_few_runs() -> None:
    """2 of 2 beside 0 of 2, or the reverse: one case of eight where each outcome is even."""
    assert intervals.newcombe((2, 2), (0, 2))[0] > 0
    decision = decide_proportions([1, 1], [0, 0], Hypothesis("greater", 0.0))
    assert (decision.verdict, decision.needed) == ("undecided", 4)
    assert decision.p == pytest.approx(1 / 3)  # 1 of 6 tables, twice
    assert decide_proportions([1] * 4, [0] * 4, Hypothesis("greater", 0.0)).verdict == "holds"


@pytest.mark.usefixtures("without_p")
@pytest.mark.parametrize("seeds", [4, 5])
def test_no_rule_on_means_is_right_where_seeds_have_two_peaks(seeds: int) -> None:
    """80 % of trainings learn, 20 % do not; claims on these are over proportions."""
    random = np.random.default_rng(seeds)
    ended = random.random((TRIALS, seeds)) < 0.8
    values = ended - 0.8 + random.normal(0, 0.01, ended.shape)
    asked = Hypothesis("greater", 0.0)
    of_means = [decide_runs(row.tolist(), asked).verdict in SIGNS for row in values]
    assert np.mean(of_means) > 0.3
    of_shares = [decide_proportions([*map(int, row)], 0.8, asked).verdict in SIGNS for row in ended]
    assert np.mean(of_shares) < 0.05 + CHANCE


ALSO = "copying_mechanisms"
"""Where that depends on the mechanism; claims on it are of its trainings that learn."""
TWO_PEAKED = ("permutation_copying", "multihead_copying", "head_screening")
"""Experiments whose trainings learn or do not; how many updates it takes those that do is a number
with one peak."""


@pytest.mark.parametrize("paper", Paper.all(), ids=lambda paper: paper.name)
def test_claims_on_trainings_with_two_peaks_are_over_proportions(paper: Paper) -> None:
    for claim in paper.claims["claims"]:
        if claim["experiment"] in TWO_PEAKED and not claim["measure"].endswith("_at"):
            assert claim["over"] == "proportions", claim["id"]


def test_means_of_trainings_with_two_peaks_have_no_interval() -> None:
    """Of three or six such runs Student's reached from -1.1 to 1.8 for a weight of attention."""
    tables, found = Paper("attention_learning").tables, set()
    for table in tables["tables"].values():
        columns = table["columns"] if table.get("experiment") in (*TWO_PEAKED, ALSO) else ()
        found |= {name for column in columns for name in column["metrics"]}
    metrics = {name: tables["metrics"][name] for name in found if not name.startswith("ibm_")}
    means = {name for name, metric in metrics.items() if not metric.get("proportion")}
    shares = {name for name in means if name.endswith("_share")}  # of IBM Model 1
    assert {name for name in means - shares if not name.endswith("_at")} == {
        name for name, metric in tables["metrics"].items() if metric.get("two_peaked")
    }
    metric = {"measure": "probe.m", "label": "m", "digits": 2}
    columns = [{"id": "m", "label": "m", "metrics": ["m"]}]
    runs = [one_run("v", seed, {"m": value}) for seed, value in enumerate((0.0, 1.0, 1.0))]
    for peaks, ends in ({}, 1.0), ({"two_peaked": True}, None):
        made = toy_table({"m": metric | peaks}, columns, [{"id": "v", "label": "v"}])
        (cell,) = records(toy(made, runs).cells)
        assert cell["std"] and (cell["ci_high"], cell["n"]) == (ends, 3)


@pytest.mark.parametrize("count", range(5))
@pytest.mark.parametrize("other", range(7))
def test_fishers_test_is_scipys(count: int, other: int) -> None:
    table = [[count, 4 - count], [other, 6 - other]]
    tails = [stats.fisher_exact(table, side).pvalue for side in ("less", "greater")]
    assert intervals.fisher((count, 4), (other, 6)) == pytest.approx(min(1, 2 * min(tails)))


@pytest.mark.parametrize(
    ("share", "looks", "runs"), [(0.5, (), 6), (0.5, (4, 6), 7), (0.8, (), 17), (0.05, (), 2)]
)
def test_how_many_runs_could_decide(share: float, looks: tuple[int, ...], runs: int) -> None:
    """Twice share^n is at most .05, or .025 where there are two looks: 2 * .5^6 = .031."""
    decision = decide_proportions([1], share, Hypothesis("greater", 0.0, looks=looks))
    assert decision.needed == runs
    agreed = decide_proportions([1] * runs, share, Hypothesis("greater", 0.0))
    assert (agreed.verdict, agreed.needed) == ("holds", None)


def test_one_run_that_differs_from_all_or_none_is_no_test() -> None:
    decision = decide_proportions([1, 0, 0], 0.0, Hypothesis("greater", 0.0))
    assert (decision.verdict, decision.p) == ("holds", None)
    assert decide_proportions([0, 0, 0], 0.0, Hypothesis("greater", 0.0)).verdict == "undecided"


def test_a_look_has_a_wider_interval_and_a_larger_p() -> None:
    values = [0.3, 0.1, 0.4]
    asked = [Hypothesis("greater", 0.0, looks=looks) for looks in ((), (2, 3))]
    once, second = (decide_runs(values, it) for it in asked)
    wide = stats.t.interval(1 - 0.05 / 2, 2, np.mean(values), stats.sem(values))
    assert (second.ci_low, second.ci_high) == pytest.approx(wide)
    assert once.p is not None
    assert second.p == pytest.approx(2 * once.p)
    between = decide_runs([*values, 0.2], Hypothesis("greater", 0.0, looks=(2, 3)))
    assert (between.verdict, between.p) == ("undecided", None)
    assert between.reason == "no look is planned at 4 seeds"
    runs = decide_proportions([1] * 9, 0.5, Hypothesis("greater", 0.0, looks=(6, 8)))
    assert (runs.verdict, runs.p) == ("undecided", None)


def looked_at(looks: dict[str, dict[str, list[int]]]) -> Paper:
    paper = Paper("discrete_transformer")
    toy = toy_claim(measure="probe.m", label="m", unit="fraction", digits=2)
    paper.claims = check({"claims": [toy], "looks": looks}, Claims, "claims.yaml")
    check_claims(paper.claims, "claims.yaml")
    return paper


def test_looks_are_those_of_a_scale() -> None:
    values = {"good": (0.9, 0.8, 0.9), "bad": (0.4, 0.4, 0.6)}
    runs = [
        one_run(variant, seed, {"m": value})
        for variant, of in values.items()
        for seed, value in enumerate(of)
    ]
    paper = looked_at({"lite": {"toy": [2, 3]}, "paper": {"toy": [2, 5]}})
    lite, over, other = (
        JudgedClaim.of(judge(paper, scale, Measures(runs))["claims"][0])
        for scale in ("lite", "lite+mine", "paper")
    )
    assert lite.looks == over.looks == [2, 3] and other.looks == [2, 5]
    assert lite.p == over.p and other.p is None
    assert "| 3 seeds (looks: 2, then 3) |" in claims_table([lite])
    assert "**undecided** (between two looks" in claims_table([other])


@pytest.mark.parametrize(
    ("looks", "fault"),
    [({"tau": [2, 3]}, '"tau"'), ({"toy": [3]}, "toy"), ({"toy": [1, 3]}, "toy")],
)
def test_looks_that_are_none_are_refused(looks: dict[str, list[int]], fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        looked_at({"lite": looks})


@pytest.mark.parametrize("path", sorted((ROOT / "docs/reproduction/lite/claims").glob("*.json")))
def test_what_is_published_is_decided_at_its_looks(path: Path) -> None:
    planned = Paper(path.stem).claims.get("looks", {}).get("lite", {})
    for claim in read_claims(path):
        assert claim.looks == planned.get(claim.id, [])
        seeds = claim.left.runs if claim.over == "proportions" else len(claim.seeds)
        if claim.looks and claim.verdict in ("holds", "does not hold", "no difference"):
            assert seeds in claim.looks, claim.id
