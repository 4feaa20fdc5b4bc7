"""Corrections for many tests: by scipy, by hand, and simulated; and the p of a decision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from workflow.reporting.statistics.decisions import (
    Hypothesis,
    decide_examples,
    decide_proportions,
    decide_runs,
)
from workflow.reporting.statistics.multiple import after_benjamini_hochberg, after_holm, holm

several = st.lists(st.floats(0, 1), max_size=30)


@given(several)
def test_benjamini_hochberg_is_scipys(ps: list[float]) -> None:
    adjusted = stats.false_discovery_control(ps) if ps else []
    assert after_benjamini_hochberg(ps) == [bool(one <= 0.05 + 1e-15) for one in adjusted]


@given(several)
def test_holm_by_a_slow_loop(ps: list[float]) -> None:
    left, stands = [*range(len(ps))], [False] * len(ps)
    while left:
        least = min(left, key=lambda place: ps[place])
        if ps[least] * len(left) > 0.05 + 1e-15:
            break
        stands[least] = True
        left.remove(least)
    assert after_holm(ps) == stands


def test_both_by_hand() -> None:
    ps = [0.04, 0.001, 0.012, 0.5, 0.02]
    # .05 / 5 = .01, .0125, .0167: the third smallest, .02, is too large
    assert after_holm(ps) == [False, True, True, False, False]
    assert holm(ps) == pytest.approx([0.08, 0.005, 0.048, 0.5, 0.06])
    assert holm([0.02, 0.03, 0.9, 0.6]) == pytest.approx([0.08, 0.09, 1.0, 1.0])
    # .01, .02, .03, .04: the fourth smallest, .04, is not too large
    assert after_benjamini_hochberg(ps) == [True, True, True, False, True]


def test_no_false_one_is_left_by_holm_in_19_of_20_families() -> None:
    random, families = np.random.default_rng(0), 2000
    false = [any(after_holm(random.uniform(size=40).tolist())) for _ in range(families)]
    assert np.mean(false) <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / families)


def test_the_p_of_runs_is_that_of_the_t_test() -> None:
    values = [0.3, -0.1, 0.4, 0.2]
    decision = decide_runs(values, Hypothesis("greater", -0.2))
    assert decision.p == pytest.approx(stats.ttest_1samp(values, -0.2).pvalue, rel=1e-6)


@pytest.mark.parametrize("count", [0, 3, 7, 10])
def test_the_p_of_a_proportion_is_twice_the_exact_tail(count: int) -> None:
    ones = [1] * count + [0] * (10 - count)
    tails = [stats.binomtest(count, 10, 0.4, side).pvalue for side in ("less", "greater")]
    decision = decide_proportions(ones, 0.4, Hypothesis("greater", 0.0))
    assert decision.p == pytest.approx(min(1, 2 * min(tails)), rel=1e-5)


def test_p_is_below_a_twentieth_where_an_interval_decides() -> None:
    random = np.random.default_rng(1)
    seen = set()
    for effect in np.linspace(-1, 1, 41):
        examples = random.normal(effect, 3, 50).tolist()
        by_seed = (np.mean(examples) + random.normal(0, 0.1, 3)).tolist()
        decision = decide_examples(examples, by_seed, Hypothesis("greater", 0.0, interest=0.9))
        assert decision.p is not None
        decided = decision.verdict != "undecided"
        assert decided == (decision.p <= 0.05), decision
        seen.add(decision.verdict)
    assert {"holds", "does not hold"} <= seen


def test_p_of_no_difference_is_that_of_both_bounds() -> None:
    values = [0.01, -0.02, 0.015, 0.0]
    decision = decide_runs(values, Hypothesis("greater", 0.0, interest=0.1))
    nearest = max(
        stats.ttest_1samp(values, bound, alternative=side).pvalue
        for bound, side in ((-0.1, "greater"), (0.1, "less"))
    )
    assert decision.verdict == "no difference"
    assert decision.p == pytest.approx(2 * nearest, rel=1e-6)


def test_one_seed_has_no_p() -> None:
    assert decide_runs([0.3], Hypothesis("greater", 0.0)).p is None
    assert decide_proportions([1], 0.5, Hypothesis("greater", 0.0)).p is None
