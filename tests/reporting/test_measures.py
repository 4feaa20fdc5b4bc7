"""Reading measures: broken and double files are named."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model.store.checksums import Damaged
from tests.reporting.synthetic import Results, one_run
from tests.sealing import change, flip, put
from workflow.errors import ReportingError
from workflow.reporting.measures import Measure, Measures


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"schema": 2}, "expected schema 1"),
        ({"schema": 1, "identity": "a", "run": {"seed": 0}}, "evaluators, experiment, variant"),
    ],
)
def test_broken_measures_are_named(tmp_path: Path, value: dict[str, Any], sentence: str) -> None:
    path = put(tmp_path / "seed-0.json", value)
    with pytest.raises(ReportingError, match=sentence) as error:
        Measures.read([path])
    assert str(path) in str(error.value)


@pytest.mark.parametrize("bit", [0, 100, 5000])
def test_damaged_measures_are_named(results: Results, bit: int) -> None:
    path = results.add("stack_language", "uniform_soft", 0)
    flip(path, bit)
    with pytest.raises(Damaged, match=r"seed-0\.json is damaged, or was changed by hand") as error:
        Measures.read([path])
    assert error.value.path == path


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ReportingError, match=r"none\.json: this file does not exist"):
        Measures.read([tmp_path / "none.json"])


def test_the_same_seed_twice_is_refused(results: Results) -> None:
    path = results.add("stack_language", "uniform_soft", 0)
    with pytest.raises(ReportingError, match="measure the same seed"):
        Measures.read([path, path])


def test_seeds_are_in_order_and_settings_are_found(results: Results) -> None:
    for seed in (10, 2, 0):
        results.add("stack_language", "uniform_soft", seed)
    group = results.read().of("stack_language", "uniform_soft")
    assert [one.seed for one in group] == [0, 2, 10]
    assert group[0].setting("data.train") == 50000
    assert group[0].setting("data.digest") == "d" * 64
    assert group[0].setting("training.optimizer.lr") == 0.002
    assert group[0].setting("data.nothing") is None
    assert group[0].scalar("receptive_field.nothing") is None


def test_partners_are_the_other_runs_that_an_evaluator_read() -> None:
    own, other, uniform = "toy/model/seed-0", "toy/model/seed-1", "toy/uniform/seed-100"
    read = {"probe.record": [own], "probe.others": [other], "probe.uniform": [uniform]}
    run = replace(one_run("model", 0), records={**read, "accuracy.uniform": ["toy/a/seed-7"]})
    assert run.partners("probe.agreement") == [other, uniform]
    assert run.partners("accuracy.accuracy") == ["toy/a/seed-7"]
    assert run.partners("prob.agreement") == []


def test_measures_files_name_the_records_that_were_read(results: Results) -> None:
    path = results.add("stack_language", "uniform_soft", 0)
    assert Measures.read([path]).of("stack_language", "uniform_soft")[0].records == {}
    change(path, lambda measures: measures.update(records={"e.one": ["a/b/seed-1"]}))
    (run,) = Measures.read([path]).of("stack_language", "uniform_soft")
    assert run.partners("e.value") == ["a/b/seed-1"]


def timed(seed: int, device: str, speed: float) -> Measure:
    """A run with its accuracy and how fast it was."""
    speeds = {"scalars": {"relative": {"value": speed, "unit": "softmax = 1"}}, "arrays": {}}
    right = {"scalars": {"accuracy": {"value": 50.0 + seed, "unit": "%"}}, "arrays": {}}
    return Measure(
        Path(f"seed-{seed}.json"),
        f"{seed:016}",
        {"experiment": "toy", "variant": "one", "seed": seed},
        {"speed": speeds, "accuracy": right},
        {"device": device},
    )


@pytest.mark.parametrize(
    ("devices", "speeds"),
    [
        (["cpu", "cpu"], [1.0, 2.0]),
        (["H200", "cpu", "H200"], [None, 2.0, None]),
        (["H100", "H200", "H200"], [None, 2.0, 3.0]),
        (["H200", "H100"], [1.0, None]),
    ],
)
def test_timings_are_of_one_kind_of_machine(devices: list[str], speeds: list[float | None]) -> None:
    made = [timed(seed, device, seed + 1.0) for seed, device in enumerate(devices)]
    group = Measures(made).of("toy", "one")
    assert [one.number("speed.relative") for one in group] == speeds
    assert [one.number("accuracy.accuracy") for one in group] == [50.0, 51.0, 52.0][: len(made)]
    assert ["speed" in one.elsewhere for one in group] == [speed is None for speed in speeds]
