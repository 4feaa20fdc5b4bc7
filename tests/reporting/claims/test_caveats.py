"""What a reader holds against claims: when they were asked, and that they are many."""

from dataclasses import replace

import pytest

from tests.reporting.claims.test_claims_table import claim
from workflow import ROOT
from workflow.definitions.paper import Paper
from workflow.reporting.claims.caveats import Caveats
from workflow.reporting.claims.history import extended, late
from workflow.reporting.claims.judged import read_claims
from workflow.reporting.claims.markdown import claims_table


def entry(name: str, part: str, results: str = "after") -> dict[str, str]:
    return {"claim": name, "part": part, "old": "", "new": "", "results": results}


HISTORY = extended(
    extended([], [entry("a", "added"), entry("b", "added", "before")], "2026-01-02"),
    [entry("a", "claim"), entry("c", "claim"), entry("d", "margin"), entry("e", "removed")],
    "2026-01-03",
)


def test_a_claim_is_late_from_the_first_change_when_results_were_known() -> None:
    assert late(HISTORY) == {
        "a": "added when results were known",
        "c": "reworded when results were known",
        "d": "asked otherwise when results were known",
    }


def test_caveats_are_counted_and_stand_beside_the_verdict() -> None:
    ps = {"a": 0.001, "b": 0.04, "c": 0.02, "d": 0.3}
    claims = [
        claim(id=name, p=p, verdict="holds" if p < 0.05 else "undecided") for name, p in ps.items()
    ]
    others = [claim(id="check", p=1e-9, check=True), claim(id="f", p=None, verdict="not run")]
    claims.append(claim(id="g", p=None, verdict="holds"))  # true by its count alone
    caveats = Caveats([*claims, *others], HISTORY)
    # of four: .001 < .0125, .02 > .0167 (Holm); .02 < .025, .04 > .0375 (Benjamini-Hochberg)
    assert caveats.sentence == (
        "Caution: 2 of the 4 decided claims were added or reworded after results were known. "
        "After correction for multiple tests, 2 (Benjamini-Hochberg) or 1 (Holm) of 3 remain; "
        "1 has no test."
    )
    lines = claims_table(claims, caveats.of).splitlines()[2:]
    added, second, reworded, undecided, untested = (line.rpartition("**")[2] for line in lines)
    assert "added when results were known" in added and "Hochberg" not in added
    assert "not after Benjamini-Hochberg" in second and "known" not in second
    assert "reworded when results were known" in reworded and "Hochberg" not in reworded
    assert "Hochberg" not in undecided + untested
    assert Caveats([], HISTORY).sentence == ""


def test_claims_on_the_same_runs_are_no_new_evidence() -> None:
    """By identity; checks and what was not run are nobody's other claim."""
    runs = {"a": "12", "b": "12", "c": "123", "d": "34", "e": "5"}
    claims = [claim(id=name, runs=[*its], verdict="holds") for name, its in runs.items()]
    others = [claim(id="check", runs=["5"], check=True)]
    others += [claim(id="f", runs=["5"], verdict="not run", estimate=None)]
    caveats = Caveats([*claims, *others], [])
    assert [caveats.of(one) for one in [*claims, others[0]]] == [
        ["2 other claims use exactly these runs"],
        ["2 other claims use exactly these runs"],
        ["3 other claims use some of these runs"],
        ["1 other claim uses some of these runs"],
        [],
        ["1 other claim uses exactly these runs"],
    ]
    part = Caveats([claim(id="g", runs=["1"]), *claims], [])
    assert part.of(claims[0]) == ["3 other claims use some of these runs, 2 exactly these"]


def test_claims_of_a_family_are_corrected_together() -> None:
    """The size is that of the plan: what was not run counts, and other claims do not."""
    ps = {"a": 0.012, "b": 0.02, "c": 0.6, "d": None}
    verdicts = dict(zip(ps, ("holds", "does not hold", "undecided", "not run"), strict=True))
    claims = [
        claim(id=name, p=p, verdict=verdicts[name], check=True, family="ranks", runs=[], by_seed=[])
        for name, p in ps.items()
    ]
    others = [claim(id=f"other {n}", p=0.9, runs=[]) for n in range(5)]
    caveats = Caveats([*claims, *others], [])
    assert caveats.in_family == pytest.approx({"a": 0.048, "b": 0.06, "c": 1.0, "d": 1.0})
    assert [caveats.of(one) for one in claims] == [
        ["after Holm for 4 ranks (p = 0.048)"],
        ["not after Holm for 4 ranks (p = 0.06)"],
        [],
        [],
    ]


def test_what_the_page_on_explanations_says_is_corrected_so() -> None:
    """Three stand of sixteen; of the others it prints the corrected p."""
    family = {
        it["id"]: it.get("family", "") for it in Paper("discrete_transformer").claims["claims"]
    }
    judged = read_claims(ROOT / "docs/reproduction/lite/claims/discrete_transformer.json")
    corrected = Caveats([replace(it, family=family[it.id]) for it in judged], []).in_family
    eight = {name: p for name, p in corrected.items() if "eleven" not in name}
    page = " ".join((ROOT / "docs/explanations.md").read_text().split())
    assert len(eight) == 16 and sum(p <= 0.05 for p in eight.values()) == 3
    assert "Sixteen are tested here: corrected for that (Holm) three stand" in page
    fourth, one, other = (
        f"{eight[f'comprehensiveness_ranks_{name}']:.2f}".lstrip("0")
        for name in ("stack", "arithmetic", "arithmetic_soft")
    )
    assert f"comprehensiveness on the stack language, does not (p = {fourth})" in page
    assert f"neither is decided (p = {one}, {other})" in page


def test_seeds_that_share_trainings_are_a_caveat_of_what_has_an_interval() -> None:
    caveats = Caveats([], [])
    assert caveats.of(claim(crossed=True)) == ["seeds share trainings: the interval is too narrow"]
    assert caveats.of(claim()) == caveats.of(claim(crossed=True, ci_low=None, ci_high=None)) == []
    decided = [claim(id=name, verdict="holds", crossed=name == "a") for name in "ab"]
    assert "; in 1 the seeds share trainings. After" in Caveats(decided, []).sentence


def test_what_hangs_on_single_seeds_says_so_and_is_counted() -> None:
    caveats = Caveats([], [])
    decided = claim(verdict="holds", fragile=2, by_seed=[0.5, -1.0, 1.5])
    assert caveats.of(decided) == ["fragile (2 of 3)", "1 of 3 seeds point the other way"]
    runs = claim(verdict="does not hold", over="proportions", n=10, by_seed=[], fragile=1)
    assert caveats.of(runs) == ["fragile (1 of 10)"]
    assert caveats.of(replace(decided, verdict="undecided", fragile=None)) == []
    assert caveats.of(replace(decided, fragile=0, by_seed=(0.5, -1e-17))) == []
    check = replace(decided, id="check", check=True)
    sentence = Caveats([decided, replace(runs, id="b"), check], []).sentence
    assert "; 2 would change without one of their seeds (fragile). After" in sentence
