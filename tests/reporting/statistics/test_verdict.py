"""The verdict: hand-worked cases, and properties that hold whatever the numbers are."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow.definitions.expected import Printed
from workflow.reporting.statistics.verdict import (
    COMPARED,
    NEAR,
    RULE,
    WORDS,
    Ours,
    Tolerance,
    judge,
)

ACCURACY = Tolerance(seed_std=0.8, sampling="binomial", full=100)
TAU = Tolerance(seed_std=0.02, sampling="examples")
PLAIN = Tolerance(seed_std=0.015)
RANK = {word: place for place, word in enumerate(COMPARED)} | {"wide tolerance": 0}

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
    assert f"`near` within {NEAR}," in RULE
    assert all(f"`{word}`" in RULE for word in (*COMPARED, "wide tolerance", "second reading"))


@pytest.mark.parametrize(
    ("mean", "word"),
    [
        (79.6, "reproduced"),
        (82.2, "reproduced"),
        (82.5, "near"),
        (84.9, "near"),
        (85.1, "differs"),
        (76.9, "near"),
        (74.0, "differs"),
    ],
)
def test_words_by_hand(mean: float, word: str) -> None:
    assert judge(ours(mean), Printed("79.6"), ACCURACY).word == word


def test_one_seed_is_never_reproduced() -> None:
    # One run: 2 * sqrt(.8917 + .64 * 2) + .05 = 2.997.
    words = [judge(ours(m, runs=1), Printed("79.6"), ACCURACY).word for m in (79.6, 82.5, 82.7, 86)]
    assert words == ["within, one seed", "within, one seed", "near", "differs"]


def test_seeds_that_disagree_are_not_reproduced() -> None:
    # The tolerance is 2 * .015 * sqrt(4 / 3) + .0005 = .0351; .0351 * sqrt(3) = .0609.
    words = [judge(Ours(3, 0.96, std), Printed("0.959"), PLAIN).word for std in (0.06, 0.062)]
    assert words == ["reproduced", "within, seeds apart"]
    assert judge(Ours(3, 1.0, 0.2), Printed("0.959"), PLAIN).word == "near"


def test_a_crossing_is_met_by_what_lies_between_its_checkpoints() -> None:
    # Two runs, a spread of 2: 2 * 2 * sqrt(3 / 2) + .005 = 4.904. From 82 to 86 that reaches from
    # 77.1 to 90.9, and as far again to 72.2 and 95.8.
    read = Ours(2, 86.0, 1.0, between=(82.0, 86.0))
    rule = Tolerance(seed_std=2)
    known = {"77.20": 0, "84.00": 0, "90.80": 0, "77.00": 3, "91.00": 3, "95.70": 3, "72.00": 4}
    for printed, place in known.items():
        assert judge(read, Printed(printed), rule).word == COMPARED[place], printed
    assert (
        "between checkpoints of 82 and 86; difference +0,"
        in judge(read, Printed("84.00"), rule).reason
    )
    assert judge(read, Printed("77.00"), rule).reason.endswith("difference +5, tolerance 4.9")
    falling = replace(read, between=(86.0, 82.0))
    assert judge(falling, Printed("84.00"), rule).word == "reproduced"


def test_checkpoints_far_apart_confirm_nothing() -> None:
    # The tolerance of 4.904 and half of the distance: 8.404 of 84.00 are more than a tenth of it.
    rule, printed = Tolerance(seed_std=2), Printed("84.00")
    near, far = (Ours(2, 86.0, 1.0, between=(low, 86.0)) for low in (80.0, 79.0))
    assert judge(near, printed, rule).word == "reproduced"
    verdict = judge(far, printed, rule)
    assert verdict.word == "wide tolerance"
    assert verdict.reason.endswith("; wider than 10 % of the printed value with what lies between")
    assert judge(far, Printed("60.00"), rule).word == "differs"


def test_a_tolerance_that_most_blind_values_meet_is_wide() -> None:
    # As above, 4.904 around 50: from 45.1 to 54.9.
    rule, mean = Tolerance(seed_std=2), Ours(2, 51.0, 1.0)

    def word(*blind: tuple[float, float]) -> str:
        return judge(mean, Printed("50.00"), rule, blind=blind).word

    assert word((45.2, 45.2)) == "wide tolerance" and word((35.0, 35.0)) == "reproduced"
    # Crossings at checkpoints: three tolerances end at 35.29; half of them are not most.
    assert word((0, 35.2), (0, 35.3), (64.8, 70)) == "reproduced"
    assert word((0, 35.2), (0, 35.3), (64.7, 70), (64.8, 70)) == "reproduced"
    assert word((0, 35.2), (0, 35.3), (64.7, 70)) == "wide tolerance"
    far = judge(Ours(2, 99.0, 1.0), Printed("50.00"), rule, blind=[(45.2, 45.2)])
    assert far.word == "wide tolerance" and "also met by 1 of 1 blind values" in far.reason
    half = judge(Ours(2, 99.0, 1.0), Printed("50.00"), rule, blind=[(0, 45.2), (55, 70)])
    assert half.word == "differs"


def test_a_tolerance_that_confirms_nothing_can_show_a_difference_alone() -> None:
    def word(mean: float, printed: str, *blind: float, std: float = 1.0) -> str:
        points = [(one, one) for one in blind]
        return judge(Ours(2, mean, std), Printed(printed), Tolerance(seed_std=2), (), points).word

    # 4.904 is 10 % of 49.04; chance is 10 away, and 15.
    assert word(50, "49.00") == "wide tolerance" and word(50, "49.10") == "reproduced"
    assert word(57, "49.00") == "wide tolerance" and word(57, "49.10") == "near"
    assert word(60, "49.00") == word(60, "49.10") == "differs"
    assert word(50, "50.00", 60) == word(50, "50.00", 36) == "wide tolerance"
    assert word(50, "50.00", 35) == word(50, "50.00", 60, 35) == "reproduced"
    assert word(65, "50.00", 60) == "differs" and word(65, "50.00", 54) == "wide tolerance"
    assert word(0.0, "0.00") == "wide tolerance"
    facts = Tolerance(seed_std=0)
    assert judge(Ours(1, 0.1), Printed("0.1"), facts).word == "reproduced"
    drawn = Tolerance(seed_std=0, sampling="binomial", full=100)  # 2 * 2.19 of 400 texts, and .005
    baseline = replace(Ours(1, 5.3), examples=400)
    assert judge(baseline, Printed("5.30"), drawn).word == "wide tolerance"
    assert judge(replace(baseline, mean=9.9), Printed("5.30"), drawn).word == "differs"


def test_a_rule_may_be_wide_by_itself() -> None:
    rule = Tolerance.of({"seed_std": 2, "wide": True, "because": "of what is known"})
    assert judge(Ours(2, 51.0, 1.0), Printed("50.00"), rule).word == "wide tolerance"
    assert judge(Ours(0), Printed("50.00"), rule).word == "not run"


def test_a_second_reading_has_no_verdict() -> None:
    def read(mean: float, *why: str) -> tuple[str, str]:
        verdict = judge(ours(mean), Printed("79.6"), ACCURACY, why, second_reading=True)
        return verdict.word, verdict.reason

    assert read(79.0)[0] == read(50.0)[0] == read(79.0, "reduced data")[0] == "second reading"
    assert "by this one differs: difference -29.6, tolerance 2.69" in read(50.0)[1]
    assert read(79.0, "reduced data")[1].endswith("by this one not comparable: reduced data")
    assert judge(Ours(0), Printed("1"), PLAIN, second_reading=True).word == "not run"
    assert judge(ours(1.0), Printed(""), PLAIN, second_reading=True).word == "not comparable"


def test_the_spread_of_a_row_takes_the_place_of_the_rule_s() -> None:
    rule = {"seed_std": 3, "by_row": {"sst": 1}, "sampling": "binomial", "full": 100}
    rule |= {"because": "of seeds", "formerly": {"until": "2026-11-24", "seed_std": 5}}
    assert Tolerance.of(rule, "sst") == Tolerance(1, "binomial", 100)
    assert Tolerance.of(rule, "imdb") == Tolerance.of(rule) == Tolerance(3, "binomial", 100)


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
    assert judge(Ours(1, 77.071), Printed("77.07"), PLAIN).word == "within, one seed"


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
def test_unstable_runs_fare_no_better(mean: float, number: Printed, a: float, b: float) -> None:
    calm, wild = (judge(ours(mean, std=std), number, ACCURACY).word for std in sorted((a, b)))
    assert RANK[calm] <= RANK[wild]


@given(values, values, values, printed)
def test_a_wider_interval_never_fares_worse(
    one: float, other: float, third: float, number: Printed
) -> None:
    rule = Tolerance(seed_std=2)
    narrow = judge(Ours(3, one, 0.5, between=(one, other)), number, rule).word
    ends = (min(one, other, third), max(one, other, third))
    wider = judge(Ours(3, one, 0.5, between=ends), number, rule).word
    assert wider == "wide tolerance" or RANK[wider] <= RANK[narrow]
    point = judge(Ours(3, one, 0.5, between=(one, one)), number, rule)
    assert point.word == judge(Ours(3, one, 0.5), number, rule).word


@given(
    st.one_of(values, st.none(), st.just("a text")),
    st.one_of(printed, st.sampled_from([Printed(""), Printed("a text")])),
    st.integers(0, 5),
    st.floats(0, 50),
    st.lists(st.tuples(values, values), max_size=5),
    st.lists(st.just("reduced data"), max_size=1),
    st.booleans(),
)
def test_every_case_has_a_word_and_the_word_says_which(
    mean: float | str | None,
    number: Printed,
    runs: int,
    std: float,
    blind: list[tuple[float, float]],
    hindrances: list[str],
    second: bool,
) -> None:
    mine = Ours(runs, mean, std if runs > 1 else None, examples=1821)
    verdict = judge(mine, number, ACCURACY, hindrances, blind, second)
    assert verdict.word in WORDS and verdict.reason
    assert (verdict.word == "not run") == (runs == 0 or mean is None)
    if verdict.word in COMPARED:
        assert isinstance(mean, float) and number.value is not None
        assert not hindrances and not second and verdict.tolerance is not None
        away = abs(mean - number.value) / verdict.tolerance
        apart = std / math.sqrt(runs) > verdict.tolerance
        assert {
            "reproduced": away <= 1 and runs > 1 and not apart,
            "within, one seed": away <= 1 and runs == 1,
            "within, seeds apart": away <= 1 and runs > 1 and apart,
            "near": 1 < away <= NEAR,
            "differs": away > NEAR,
        }[verdict.word] or away == pytest.approx(round(away), abs=1e-6)
