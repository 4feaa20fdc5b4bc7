"""A line of the table of claims says what was compared, and what decided it."""

from dataclasses import replace
from typing import Any

import pytest

from tests.reporting.synthetic import judged, one_run
from workflow.reporting.claims import judging
from workflow.reporting.claims.judged import JudgedClaim
from workflow.reporting.claims.markdown import (
    claims_table,
    counted,
    difference,
    evidence,
    leaning,
    limits,
    total,
    would_decide,
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
        "devices": {"cpu": 6},
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


def test_a_claim_has_its_columns() -> None:
    header = claims_table([]).splitlines()[0]
    assert header == (
        "| claim | ours | compared with | difference [95 %] | from | the paper's | verdict |"
    )
    assert line(paper="3 vs 2") == [
        "One is better. (kinley2020)",
        "one: 3.0",
        "other: 2.0",
        "+1.0 [-2.0, +4.0] points",
        "3 seeds",
        "3 vs 2",
        "**undecided** (interval contains 0)",
    ]
    assert line(seeds=[4], unit="fraction")[3:5] == ["+1.0 [-2.0, +4.0]", "1 seed"]
    not_run = {"verdict": "not run", "estimate": None, "ci_low": None, "ci_high": None}
    assert line(**not_run)[1:] == [*["–"] * 5, "**not run**"]


@pytest.mark.parametrize(
    ("over", "n", "said"),
    [
        ("examples", 1821, "1,821 examples, 3 seeds: +0.5, +1.0, +1.5"),
        ("corpora", 6750, "6,750 sentences, 3 seeds: +0.5, +1.0, +1.5"),
        ("runs", 3, "3 seeds"),
        ("proportions", 40, "40 runs"),
    ],
)
def test_what_an_interval_is_over_is_said(over: str, n: int, said: str) -> None:
    assert counted(claim(over=over, n=n)) == said
    assert line(over=over, n=n)[4] == said
    if over == "examples":
        assert counted(claim(over=over, n=1, seeds=[4], by_seed=[1])) == "1 example, 1 seed"


def test_a_claim_of_two_margins_is_open_beyond_either() -> None:
    open_ = {"direction": "equal", "margin": 0.5}
    assert line(**open_)[6] == "**undecided** (interval reaches beyond ±0.5)"
    one_seed = {**open_, "seeds": [0], "over": "corpora"}
    assert leaning(claim(ci_low=0.6, **one_seed)) == "points against"
    assert leaning(claim(ci_low=0.4, **one_seed)) == ""
    assert leaning(claim(ci_low=-0.4, ci_high=0.4, **one_seed)) == "points towards"
    assert difference(claim(estimate=0.1, ci_low=-0.46, ci_high=0.62, **open_)).endswith(
        "[-0.46, +0.6]"
    )


H200, KIND = "NVIDIA H200", "data not here in full"
SMALL = {"over": "corpora", "needed": 14230, "interest": 0.15}
OUTCOMES = {"label": "one", "mean": 0.5, "count": 1, "runs": 20}
DIFFERENCE = "+1.0 [-2.0, +4.0] points"


@pytest.mark.parametrize(
    ("changes", "cell", "text"),
    [
        ({"left": OUTCOMES, "over": "proportions"}, 1, "one: 0.5 (1 of 20 runs)"),
        ({"margin": -2}, 3, f"{DIFFERENCE}, asked: at most 2 below"),
        ({"margin": 0.2}, 3, f"{DIFFERENCE}, asked: more than 0.2 above"),
        ({"direction": "less", "margin": 1.5}, 3, f"{DIFFERENCE}, asked: at most 1.5 above"),
        ({"direction": "less", "margin": -1}, 3, f"{DIFFERENCE}, asked: more than 1 below"),
        ({"direction": "equal", "margin": 0.5}, 3, f"{DIFFERENCE}, asked: within ±0.5"),
        ({"direction": "less"}, 3, DIFFERENCE),
        ({"interest": 0.5}, 3, f"{DIFFERENCE} (none if within ±0.5)"),
        ({"devices": {"cpu": 4, H200: 2}}, 4, f"3 seeds; 2 of 6 runs on {H200}"),
        ({"devices": {H200: 6}}, 4, f"3 seeds; on {H200}"),
        ({"unit": "K tokens/s"}, 4, "3 seeds; on a CPU"),
        ({"seeds": [0]}, 6, "**undecided** (one seed)"),
        ({"seeds": [0], "ci_low": None, "ci_high": None}, 6, "**undecided** (one seed)"),
        ({}, 6, "**undecided** (interval contains 0)"),
        ({"seeds": [0, 1], "by_seed": [2, 2]}, 6, "**undecided** (seeds without spread)"),
        ({"estimate": None, "ci_low": None}, 6, "**undecided** (undefined)"),
        ({"seeds": [0], "ci_high": -0.5}, 6, "**undecided** (one seed; points against the claim)"),
        ({"hindrances": ["a part", "b"]}, 6, "**undecided** (interval contains 0; a part; b)"),
        (
            {"kind": "other", "below": "one below the tag's 7"},
            6,
            "**undecided** (interval contains 0; other; one below the tag's 7)",
        ),
        ({"kind": "other"}, 6, "**undecided** (interval contains 0; other)"),
        ({"over": "proportions", "left": OUTCOMES | {"runs": 1}}, 6, "**undecided** (one run)"),
        (
            {"over": "proportions", "ci_low": 0.5, "reason": "why"},
            6,
            "**undecided** (why; points towards the claim)",
        ),
        (
            SMALL,
            6,
            "**undecided** (interval contains 0; too few sentences to show a difference of 0.3 "
            "with these seeds (the test set alone would need 14,000))",
        ),
        ({**SMALL, "verdict": "holds"}, 6, "**holds**"),
        ({"verdict": "does not hold", "ci_high": -0.5}, 6, "**does not hold**"),
        ({"verdict": "no difference", "kind": KIND}, 6, f"**no difference** ({KIND})"),
    ],
)
def test_a_line_says_what_was_compared_and_what_decided_it(
    changes: dict[str, Any], cell: int, text: str
) -> None:
    assert line(**changes)[cell] == text


@pytest.mark.parametrize(
    ("direction", "low", "high", "margin", "leans"),
    [
        ("greater", -3, -1, 0, "points against"),
        ("greater", 1, 3, 0, "points towards"),
        ("greater", -1, 3, 0, ""),
        ("greater", -1.5, -1, -2, "points towards"),
        ("greater", -4, -3, -2, "points against"),
        ("less", 1, 3, 0, "points against"),
        ("less", -3, -1, 0, "points towards"),
        ("less", 1, 3, 0.5, "points against"),
    ],
)
def test_undecided_claims_point_where_their_intervals_lie(
    direction: str, low: float, high: float, margin: float, leans: str
) -> None:
    given = claim(direction=direction, ci_low=low, ci_high=high, margin=margin)
    assert leaning(given) == leans
    assert leaning(replace(given, verdict="holds")) == ""


def test_numbers_never_round_to_what_they_are_compared_with() -> None:
    given = {"estimate": 1.9084, "ci_low": 0.0324, "ci_high": 3.7844}
    assert difference(claim(**given)) == "+1.9 [+0.03, +3.8]"
    assert difference(claim(estimate=0.0, ci_low=-0.04, ci_high=0.0)) == "+0.0 [-0.04, +0.0]"
    assert difference(claim(margin=-2, ci_low=-1.96)) == "+1.0 [-1.96, +4.0]"
    assert difference(claim(estimate=0.0004, digits=2)) == "+0.0004 [-2.00, +4.00]"
    assert difference(claim(estimate=1e-15)) == "+0.000000000 [-2.0, +4.0]"


@pytest.mark.parametrize(
    ("own", "checks", "words", "shown"),
    [
        (20, 2, "undecided", "20 undecided, and 2 checks"),
        (20, 0, "undecided", "20 undecided"),
        (1, 1, "{} not run", "1 claim not run, and 1 check"),
        (0, 1, "{} not run", "0 claims not run, and 1 check"),
    ],
)
def test_checks_are_counted_apart(own: int, checks: int, words: str, shown: str) -> None:
    claims = [*[claim()] * own, *[claim(check=True)] * checks]
    assert total(iter(claims), words) == shown


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({}, "More seeds could decide it (interval contains 0)"),
        ({"over": "proportions"}, "More runs could decide it (interval contains 0)"),
        ({"seeds": [0]}, "A second seed could decide it"),
        ({"seeds": [0], "looks": [3, 3]}, "The next look, at 3 seeds, could decide it"),
        ({"looks": [2, 5, 8]}, "The next look, at 5 seeds, could decide it"),
        ({"looks": [3, 5]}, "The next look, at 5 seeds, could decide it"),
        ({"looks": [2, 5, 3], "p": 0.2}, "Not decided at its last look (interval contains 0)"),
        (
            SMALL,
            "Not decided: interval contains 0; too few sentences to show a difference of 0.3 with "
            "these seeds (the test set alone would need 14,000)",
        ),
        (
            {**SMALL, "seeds": [0, 1]},
            "Not decided: two seeds: interval contains 0; too few sentences to show a difference "
            "of 0.3 with these seeds (the test set alone would need 14,000)",
        ),
        ({"over": "proportions", "needed": 6}, "Not decided: 6 runs could decide, if all agree"),
    ],
)
def test_what_would_decide_a_claim_is_said(changes: dict[str, Any], what: str) -> None:
    assert would_decide(claim(**changes)) == what


