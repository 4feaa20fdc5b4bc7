"""Reading measures: broken and double files are named."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.equivalent import ROUNDING, accept, line
from tests.reporting.synthetic import Results, one_run
from tests.sealing import change, flip, put
from workflow.planning.equivalents import STATED
from workflow.reporting.measures import EvaluatedRun, Measures, crossed, earlier, provenance
from workflow.runtime.errors import ReportingError
from workflow.runtime.integrity import Damaged


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


def test_what_newer_code_does_not_give_is_not_read(
    results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = results.add("stack_language", "uniform_soft", 0)
    (before,) = Measures.read([path]).of("stack_language", "uniform_soft")
    name, told = next((name, it) for name, it in before.evaluators.items() if it["scalars"])
    metric = next(iter(told["scalars"]))
    accept(monkeypatch, {**line(told["code"], "f" * 16), "drops": [metric]})
    (after,) = Measures.read([path]).of("stack_language", "uniform_soft")
    assert before.scalar(f"{name}.{metric}") is not None
    assert after.scalar(f"{name}.{metric}") is None
    assert after.evaluators[name]["arrays"] == told["arrays"]


@pytest.mark.parametrize(("accuracy", "copied"), [(95.0, 0), (95.1, 1), (None, None), (101, None)])
def test_a_bar_behind_a_measure_makes_it_an_outcome(
    accuracy: float | None, copied: int | None
) -> None:
    told = {"copying": {"scalars": {"accuracy": {"value": accuracy, "unit": "%", "n": 3}}}}
    run = replace(one_run("copying", 0), evaluators=told)
    assert run.outcome("copying.accuracy>95") == copied
    assert run.undefined("copying.accuracy>95") == (copied is None)


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


@pytest.mark.parametrize(
    ("value", "number"), [(0.25, 0.25), (3, 3.0), ("needs a library", None), (None, None)]
)
def test_a_text_is_no_number(value: float | str | None, number: float | None) -> None:
    run = one_run("model", 0)
    scored = {"scores": {"scalars": {"meteor": {"value": value}}, "arrays": {}}}
    assert replace(run, evaluators=scored).number("scores.meteor") == number


def test_partners_are_the_other_runs_that_an_evaluator_read() -> None:
    own, other, uniform = "toy/model/seed-0", "toy/model/seed-1", "toy/uniform/seed-100"
    read = {"probe.record": [own], "probe.others": [other], "probe.uniform": [uniform]}
    run = replace(one_run("model", 0), records={**read, "accuracy.uniform": ["toy/a/seed-7"]})
    assert run.partners("probe.agreement") == [other, uniform]
    assert run.partners("accuracy.accuracy") == ["toy/a/seed-7"]
    assert run.partners("prob.agreement") == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *((f"probe.{it}", True) for it in ("alpha_beta", "tau_alpha_alpha", "xi_alpha_uniform")),
        *((f"probe.{name}", False) for name in ("alpha_uniform", "alpha_frozen", "xi_star")),
        ("regression.uniform_proxy", True),
        ("accuracy.accuracy", False),
    ],
)
def test_seeds_that_are_read_beside_each_other_are_crossed(name: str, expected: bool) -> None:
    def run(variant: str, seed: int) -> EvaluatedRun:
        here = [f"toy/{variant}/seed-{one}" for one in (0, 1)]
        of_it = {"record": [here[seed]], "others": [here[1 - seed]]}
        read = {f"probe.{argument}": keys for argument, keys in of_it.items()}
        read["probe.uniform"] = [f"toy/uniform/seed-{100 + seed}"]
        records = {**read, "regression.proxy": ["toy/proxy/seed-0"]}
        return replace(one_run(variant, seed), records=records)

    pair = [(run("model", seed), name) for seed in (0, 1)]
    assert crossed(pair) is expected
    assert not crossed(pair[:1]) and not crossed([pair[0], pair[0]])
    # What two sides share, seed by seed, is no fault.
    assert not crossed([pair[0], (run("model", 0), "probe.xi_star"), (run("other", 0), name)])


def test_measures_files_name_the_records_that_were_read(results: Results) -> None:
    path = results.add("stack_language", "uniform_soft", 0)
    assert Measures.read([path]).of("stack_language", "uniform_soft")[0].records == {}
    change(path, lambda measures: measures.update(records={"e.one": ["a/b/seed-1"]}))
    (run,) = Measures.read([path]).of("stack_language", "uniform_soft")
    assert run.partners("e.value") == ["a/b/seed-1"]


def timed(seed: int, device: str, speed: float) -> EvaluatedRun:
    """A run with its accuracy and how fast it was."""
    speeds = {"scalars": {"relative": {"value": speed, "unit": "softmax = 1"}}, "arrays": {}}
    right = {"scalars": {"accuracy": {"value": 50.0 + seed, "unit": "%"}}, "arrays": {}}
    return EvaluatedRun(
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


A, B, C = (letter * 16 for letter in "abc")


@pytest.mark.parametrize(
    ("codes", "speeds"),
    [
        (["a", "a", "a"], [1.0, 2.0, 3.0]),
        (["a", "b", "a"], [None, 2.0, None]),
        (["b", "a built by b", "c"], [1.0, 2.0, None]),
        (["e ran by a", "e ran by b", "e"], [None, 2.0, 3.0]),
    ],
)
def test_timings_are_by_code_that_was_in_use_at_one_time(
    codes: list[str], speeds: list[float | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Codes are those of runs, `e` that of an evaluator, which changed with another one's."""
    accept(monkeypatch, line(A, B), line(C, "d" * 16), line("e" * 16, "f" * 16, STATED))
    made = []
    for seed, said in enumerate(codes):
        one = timed(seed, "cpu", seed + 1.0)
        code, _, other = said.partition(" ")
        told: dict[str, Any] = {"code": "9" * 16}
        if code == "e":
            told = {"code": code * 16}
        if other:
            kind, _, hashed = other.partition(" by ")
            told[kind] = hashed * 16
        one.evaluators["speed"].update(told)
        made.append(replace(one, provenance={"device": "cpu", "spec": {"code": code * 16}}))
    group = Measures(made).of("toy", "one")
    assert [one.number("speed.relative") for one in group] == speeds
    assert [one.number("accuracy.accuracy") for one in group] == [50.0, 51.0, 52.0]
    assert {one.elsewhere.get("speed") for one in group} <= {None, "by earlier code"}


def test_a_run_by_earlier_code_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    accept(monkeypatch, line(A, B, ROUNDING), line(B, C), line("0" * 16, A, STATED))
    found = {}
    for code in (A, B, C, "0" * 16, "7" * 16):
        run = {"code": code, "spec": {"code": "7" * 16 if code[0] == "7" else A}}
        found[code[0]] = earlier(run)
        said = provenance(replace(timed(0, "cpu", 1.0), provenance=run)).get("earlier", "")
        assert said == found[code[0]]
    rounding = "by earlier code, same to rounding"
    stated = "by earlier code, stated to be the same, not proven"
    assert found == {"a": rounding, "b": "", "c": "", "0": stated, "7": ""}
    resumed = {"code": C, "spec": {"code": A}, "continuations": [{"code": A}, {}]}
    assert earlier(resumed) == rounding
    assert earlier({}) == ""
