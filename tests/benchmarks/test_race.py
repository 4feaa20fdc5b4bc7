"""Taking turns, and the arithmetic of the ratios."""

import pytest

from benchmarks.race import machine, race, summary


def counting(job):
    """A contender that says which round it was given."""
    return lambda turn: {"tokens": job["tokens"], "turn": turn}


def test_every_contender_has_every_round():
    results = race(counting, {"one": {"tokens": 10}, "two": {"tokens": 20}}, 2)
    assert [turn["turn"] for turn in results["two"]] == [-1, 0, 1]
    assert all(turn["wall"] > 0 <= turn["cpu"] for turn in results["one"])
    assert {turn["tokens"] for turn in results["two"]} == {20}


def test_ratios_are_medians_over_rounds_without_the_first():
    def turns(*seconds):
        return [{"tokens": 12, "cpu": s, "wall": 2 * s} for s in seconds]

    rows = summary({"ours": turns(99, 1, 2, 4), "theirs": turns(99, 3, 4, 20)})
    assert rows["theirs"]["relative_cpu_time_of_rounds"] == [3, 2, 5]
    assert rows["theirs"]["relative_cpu_time"] == 3
    assert rows["theirs"]["tokens_per_cpu_second"] == 3
    assert rows["theirs"]["tokens_per_wall_second"] == 1.5
    assert rows["ours"]["relative_wall_time"] == 1


def test_the_machine_is_described():
    told = machine()
    assert told["cores"] >= 1
    assert told["torch"]
    assert told["load"] == pytest.approx(told["load"])
