"""Two seeds that are read beside each other are one pair of trainings, and decide nothing."""

from dataclasses import replace

import pytest

from tests.reporting.synthetic import judged, one_run


@pytest.mark.parametrize(
    ("seeds", "read", "verdict"),
    [(2, [], "holds"), (2, ["e/v/seed-9"], "undecided"), (3, ["e/v/seed-9"], "holds")],
)
def test_two_seeds_that_share_trainings(seeds: int, read: list[str], verdict: str) -> None:
    runs = [
        replace(one_run(side, seed, {"m": value}), records={"probe.one": read})
        for side, values in (("good", (0.9, 0.91, 0.9)), ("bad", (0.1, 0.1, 0.1)))
        for seed, value in enumerate(values[:seeds])
    ]
    found = judged(runs, measure="probe.m", unit="fraction", label="m", digits=2)
    assert (found["verdict"], found["p"] is None) == (verdict, verdict == "undecided")
