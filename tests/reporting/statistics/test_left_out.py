"""A decided claim is fragile by each seed without which another verdict comes out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.reporting.synthetic import judged, one_run
from workflow import ROOT
from workflow.reporting.claims import judging
from workflow.reporting.claims.judged import read_claims
from workflow.reporting.measures import EvaluatedRun

TOY = {"measure": "probe.m", "unit": "points", "label": "m", "digits": 2}


def runs_of(left: Sequence[float], right: Sequence[float]) -> list[EvaluatedRun]:
    sides = {"good": left, "bad": right}
    return [
        one_run(side, seed, {"m": value})
        for side, values in sides.items()
        for seed, value in enumerate(values)
    ]


def side_of(values: np.ndarray, level: float, margin: float = 0.0) -> int:
    """Return on which side of the margin the interval of scipy lies, 0 where on neither."""
    if len(values) < 2:
        return 0
    low, high = stats.t.interval(level, len(values) - 1, np.mean(values), stats.sem(values))
    return int(low > margin) - int(high < margin)


def slowly(values: Sequence[float], level: float = 0.95, margin: float = 0.0) -> int:
    whole = side_of(np.array(values), level, margin)
    rest = [np.delete(np.array(values), place) for place in range(len(values))]
    return sum(side_of(one, level, margin) != whole for one in rest)


@pytest.mark.parametrize("seeds", [2, 3, 5])
@pytest.mark.parametrize("looks", [1, 2])
def test_leaving_out_each_seed_is_scipys(
    seeds: int, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one look, or the last of several: each interval has the level of one look."""
    planned = tuple(range(seeds - looks + 1, seeds + 1)) if looks > 1 else ()
    monkeypatch.setattr(judging, "looks_of", lambda claims, scale, name: planned)
    random, decided = np.random.default_rng([seeds, looks]), []
    for _ in range(8):
        left, right = random.normal(105 + 30 / seeds, 2, seeds), random.normal(105, 2, seeds)
        found = judged(runs_of(left, right), **TOY)
        expected = slowly(left - right, 1 - 0.05 / looks)
        assert found["fragile"] == (None if found["verdict"] == "undecided" else expected)
        decided.append(found["fragile"])
    assert seeds == 2 or len({*decided} - {None}) > 1


@pytest.mark.parametrize(("seeds", "fragile"), [(3, 3), (4, 0)])
def test_two_seeds_that_share_trainings_decide_nothing_when_one_is_left_out(
    seeds: int, fragile: int
) -> None:
    runs = runs_of([19.0, 19.1, 19.0, 19.1][:seeds], [11.0, 11.0, 11.1, 11.0][:seeds])
    shared = [replace(run, records={"probe.one": ["e/v/seed-9"]}) for run in runs]
    assert judged(shared, **TOY)["fragile"] == fragile
    assert judged(runs, **TOY)["fragile"] == 0


@pytest.mark.parametrize(
    ("left", "right", "fragile"),
    [
        # 6 of 6 exceed one half (.025^(1/6) = .54), and 5 of 5 do not (.48); 7 of 7 leave 6 of 6.
        ([1] * 6, {"value": 0.5}, 6),
        ([1] * 7, {"value": 0.5}, 0),
        ([1] * 4, [0] * 4, 8),  # Fisher's p of 3 and 4 that agree is 2 / 35 = .057
        ([1] * 5, [0] * 5, 0),
    ],
)
def test_of_proportions_each_run_of_both_sides_is_left_out(
    left: list[int], right: Any, fragile: int
) -> None:
    claim = {**TOY, "unit": "fraction", "over": "proportions"}
    if isinstance(right, dict):
        found = judged(runs_of(left, []), **claim, right=right)
    else:
        found = judged(runs_of(left, right), **claim)
    assert (found["verdict"], found["fragile"]) == ("holds", fragile)


@pytest.mark.parametrize("path", sorted((ROOT / "docs/reproduction/lite/claims").glob("*.json")))
def test_what_is_published_is_fragile_by_scipys(path: Any) -> None:
    """By the seeds' differences; where two seeds share trainings they decide nothing."""
    for claim in read_claims(path):
        if claim.over == "runs" and claim.fragile is not None and claim.direction != "equal":
            level = 1 - 0.05 / max(len(claim.looks), 1)
            expected = slowly(claim.by_seed, level, claim.margin)
            every = claim.crossed and len(claim.by_seed) == 3
            assert claim.fragile == (3 if every else expected), claim.id
