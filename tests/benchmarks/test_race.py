"""Taking turns, the arithmetic of the ratios, and the page of the results."""

import json

import pytest
import torch

from benchmarks import ceiling
from benchmarks.race import machine, race, summary
from benchmarks.record import MEASURED, record
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


def test_times_are_per_token():
    def turn(tokens, seconds):
        return {"tokens": tokens, "cpu": seconds, "wall": seconds}

    rows = summary({"a few": [{}, turn(10, 5)], "all": [{}, turn(40, 2)]})
    assert rows["all"]["relative_cpu_time"] == 0.1


def test_the_machine_is_described():
    told = machine()
    assert told["cores"] >= 1
    assert told["torch"]
    assert told["load"] == pytest.approx(told["load"])


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


def test_a_result_is_kept_beside_the_others(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(ceiling, "SIZE", 64)
    record("one", tmp_path, {"task": "a"})
    record("two", tmp_path, {"task": "b"})
    known = json.loads((tmp_path / MEASURED).read_text())
    assert [known[name]["task"] for name in ("one", "two")] == ["a", "b"]
    assert set(known["one"]["machine"]["matrix_gflops"]) == {"fp32", "bf16"}
    assert '"b"' in capsys.readouterr().out


def test_the_matrix_rate_is_positive_and_leaves_the_mode_as_it_was(monkeypatch):
    monkeypatch.setattr(ceiling, "SIZE", 256)
    mode = torch.get_float32_matmul_precision()
    assert min(ceiling.matrix_rates().values()) > 0
    assert torch.get_float32_matmul_precision() == mode
