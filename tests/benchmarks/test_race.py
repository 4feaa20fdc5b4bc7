"""Taking turns, the arithmetic of the ratios, and the page of the results."""

from benchmarks.race import race, summary
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


MACHINE = {"cpu": "A", "family": "1", "model": "2", "cores": 3, "torch": "4", "python": "5"}
MACHINE |= {"matrix_gflops": {"fp32": 80.4, "bf16": 160}}


def row(times, tokens=1234.5, **more):
    return more | {
        "tokens_per_cpu_second": tokens,
        "relative_cpu_time": sorted(times)[1],
        "relative_cpu_time_of_rounds": times,
    }


def test_a_page_has_a_table_for_each_race():
    shared = {"shape": "small", "machine": MACHINE}
    trained = {"torch": row([1, 1, 1]), "ours, bf16": row([0.5, 0.25, 0.4], 2000)}
    decoded = {"torch": row([1, 1, 1], translated_as_ours=7, sentences=8)}
    mechanisms = {"softmax": row([1, 1, 1]), "top-k": row([1.25, 2, 1])}
    text = page(
        {
            "b": shared | {"task": "decode", "beam": 4, "contenders": decoded},
            "a": shared | {"task": "train", "contenders": trained, "gflop_per_token": 0.02},
            "m": {"task": "mechanisms", "rows": "long", "contenders": mechanisms}
            | {"machine": MACHINE},
        }
    )
    training, search, long = text.split("\n\n## ")[1:]
    assert training.startswith("Training, small\n\n| contender | tokens/s | speed | share |\n")
    assert "\n| torch | 1,234 | 1.00 (1.00 to 1.00) | 0.31 |\n" in training
    assert "\n| ours, bf16 | 2,000 | 2.50 (2.00 to 4.00) | 0.25 |\n" in training
    assert "\n| torch | 1,234 | 1.00 (1.00 to 1.00) | 7 of 8 |\n" in search
    assert "\n| top-k | 1,234 | 0.80 (0.50 to 1.00) |\n" in long
    said = "One of 3 cores of A (family 1, model 2); large matrices: 80 GFLOP/s in single"
    assert all(said in section for section in (training, search, long))
