"""The verdict: hand-worked cases, and properties that hold whatever the numbers are."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow.definitions.expected import Printed
from workflow.reporting.statistics.verdict import CLOSE, RULE, WORDS, Ours, Tolerance, judge

ACCURACY = Tolerance(seed_std=0.8, sampling="binomial", full=100)
TAU = Tolerance(seed_std=0.02, sampling="examples")
PLAIN = Tolerance(seed_std=0.015)
RANK = {"reproduced": 0, "close": 1, "differs": 2}

values = st.floats(0.0, 100.0)
printed = st.decimals(1, 99, places=1).map(lambda value: Printed(str(value)))


def ours(mean: float, runs: int = 3, std: float = 0.5, **more: object) -> Ours:
    return Ours(runs, mean, std if runs > 1 else None, examples=1821, **more)


def test_binomial_tolerance_by_hand() -> None:
    # SST, 79.6 % of 1821 examples, 3 seeds: the standard error of sampling is
    # 100 * sqrt(.796 * .204 / 1821) = .9443, of seeds .8 * sqrt(4 / 3) = .9238;
    # 2 * sqrt(.8917 + .8533) = 2.642, and half of .1 for rounding.
    assert ACCURACY.width(ours(79.0), Printed("79.6")) == pytest.approx(2.692, abs=1e-3)


def test_examples_tolerance_by_hand() -> None:
    # tau .69 +- .11 over 1821 examples: .11 / sqrt(1821) = .002578; seeds .02 * sqrt(1.5) = .024495
    width = TAU.width(ours(0.7, runs=2, std=0.01), Printed("0.69", 0.11))
    assert width == pytest.approx(2 * math.hypot(0.002578, 0.024495) + 0.005, abs=1e-5)


def test_the_tolerance_is_what_readers_are_told() -> None:
    formula = RULE.split("`2 * ")[1].split("`")[0].replace("^", "**")
    known = {"sampling": 0.11 / math.sqrt(1821), "seed_std": 0.02, "n": 3, "sqrt": math.sqrt}
    told = 2 * eval(formula, known) + 0.005
    assert TAU.width(ours(0.7), Printed("0.69", 0.11)) == pytest.approx(told)
    assert f"`close` within {CLOSE}," in RULE


@pytest.mark.parametrize(
    ("mean", "word"),
    [
        (79.6, "reproduced"),
        (82.2, "reproduced"),
        (82.5, "close"),
        (84.9, "close"),
        (85.1, "differs"),
        (76.9, "close"),
        (74.0, "differs"),
    ],
)
def test_words_by_hand(mean: float, word: str) -> None:
    assert judge(ours(mean), Printed("79.6"), ACCURACY).word == word


def test_one_seed_is_never_reproduced() -> None:
    verdict = judge(ours(79.6, runs=1), Printed("79.6"), ACCURACY)
    assert verdict.word == "close"
    assert "one seed cannot be reproduced" in verdict.reason


def test_seeds_that_disagree_are_not_reproduced() -> None:
    unstable = Ours(3, 0.96, std=0.2)
    assert judge(unstable, Printed("0.959"), PLAIN).word == "close"


def test_like_with_like() -> None:
    best = Ours(3, 0.96, 0.01, statistic="max")
    assert judge(best, Printed("0.959"), PLAIN).word == "not comparable"
    assert judge(best, Printed("0.959", statistic="max"), PLAIN).word == "reproduced"


def test_nothing_is_filled_in() -> None:
    assert judge(Ours(0), Printed("0.959"), PLAIN).word == "not run"
    assert judge(Ours(0), Printed("0.959"), PLAIN, ["demo"]).word == "not run"
    assert judge(Ours(2, 1.0, 0.1), Printed(""), PLAIN).word == "not comparable"
    assert judge(Ours(2, "a, b"), Printed("a, b"), PLAIN).word == "not comparable"
    assert judge(Ours(2, 1.0, 0.1), Printed("1.0"), None).word == "not comparable"
    assert judge(Ours(2, math.nan, 0.1), Printed("1.0"), PLAIN).word == "differs"


def test_a_rule_without_its_test_size_judges_nothing() -> None:
    verdict = judge(Ours(3, 79.6, 0.5), Printed("79.6"), ACCURACY)
    assert verdict.word == "not comparable"
    assert "number of test examples" in verdict.reason
    assert judge(ours(0.69), Printed("0.69"), TAU).word == "not comparable"


def test_rounding_of_the_printed_number() -> None:
    exact = Tolerance(seed_std=0.0)
    assert judge(Ours(2, 0.9549, 0.0), Printed("0.95"), exact).word == "reproduced"
    assert judge(Ours(2, 0.9549, 0.0), Printed("0.950"), exact).word == "differs"


def test_one_run_reproduces_what_does_not_vary() -> None:
    assert judge(Ours(1, 77.071), Printed("77.07"), Tolerance(seed_std=0.0)).word == "reproduced"
    assert judge(Ours(1, 77.071), Printed("77.07"), PLAIN).word == "close"


@given(values, printed, st.text(min_size=1))
def test_a_hindrance_settles_it(mean: float, number: Printed, reason: str) -> None:
    verdict = judge(ours(mean), number, ACCURACY, [reason])
    assert verdict.word == "not comparable"
    assert reason in verdict.reason


@given(values, values, printed)
def test_nearer_is_never_worse(one: float, other: float, number: Printed) -> None:
    near, far = sorted((one, other), key=lambda mean: abs(mean - (number.value or 0.0)))
    near_word, far_word = (judge(ours(m), number, ACCURACY).word for m in (near, far))
    assert RANK[near_word] <= RANK[far_word]


@given(st.floats(-20, 20), printed)
def test_above_and_below_are_judged_alike(difference: float, number: Printed) -> None:
    middle = number.value or 0.0
    above, below = (judge(ours(middle + sign * difference), number, ACCURACY) for sign in (1, -1))
    assert above.word == below.word


@given(values, printed, st.integers(1, 20))
def test_more_seeds_never_widen_the_tolerance(mean: float, number: Printed, runs: int) -> None:
    wide = ACCURACY.width(ours(mean, runs), number)
    assert ACCURACY.width(ours(mean, runs + 1), number) <= wide


@given(values, printed, st.floats(0, 50), st.floats(0, 50))
def test_unstable_runs_never_fare_better(
    mean: float, number: Printed, one: float, other: float
) -> None:
    calm, wild = (judge(ours(mean, std=std), number, ACCURACY).word for std in sorted((one, other)))
    assert RANK[calm] <= RANK[wild]


@given(values, printed, st.integers(0, 5))
def test_the_word_is_one_of_five(mean: float, number: Printed, runs: int) -> None:
    assert judge(ours(mean, runs), number, ACCURACY).word in WORDS
