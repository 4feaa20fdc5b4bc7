"""A line of the table of claims says what was compared, and what decided it."""

from dataclasses import replace
from typing import Any

import pytest

from workflow.reporting.claims.judged import JudgedClaim
from workflow.reporting.claims.markdown import (
    claims_table,
    counted,
    difference,
    leans_against,
    points_against,
)


def claim(**changes: Any) -> JudgedClaim:
    """Return a claim as it is published: undecided, over three seeds."""
    given = {
        **dict.fromkeys(("id", "label", "reason"), ""),
        **{name: [] for name in ("measures", "runs", "partners")},
        "claim": "One is better.",
        "source": "kinley2020",
        "paper": "",
        "over": "runs",
        "unit": "points",
        "digits": 1,
        "direction": "greater",
        "margin": 0,
        "interest": None,
        "kind": "the paper's setting",
        "verdict": "undecided",
        "estimate": 1.0,
        "ci_low": -2.0,
        "ci_high": 4.0,
        "left": {"label": "one", "mean": 3.0},
        "right": {"label": "other", "mean": 2.0},
        "seeds": [0, 1, 2],
        "hindrances": [],
        "check": False,
        "headline": False,
        "n": 3,
        "by_seed": [0.5, 1, 1.5],
    }
    return JudgedClaim.of({**given, **changes})


def line(**changes: Any) -> list[str]:
    """Return the cells of its line."""
    return claims_table([claim(**changes)]).splitlines()[-1].strip("| ").split(" | ")


def test_unit_and_seeds_stand_beside_the_difference() -> None:
    assert line()[2] == "3.0 (one) vs 2.0 (other): +1.0 [-2.0, +4.0] points; 3 seeds"
    assert line(seeds=[4], unit="fraction")[2].endswith("[-2.0, +4.0]; 1 seed")


@pytest.mark.parametrize(
    ("over", "n", "said"),
    [
        ("examples", 1821, "1,821 examples, 3 seeds: +0.5, +1.0, +1.5"),
        ("corpora", 6750, "6,750 sentences, 3 seeds: +0.5, +1.0, +1.5"),
        ("runs", 3, "3 seeds"),
        ("proportions", 40, ""),
    ],
)
def test_what_an_interval_is_over_is_said(over: str, n: int, said: str) -> None:
    assert counted(claim(over=over, n=n)) == said
    left = {"label": "one", "mean": 0.5, "count": 1, "runs": 20}
    assert line(over=over, n=n, left=left)[2].endswith(f" points; {said}" if said else " points")
    if over == "examples":
        assert counted(claim(over=over, n=1, seeds=[4], by_seed=[1])) == "1 example, 1 seed"


@pytest.mark.parametrize(
    ("direction", "margin", "asked"),
    [
        ("greater", -2, "at most 2 below"),
        ("greater", 0.2, "more than 0.2 above"),
        ("less", 1.5, "at most 1.5 above"),
        ("less", -1, "more than 1 below"),
    ],
)
def test_a_margin_is_shown(direction: str, margin: float, asked: str) -> None:
    assert f" points, asked: {asked}; 3 seeds" in line(direction=direction, margin=margin)[2]
    assert "asked" not in line(direction=direction)[2]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"seeds": [0]}, "one seed"),
        ({"seeds": [0], "ci_low": None, "ci_high": None}, "one seed"),
        ({}, "interval contains the margin"),
        ({"seeds": [0, 1], "by_seed": [2, 2]}, "seeds without spread"),
        ({"estimate": None, "ci_low": None}, "undefined"),
        ({"seeds": [0], "ci_high": -0.5}, "one seed; points against the claim"),
        (
            {"hindrances": ["a part", "b"]},
            "interval contains the margin; not the paper's setting: a part, b",
        ),
    ],
)
def test_doubt_has_a_reason(changes: dict[str, Any], why: str) -> None:
    assert line(**changes)[3] == f"**undecided** ({why})"


def test_what_is_decided_needs_no_reason() -> None:
    assert line(verdict="does not hold", ci_high=-0.5)[3] == "**does not hold**"


@pytest.mark.parametrize(("runs", "why"), [(1, "one run"), (20, "interval contains the margin")])
def test_proportions_count_runs(runs: int, why: str) -> None:
    left = {"label": "one", "mean": 0.5, "count": 1, "runs": runs}
    cells = line(over="proportions", left=left)
    assert f"(one, 1 of {runs} runs)" in cells[2] and "seed" not in cells[2]
    assert cells[3] == f"**undecided** ({why})"


@pytest.mark.parametrize(
    ("direction", "low", "high", "margin", "against"),
    [
        ("greater", -3, -1, 0, True),
        ("greater", 1, 3, 0, False),
        ("greater", -1, 3, 0, False),
        ("greater", -1.5, -1, -2, False),
        ("greater", -4, -3, -2, True),
        ("less", 1, 3, 0, True),
        ("less", -3, -1, 0, False),
        ("less", 1, 3, 0.5, True),
    ],
)
def test_intervals_on_the_wrong_side(
    direction: str, low: float, high: float, margin: float, against: bool
) -> None:
    given = claim(direction=direction, ci_low=low, ci_high=high, margin=margin)
    assert points_against(given) is against
    assert not points_against(replace(given, verdict="holds"))


def test_estimates_on_the_wrong_side() -> None:
    given = claim(estimate=-0.5)
    assert leans_against(given) and not points_against(given)
    assert not leans_against(claim()) and not leans_against(replace(given, margin=-1))
    assert not leans_against(replace(given, direction="less"))
    assert not leans_against(replace(given, estimate=None))
    assert not leans_against(replace(given, verdict="does not hold"))
    alone = replace(given, ci_low=None, ci_high=None)
    assert leans_against(alone) and not points_against(alone)


def test_numbers_never_round_to_what_they_are_compared_with() -> None:
    given = {"estimate": 1.9084, "ci_low": 0.0324, "ci_high": 3.7844}
    assert difference(claim(**given)) == "+1.9 [+0.03, +3.8]"
    assert difference(claim(estimate=0.0, ci_low=-0.04, ci_high=0.0)) == "+0.0 [-0.04, +0.0]"
    assert difference(claim(margin=-2, ci_low=-1.96)) == "+1.0 [-1.96, +4.0]"
    assert difference(claim(estimate=0.0004, digits=2)) == "+0.0004 [-2.00, +4.00]"
    assert difference(claim(estimate=1e-15)) == "+0.000000000 [-2.0, +4.0]"
