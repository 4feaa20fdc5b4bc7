"""Where a test set is too small for the effect, and what would be large enough."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.reporting.claims.test_claims_table import claim
from tests.reporting.synthetic import judged, one_run
from workflow.reporting.claims.judged import JudgedClaim
from workflow.reporting.claims.markdown import claims_table
from workflow.reporting.publication.headline import claims_by_paper
from workflow.reporting.statistics.bootstrap import resample, statistics
from workflow.reporting.statistics.decisions import Decision, Hypothesis, decide_examples
from workflow.reporting.statistics.intervals import common

N, OF_EXAMPLE, OF_SEED = 200, 1.0, 2.0
"""Examples, and the deviations of their differences: of the example itself, and by seed."""


def test_what_seeds_have_in_common_by_hand() -> None:
    """Variances are 5/3, the covariance 1: of the mean's (10/3 + 2) / 4 = 4/3, 1 is common."""
    assert common(np.array([[1, 2, 3, 4], [2, 1, 4, 3]])) == pytest.approx(0.75)
    assert common(np.array([[1, 2, 3, 4]] * 3)) == pytest.approx(1)
    assert common(np.array([[1, 2, 3, 4], [4, 3, 2, 1]])) == 0
    assert common(np.array([[1, 2, 3, 4]])) is None


def decided(part: float | None, asked: Hypothesis, *by_seed: float) -> Decision:
    """Decide on 100 examples of +-1: the half-width is 1.984 * 1.005 / 10 = .1994."""
    return decide_examples([1.0, -1.0] * 50, by_seed or (0.02, -0.02, 0.01), asked, part)


def test_an_undecidable_claim_by_hand() -> None:
    """The effect is .1, and (.1994 / .1)^2 = 3.977."""
    asked = Hypothesis("greater", 0.0, interest=0.05)
    found = decided(0.5, asked)
    assert found.verdict == "undecidable"
    assert found.reason == "the test set is too small for a difference of 0.1, whatever the seeds"
    assert (found.needed, found.enough) == (199, None)  # 100 * .5 * 3.977 = 198.8
    # .1994^2 (.2 + .8 * 3 / S) + t^2 * .0208^2 / S = .01 with S = 47.5 and t = 2.01; the test set
    # alone would do with 46.7 seeds.
    found = decided(0.2, asked)
    assert (found.verdict, found.needed, found.enough) == ("undecided", 398, 48)
    # Seeds .3 apart need .0994 + t^2 * .09 / S: 217 of them, which no claim will have.
    found = decided(0.2, asked, 0.3, -0.3, 0.0)
    assert (found.verdict, found.needed, found.enough) == ("undecided", 398, None)
    found = decided(None, asked, 0.02)
    assert (found.verdict, found.needed, found.enough) == ("undecided", 398, None)
    # At one look of two half the interval is 2.276 * .1005 = .2288, and .2 (.2288 / .1)^2 = 1.047.
    found = decided(0.2, asked._replace(looks=(2, 3)))
    assert (found.verdict, found.needed, found.enough) == ("undecidable", 105, None)
    # The margin is what the claim needs where it names one; a sign alone needs nothing.
    assert decided(0.5, Hypothesis("greater", -0.1)).verdict == "undecidable"
    assert decided(0.5, Hypothesis("greater", -0.3)).needed is None
    assert decided(1.0, Hypothesis("greater", 0.0)).needed is None
    # A test set that leaves out the margin may decide, with seeds.
    assert decided(0.5, Hypothesis("greater", -0.1), 0.2, -0.1).verdict == "undecidable"
    shifted = [0.25 + value for value in [1.0, -1.0] * 50]
    assert decide_examples(shifted, (0.9, -0.4), asked, 0.5).needed is None


def shown(examples: int, seeds: float, effect: float) -> float:
    """Return how often a true effect is shown on a test set, by a t test over its examples."""
    random, trials = np.random.default_rng(3), 2000
    deviation = np.hypot(OF_EXAMPLE, OF_SEED / np.sqrt(seeds))
    differences = random.normal(effect, deviation, (trials, examples))
    return float(np.mean(stats.ttest_1samp(differences, 0, axis=1).pvalue < 0.05))


def decisions(seeds: int, effect: float) -> list[Decision]:
    """Return what is decided on some test sets where nothing is found."""
    random, found = np.random.default_rng(4), []
    asked = Hypothesis("greater", 0.0, interest=effect / 2)
    for _ in range(300):
        example = random.normal(0, OF_EXAMPLE, N)
        by_seed = example + random.normal(0, OF_SEED, (seeds, N))
        by_seed -= by_seed.mean()  # the estimate is 0, and seeds differ
        means, part = by_seed.mean(1).tolist(), common(by_seed)
        found.append(decide_examples(by_seed.mean(0).tolist(), means, asked, part))
    return found


