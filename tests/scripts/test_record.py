"""Recording as a process: what is kept, what is dropped, and what a person is told."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model.probes.checkpoint_ranks import Record
from tests.scripts.conftest import Job
from tests.scripts.processes import Outcome, Running, coded, command, wait_in_loading
from tests.sealing import change, flip
from workflow.planning.identity import canonical

pytestmark = pytest.mark.xdist_group("scripts")


@dataclass(frozen=True)
class Recording:
    """A finished run to be recorded."""

    job: Job
    recorder: dict[str, Any]

    @property
    def out(self) -> Path:
        return self.job.folder / "record.npz"

    @property
    def kept(self) -> list[str]:
        """The weights that are left, in the store and among the outputs."""
        places = (self.job.entry / "result", self.job.out)
        return sorted(
            f"{place.name}/{path.name}"
            for place in places
            for path in (place / "checkpoints").iterdir()
        )

    def of_checkpoints(self, *updates: int) -> "Recording":
        """The same run, as if these had been asked for."""
        job = self.job.sealed(checkpoints=list(updates))
        change(job.out / "run.json", lambda run: run.update(identity=job.spec["identity"]))
        return replace(self, job=job)

    def record(self, torch: bool = True, **more: str) -> Outcome:
        """Record in a process of its own."""
        arguments = self.job.reading(self.out, "--recorder", canonical(self.recorder))
        return command("record", arguments, torch=torch, **more)


EVERY = [f"{place}/step-{n}.safetensors" for place in ("out", "result") for n in (13, 4)]


@pytest.fixture
def recording(whole: Job, copied: Any) -> Recording:
    """The finished run, not yet recorded."""
    node = {
        "path": "model.probes.learning.learning_record:learning_record",
        "values": {"path": "tests.scripts.probes:said"},
        "dev": 7,
    }
    return Recording(copied(whole), coded(node))


def test_checkpoints_are_recorded_and_dropped_and_the_record_is_made_once(recording):
    assert recording.kept == EVERY
    outcome = recording.record()
    assert outcome.status == 0, outcome.said
    *counted, last = outcome.said.splitlines()
    assert [line.split(", ")[:2] for line in counted] == [
        [f"checkpoint {at} of 3", f"update {step}"] for at, step in enumerate((0, 4, 13), 1)
    ]
    assert [line.endswith(" left") for line in counted] == [False, True, True]
    assert last.startswith("3 checkpoints, ")
    record = Record.read(recording.out)
    assert record.steps.tolist() == [0, 4, 13]
    split = record.splits["dev"]
    assert len(split.lengths) == 7
    assert len(set(split.performance["accuracy"].tolist())) == 3
    assert recording.kept == []
    # What is in the store needs neither weights nor torch.
    written = recording.out.read_bytes()
    recording.out.unlink()
    assert recording.record(torch=False).status == 0
    assert recording.out.read_bytes() == written
    # Outputs that are taken from the store again lack the weights, and that is no mistake.
    shutil.rmtree(recording.job.out)
    assert recording.job.train().status == 0
    recording.out.unlink()
    assert recording.record(torch=False).status == 0
    assert recording.out.read_bytes() == written


def test_update_0_is_what_the_seed_tells(recording):
    from model.batches.corpus import Corpus
    from model.training.loop import build_model

    assert recording.record().status == 0
    job = recording.job
    model = build_model(job.spec, Corpus(job.data))
    weight = float(sum(p.detach().double().sum() for p in model.parameters()))
    found = Record.read(recording.out).splits["dev"].performance["accuracy"]
    assert np.isclose(found[0], weight)


def test_the_weights_stay_where_that_is_set(recording):
    assert recording.record(SACCADE_KEEP_CHECKPOINTS="1").status == 0
    assert recording.kept == EVERY


def test_weights_that_were_dropped_are_told(recording):
    assert recording.record().status == 0
    more = {"path": recording.recorder["path"], "values": recording.recorder["values"], "dev": 9}
    other = replace(recording, recorder=more | {"code": recording.recorder["code"]})
    error = other.record().error
    assert "the weights of update 4 are not kept any more" in error
    assert f"`make forget RUN={recording.job.spec['identity']}`" in error
    assert "keep_checkpoints: true" in error


def test_weights_that_cannot_be_removed_are_told_and_the_record_stays(recording):
    extra = recording.job.entry / "result/checkpoints/step-9.safetensors"
    extra.mkdir()
    error = recording.record().error
    assert f"{extra}" in error and "is recorded" in error
    assert error.endswith("mend the cause and run the same command again.")
    assert recording.out.is_file()
    extra.rmdir()
    assert recording.record(torch=False).status == 0 and not recording.kept


def test_a_checkpoint_beyond_the_last_update_is_told(recording):
    other = recording.of_checkpoints(4, 13, 9999)
    steps = other.job.record["steps"]
    assert f"checkpoint 9999 is beyond its last update, {steps}" in other.record().error


def test_a_run_that_has_not_finished_is_told(recording):
    for name in ("run.json", "spec.json"):
        (recording.job.out / name).unlink()
    error = recording.record(torch=False).error
    assert "the run to record does not exist" in error
    assert "train it first" in error


def test_other_code_than_planned_is_refused(recording):
    other = replace(recording, recorder=recording.recorder | {"code": "0" * 16})
    assert "the code of the record has changed" in other.record(torch=False).error
    assert recording.kept == EVERY


def test_a_run_without_checkpoints_is_recorded_as_it_ended(recording):
    other = recording.of_checkpoints()
    assert other.record().status == 0
    assert Record.read(recording.out).steps.tolist() == [other.job.record["best_step"]]


def test_a_record_that_is_damaged_in_the_store_is_made_again(recording):
    keep = {"SACCADE_KEEP_CHECKPOINTS": "1"}
    assert recording.record(**keep).status == 0
    written = recording.out.read_bytes()
    (kept,) = (recording.job.entry / "records").glob("*.npz")
    for damaged in (kept, kept.with_suffix(".json")):
        flip(damaged, 99)
        outcome = recording.record(**keep)
        assert outcome.status == 0
        first = outcome.said.splitlines()[0]
        assert first.startswith(f"{damaged} is damaged")
        assert first.endswith(f"; it is now {kept}.damaged, and has to be recorded again.")
        assert recording.out.read_bytes() == written == kept.read_bytes()
        assert recording.record(torch=False, **keep).status == 0


def test_a_checkpoint_that_is_damaged_is_not_recorded(recording):
    for folder in (recording.job.out, recording.job.entry / "result"):
        flip(folder / "checkpoints/step-4.safetensors", 999)
    error = recording.record(torch=False).error
    checkpoints = recording.job.out / "checkpoints"
    assert error.startswith(f"{checkpoints}/step-4.safetensors is damaged; {checkpoints}.damaged")
    assert not checkpoints.exists() and not recording.out.exists()


def test_who_comes_too_late_takes_what_another_process_recorded(recording, tmp_path):
    """Which dropped the checkpoints while this one was about to read them."""
    job = recording.job
    begun = Running(
        "record", job.reading(tmp_path / "late.npz", "--recorder", canonical(recording.recorder)),
        tmp_path / "said.txt", wait_in_loading(tmp_path / "go"),
    )  # fmt: skip
    begun.until(tmp_path / "go.waits")
    assert recording.record().status == 0 and recording.kept == []
    (tmp_path / "go").touch()
    outcome = begun.end()
    assert outcome.status == 0, outcome.said
    assert (tmp_path / "late.npz").read_bytes() == recording.out.read_bytes()
