"""Measuring as a process: every evaluator runs once, and mistakes are told in one sentence."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model.probes.checkpoint_ranks import Record
from tests.model.specs import part
from tests.scripts.conftest import Job
from tests.scripts.processes import Interference, Outcome, Running, coded, command, new_code
from tests.sealing import change, flip, put, relist
from workflow.planning.identity import canonical
from workflow.runtime.integrity import checksums_of, read_verified
from workflow.scripts.job import write_record

pytestmark = pytest.mark.xdist_group("scripts")


@dataclass(frozen=True)
class Measuring:
    """A finished run to be measured."""

    job: Job
    evaluators: dict[str, Any]

    @property
    def out(self) -> Path:
        return self.job.folder / "measures.json"

    @property
    def found(self) -> dict[str, Any]:
        return read_verified(self.out)["evaluators"]

    @property
    def cached(self) -> dict[str, int]:
        """What the store holds, and when it was written."""
        folder = self.job.entry / "measures"
        return {path.name: path.stat().st_mtime_ns for path in folder.glob("*")}

    def arguments(self, *more: str) -> list[str]:
        """The command line of `measure`."""
        nodes = ("--evaluators", canonical(self.evaluators))
        return self.job.reading(self.out, *nodes, *more)

    def measure(self, *more: str, before: Interference | None = None) -> Outcome:
        """Measure in a process of its own."""
        return Running("measure", self.arguments(*more), self.job.folder / "said", before).end()

    def light(self) -> Outcome:
        """Measure in a process that cannot import torch."""
        return command("measure", self.arguments(), torch=False)

    def refused(self) -> str:
        """The sentence of `measure` when it refuses before it imports torch; nothing is written."""
        error = self.light().error
        assert not self.out.exists() and not self.cached
        return error


@pytest.fixture
def measuring(whole: Job, copied: Any) -> Measuring:
    """The finished run, not yet measured."""
    nodes = {
        "accuracy": part("probes.quality.accuracy:accuracy"),
        "importance": part("probes.importance.classification:attention_importance", tokens=500),
    }
    nodes = {name: coded(node) for name, node in nodes.items()}
    return Measuring(copied(whole), nodes)


def ran(outcome: Outcome) -> list[str]:
    """The evaluators that ran."""
    assert outcome.status == 0, outcome.said
    return [line.partition(":")[0] for line in outcome.said.splitlines()]


def test_each_evaluator_runs_once(measuring):
    outcome = command("measure", measuring.arguments())
    assert ran(outcome) == ["accuracy", "importance"]
    written = measuring.out.read_bytes()
    accuracy = measuring.found["accuracy"]
    assert set(accuracy) - {"ran", "built"} == {"code", "seconds", "scalars", "arrays"}
    assert 0 <= accuracy["scalars"]["accuracy"]["value"] <= 100
    assert len(measuring.found["importance"]["arrays"]["tau_norm"]) == 40

    measuring.out.unlink()
    shutil.rmtree(measuring.job.out)
    assert ran(measuring.light()) == []
    assert measuring.out.read_bytes() == written


def test_an_evaluator_that_names_the_history_gets_it(measuring):
    node = {"path": "tests.scripts.probes:steps"}
    measuring.evaluators["steps"] = coded(node)
    assert "steps" in ran(measuring.measure())
    expected = [row["step"] for row in measuring.job.history]
    assert len(expected) > 2 and measuring.found["steps"]["arrays"]["step"] == expected


def test_measures_tell_how_the_loss_fell(measuring):
    measuring.measure()
    losses = [row["loss"] for row in measuring.job.history if row["split"] == "train"]
    last = losses[-(len(losses) // 10) :]
    told = {"first": losses[0], "last": pytest.approx(sum(last) / len(last))}
    assert len(losses) >= 20 and read_verified(measuring.out)["losses"] == told


def test_an_evaluator_that_names_further_data_gets_it(measuring, tmp_path):
    """It is measured again when these data change, and then only."""
    one, other = (further(tmp_path / name, name) for name in ("one", "other"))
    node = {"path": "tests.scripts.probes:words", "tagged": {"dataset": "it"}, "count": 2}
    measuring.evaluators["words"] = coded(node)
    given = ("--further", f"words.tagged={one}")
    assert "words" in ran(measuring.measure(*given))
    assert measuring.found["words"]["arrays"]["words"] == ["one_a", "one_b"]
    assert ran(measuring.measure(*given)) == []
    assert ran(measuring.measure("--further", f"words.tagged={other}")) == ["words"]
    assert measuring.found["words"]["arrays"]["words"] == ["other_a", "other_b"]
    flip(one / "vocabulary.txt", 3)
    error = measuring.measure(*given).error
    assert error.startswith(f"{one / 'vocabulary.txt'} is damaged; where it is one of the")


def test_an_evaluator_gets_the_records_that_it_names(measuring):
    """It is measured again when one of them changes, and with none where a seed is not run."""
    folder = measuring.job.folder / "demo/records"
    files = [recorded(folder / f"{n}.npz", n) for n in (1, 2, 3)]
    node = {
        "path": "tests.scripts.probes:seen",
        "record": {"variant": "discrete"},
        "others": {"variant": "discrete", "others": True},
    }
    measuring.evaluators["seen"] = coded(node) | {"recorded": "r"}
    names = ("seen.record", "seen.others", "seen.others")
    given = [x for pair in zip(names, files, strict=True) for x in ("--record", "=".join(pair))]
    assert "seen" in ran(measuring.measure(*given))
    found = measuring.found["seen"]
    assert found["arrays"] == {"own": [[1]], "others": [[2], [3]]}
    assert found["recorded"] == "r"
    assert read_verified(measuring.out)["records"] == {
        "seen.record": ["demo/records/1"],
        "seen.others": ["demo/records/2", "demo/records/3"],
    }
    assert ran(measuring.measure(*given)) == []
    recorded(Path(files[0]), 9)
    assert ran(measuring.measure(*given)) == ["seen"]
    assert measuring.found["seen"]["arrays"]["own"] == [[9]]
    assert ran(measuring.measure()) == ["seen"]
    assert measuring.found["seen"]["arrays"] == {"own": [None], "others": []}
    absent = measuring.measure("--record", f"seen.record={folder}/absent.npz").error
    assert absent.endswith(f"{folder}/absent.npz does not exist: record that run first.")
    write_record(Path(files[1]), b"PK", "")
    assert f"{files[1]} is no record of a run" in measuring.measure(*given).error
    flip(Path(files[0]), 99)
    error = measuring.measure(*given).error
    assert error.startswith(f"{files[0]} is damaged; {files[0]}.damaged is what was set aside")
    assert not Path(files[0]).exists()


def recorded(path: Path, step: int) -> str:
    """A record with nothing in it but the update of its checkpoint."""
    write_record(path, Record(np.array([step]), {}).content(), "")
    return str(path)


def further(folder: Path, name: str) -> Path:
    """An encoded corpus whose words begin with its name."""
    folder.mkdir()
    words = ["<pad>", "<bos>", "<unk>", *(f"{name}_{letter}" for letter in "abc")]
    (folder / "vocabulary.txt").write_text("\n".join(words) + "\n")
    files = checksums_of(folder, ["vocabulary.txt"])
    put(folder / "manifest.json", {"digest": name, "files": files})
    return folder


def test_a_damaged_result_is_restored_from_the_store(measuring, whole):
    job, path = measuring.job, measuring.job.out / "weights.safetensors"
    flip(path, 2000)
    outcome = measuring.measure()
    assert outcome.status == 0 and "it is restored from the store" in outcome.said
    assert f"{path} is damaged" in outcome.said
    assert job.like(whole) and job.record == whole.record


def test_a_result_that_is_damaged_in_the_store_too_is_told(measuring):
    path, result = measuring.job.out / "history.jsonl", measuring.job.entry / "result"
    for damaged in (path, result / path.name):
        flip(damaged, 2000)
    error = measuring.light().error
    assert error == (
        f"{path} is damaged; {path}.damaged is what was set aside: "
        f"run the same command again to make it anew."
    )
    assert not measuring.out.exists() and not measuring.cached
    assert not path.exists() and not result.exists()
    assert result.with_name("result.damaged").is_dir()


def test_what_was_found_and_is_damaged_is_measured_again(measuring):
    assert measuring.measure().status == 0
    (path,) = (measuring.job.entry / "measures").glob("accuracy-*.json")
    flip(path, 999)
    outcome = measuring.measure()
    assert outcome.status == 0 and f"it is now {path}.damaged, and measured again" in outcome.said
    assert [line.partition(":")[0] for line in outcome.said.splitlines()[1:]] == ["accuracy"]
    assert read_verified(path) == measuring.found["accuracy"]


def test_new_code_of_one_evaluator_runs_that_one(measuring):
    assert ran(measuring.measure()) == ["accuracy", "importance"]
    before, old = measuring.cached, measuring.found
    measuring.evaluators["accuracy"]["code"] = "new"
    assert ran(measuring.measure(before=new_code("model.probes.quality.accuracy"))) == ["accuracy"]
    assert before.items() < measuring.cached.items() and len(measuring.cached) == 3
    assert measuring.found["importance"] == old["importance"]
    assert measuring.found["accuracy"]["code"] == "new"
    assert measuring.found["accuracy"]["scalars"] == old["accuracy"]["scalars"]


def test_what_was_found_before_a_mistake_is_kept(measuring):
    node = part("probes.importance.classification:absent", code="0" * 16)
    measuring.evaluators["importance"] = node
    error = measuring.measure().said.splitlines()[-1]
    assert error.startswith("error: the code of evaluator 'importance' cannot be read")
    assert 'defines no "absent"' in error
    assert len(measuring.cached) == 1 and not measuring.out.exists()


def test_an_evaluator_that_does_not_fit_is_named_with_a_way_out(measuring):
    del measuring.evaluators["importance"]
    path = "model.probes.importance.classification:token_scores"
    measuring.evaluators["scores"] = coded({"path": path})
    said = measuring.measure().said
    assert "Traceback" in said and len(measuring.cached) == 1 and not measuring.out.exists()
    error = said.splitlines()[-1]
    assert error.startswith(f"error: evaluator 'scores' ({path}) fails with TypeError: ")
    assert error.endswith("leave it out (evaluators: {scores: null})")


def test_what_was_planned_otherwise_or_is_not_there_is_refused(measuring):
    job, nodes = measuring.job, measuring.evaluators

    def refused(**changes):
        return Measuring(changes.pop("job", job), nodes | changes).refused()

    error = refused(accuracy=nodes["accuracy"] | {"code": "0" * 16})
    assert "the code of evaluator 'accuracy' has changed" in error
    assert "the code of run" in refused(job=job.sealed(code="0" * 16))
    other = job.sealed(training=job.spec["training"] | {"epochs": 1})
    said = f"is run {job.spec['identity']}, not run {other.spec['identity']}"
    assert said in refused(job=other)
    absent = job.folder / "absent"
    error = refused(job=replace(job, data=absent))
    assert error.startswith(f"{absent / 'manifest.json'} is missing")
    other = shutil.copytree(job.data, job.folder / "other")
    change(other / "manifest.json", lambda manifest: manifest.update(digest="0" * 64))
    error = Measuring(replace(job, data=other), nodes).measure().error
    assert f"is not what run {job.spec['identity']} was planned with" in error
    shutil.rmtree(job.out)
    assert "the trained run does not exist" in refused()


def test_weights_of_another_architecture_are_told(measuring):
    from safetensors.torch import load_file, save_file

    path = measuring.job.out / "weights.safetensors"
    weights = load_file(path)
    weights["output.weight"] = weights["output.weight"][:, :8].contiguous()
    save_file(weights, path)
    relist(measuring.job.out / "run.json")
    error = measuring.measure().error
    assert f"{path} belong to another architecture" in error and "'output.weight'" in error
    assert not measuring.out.exists() and not measuring.cached


def test_a_place_that_cannot_be_written_to_is_told(measuring):
    assert measuring.measure().status == 0
    measuring.out.unlink()
    measuring.out.mkdir()
    (measuring.out / "file").touch()
    error = measuring.light().error
    assert "cannot be measured" in error and str(measuring.out) in error
    assert [path.name for path in measuring.job.folder.glob(".*")] == []