def test_a_claim_in_short_has_its_evidence_and_its_limits() -> None:
    assert evidence(claim()) == "one: 3.0 vs other: 2.0: +1.0 [-2.0, +4.0] points; 3 seeds"
    assert evidence(claim(estimate=None)) == "–"
    against = claim(ci_high=-0.5, kind="another reading")
    assert limits(against, ["late"]) == ["points against the claim", "another reading", "late"]
    assert limits(claim(), []) == []


@pytest.mark.parametrize(
    ("good", "bad", "below"),
    [
        (9.0, 8.0, ""),
        (9.0, 6.0, "bad below the tag's 7"),
        (6.0, 5.0, "good and bad below the tag's 7"),
    ],
)
def test_a_claim_says_which_sides_are_below_its_baseline(
    good: float, bad: float, below: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "kind_of", lambda claim, departures: KIND)
    values = {"good": good, "bad": bad}
    runs = [
        one_run(name, seed, {"m": value, "tag": 6.5 + seed})
        for name, value in values.items()
        for seed in (0, 1)
    ]
    told: dict[str, Any] = {"measure": "probe.m", "label": "m", "unit": "points", "digits": 0}
    baseline = {"measure": "probe.tag", "label": "tag"}
    assert judged(runs, **told, baseline=baseline)["below"] == below
    assert judged(runs, **told)["below"] == ""


@pytest.mark.parametrize("over", ["examples", "corpora", "runs"])
@pytest.mark.parametrize("seeds", [[0], [0, 1]])
def test_an_interval_of_one_seed_says_that_it_is_of_the_test_set_only(
    over: str, seeds: list[int]
) -> None:
    one = claim(over=over, seeds=seeds, by_seed=[1.0] * len(seeds), unit="BLEU", interest=0.15)
    only = over != "runs" and len(seeds) == 1
    assert difference(one) == "+1.0 [-2.0, +4.0]" + ", test set only" * only
    assert ("+4.0] BLEU, test set only (none if within" in evidence(one)) == only
