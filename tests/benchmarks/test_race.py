"""Taking turns, the arithmetic of the ratios, and the page of the results."""

import pytest

from benchmarks.race import machine, race, summary
from benchmarks.table import page


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


MACHINE = {"cpu": "A", "family": "1", "model": "2", "cores": 3, "torch": "4", "python": "5"}


def row(times, tokens=1234.5):
    return {
        "tokens_per_cpu_second": tokens,
        "relative_cpu_time": sorted(times)[1],
        "relative_cpu_time_of_rounds": times,
    }


def test_ours_counts_in_multiples_of_torch_and_a_mechanism_of_softmax():
    ours = {"ours": row([1, 1, 1]), "torch, default": row([2, 4, 3]), "torch, fast": row([1, 2, 1])}
    mechanisms = {"softmax": row([1, 1, 1]), "top-k": row([1.25, 2, 1])}
    shared = {"shape": "small", "machine": MACHINE}
    text = page(
        {
            "b": shared | {"task": "decode", "beam": 4, "contenders": ours},
            "a": shared | {"task": "train", "contenders": ours},
            "m": shared | {"task": "mechanisms", "contenders": mechanisms},
        }
    )
    numbers = "1,234 | 3.00 (2.00 to 4.00) | 1.00 (1.00 to 2.00) |"
    assert f"| small | training | {numbers}\n| small | search, beam 4 | {numbers}\n" in text
    assert "| small | top-k | 0.80 (0.50 to 1.00) |\n" in text
    assert text.endswith("\n\nMeasured on A (family 1, model 2, 3 cores), torch 4, Python 5.\n")