@pytest.mark.parametrize(("effect", "endless"), [(0.07, False), (0.18, True)])
def test_what_is_enough_shows_the_effect_in_half_of_all_cases(effect: float, endless: bool) -> None:
    """Endless seeds leave a half-width of 1.97 / sqrt(200) = .139, 5 seeds one of .187."""
    seeds = 5 if endless else 3
    found = decisions(seeds, effect)
    verdicts = [one.verdict for one in found]
    if not endless:
        assert verdicts.count("undecidable") > 290
        needed = np.median([one.needed for one in found if one.verdict == "undecidable"])
        assert needed == pytest.approx((1.96 * OF_EXAMPLE / effect) ** 2, rel=0.1)
        assert shown(int(needed), np.inf, effect) == pytest.approx(0.5, abs=0.06)
        assert shown(N, np.inf, effect) < 0.25
        return
    assert verdicts.count("undecidable") < 10
    enough = int(np.median([one.enough for one in found if one.enough]))
    needed = np.median([one.needed for one in found if one.enough])
    assert shown(int(needed), seeds, effect) == pytest.approx(0.5, abs=0.08)

    def half(seeds: int) -> float:
        """Return half the whole interval, of the test set and of seeds."""
        wide = [(one.ci_high or 0) - (one.ci_low or 0) for one in decisions(seeds, effect)]
        return float(np.median(wide)) / 2

    assert half(enough) == pytest.approx(effect, rel=0.05) and half(seeds) > 1.3 * effect


def test_what_translations_of_several_seeds_have_in_common() -> None:
    words = np.random.default_rng(0).integers(0, 9, (80, 7))

    def system(seed: int, wrong: float) -> Any:
        random = np.random.default_rng(seed)
        texts = np.where(random.random(words.shape) < wrong, 9, words)
        sides = ([" ".join(map(str, line)) for line in side] for side in (texts, words))
        return statistics(*sides)

    one, other = (system(1, 0.1), system(2, 0.3)), (system(3, 0.1), system(4, 0.3))
    assert resample([one]).common is None
    assert resample([one, one]).common == pytest.approx(1)
    assert (resample([one, other]).common or 0) < 0.5


def test_it_is_counted_and_says_what_would_be_enough() -> None:
    random = np.random.default_rng(5)
    example = random.normal(0, 1, 100)
    example -= example.mean()
    runs = [
        one_run(variant, seed, arrays={"tau": (better * example + 0.01 * seed * better).tolist()})
        for variant, better in (("good", 1), ("bad", 0))
        for seed in range(3)
    ]
    found = judged(
        runs, measure="probe.tau", label="m", unit="points", digits=2, over="examples",
        interest=0.02,
    )  # fmt: skip
    assert found["verdict"] == "undecidable" and found["enough"] is None
    needed = f"{float(format(found['needed'], '.2g')):,.0f}"
    line = claims_table([JudgedClaim.of(found)]).splitlines()[-1]
    assert (
        "**undecidable** (too few examples to show a difference of 0.04 whatever the seeds "
        f"(the test set alone would need {needed})"
    ) in line
    counts = claims_by_paper([claim(verdict="undecidable", source="zhao2019 section 1")])
    place = counts.columns.index("⊘")
    names = ("[Explicit Sparse Transformer](zhao2019.md)", "all")
    assert [row[place] for row in counts.rows if row[0] in names] == ["1", "1"]
    assert "⊘ undecidable: the test set is too small, whatever the seeds." in counts.about
    counts = claims_by_paper([claim(source="zhao2019 section 1")])
    assert counts.columns == ("paper", "claims", "?")
    assert "undecidable" not in counts.about


def test_what_would_be_enough_is_said_of_undecided_claims() -> None:
    small = {"over": "corpora", "needed": 5029, "enough": 36, "interest": 0.15}
    line = claims_table([claim(**small)]).splitlines()[-1]
    assert (
        "to show a difference of 0.3 with these seeds (the test set alone would need 5,000; 36 "
        "seeds with this spread would do)"
    ) in line
    sides = {"left": {"label": "one", "mean": 1.0, "count": 4, "runs": 4}}
    runs = {"over": "proportions", "needed": 6, "direction": "less", **sides}
    line = claims_table([claim(**runs)]).splitlines()[-1]
    assert "6 runs could decide, if all agree; points against the claim" in line
    other = {"right": {"label": "other", "mean": 0.0, "count": 0, "runs": 4}}
    line = claims_table([claim(**runs, **other)]).splitlines()[-1]
    assert "6 runs a side could decide, if all agree; points against the claim" in line
    alike = {"right": {"label": "other", "mean": 1.0, "count": 4, "runs": 4}}
    assert "against" not in claims_table([claim(**runs, **alike)])
