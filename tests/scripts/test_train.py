"""Training as processes that are killed, stopped, overtaken, misled and run out of disk."""

import importlib
import json
import math
import os
import random
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from tests import sealing
from tests.scripts.conftest import Job
from tests.scripts.processes import (
    NEVER,
    ROOT,
    Interference,
    command,
    fill_disk,
    kill,
    kill_at_the_end,
    kill_while_copying_out,
    kill_while_saving,
    preempt,
    terminate,
    wait_for,
)
from tests.sealing import put, relist
from workflow.planning.code import Project
from workflow.planning.identity import run_roots
from workflow.runtime.atomic import ABANDONED, abandoned
from workflow.runtime.integrity import read_verified
from workflow.runtime.store import Entry
from workflow.scripts import train
from workflow.scripts.segments import read_segments
from workflow.scripts.train import margin

pytestmark = pytest.mark.xdist_group("scripts")


@pytest.fixture(scope="session")
def stopped(tmp_path_factory, spec, data):
    """The run, asked to stop when it had two states in the store; not to be changed."""
    job = Job(tmp_path_factory.mktemp("stopped"), spec, data)
    outcome = job.train(before=terminate(after=17, save_every=5))
    assert outcome.status == 75, outcome.said
    assert outcome.said.endswith("state saved.\n") and "stopped after update 18" in outcome.said
    return job


def test_an_undisturbed_run_leaves_all_its_files(whole):
    assert sorted(path.name for path in whole.out.iterdir()) == [
        "checkpoints", "history.jsonl", "run.json", "spec.json", "weights.safetensors"
    ]  # fmt: skip
    assert sorted(whole.checkpoints) == ["step-13.safetensors", "step-4.safetensors"]
    assert len({*whole.checkpoints.values()}) == 2
    assert whole.record["continuations"] == []
    assert whole.record["spec"] == whole.spec == read_verified(whole.out / "spec.json")
    assert {row["split"] for row in whole.history} == {"train", "dev"}
    assert sorted(path.name for path in whole.entry.iterdir()) == [
        "asked", "generation-1", "result"
    ]  # fmt: skip


def test_killed_at_random_steps_it_ends_bit_for_bit_as_undisturbed(job, whole):
    steps = random.Random(0).sample(range(2, 12), 3)
    for step in steps:
        assert job.train(before=kill(step, save_every=3)).status == -9
    assert job.train(before=kill_while_saving(2, save_every=3)).status == -9
    assert not job.out.exists()
    outcome = job.train("--save-every", "0")
    assert outcome.status == 0 and "resumed after update" in outcome.said
    assert job.like(whole)
    continuations = job.record["continuations"]
    assert [segment["exact"] for segment in continuations] == [True] * 4
    assert continuations[-1]["update"] > 0
    assert sorted(path.name for path in job.entry.iterdir()) == [
        "asked", *(f"generation-{n}" for n in range(1, 6)), "result"
    ]  # fmt: skip


def test_killed_between_the_last_update_and_the_result_it_goes_on(job):
    job.spec["training"]["average"] = {"last": 2, "updates": 5}
    job = job.sealed()
    assert job.train(before=kill_at_the_end).status == -9
    outcome = job.train()
    assert outcome.status == 0, outcome.said
    assert "resumed after" in outcome.said
    kept = {int(path.stem.removeprefix("step-")) for path in (job.out / "checkpoints").iterdir()}
    assert kept == set(job.spec["checkpoints"]) and not (job.entry / "kept").exists()


def test_killed_while_copying_out_it_is_whole_after_the_next_attempt(job, whole, monkeypatch):
    assert job.train(before=partial(kill_while_copying_out, job.out)).status == -9
    assert not (job.out / "run.json").exists()
    assert job.train().status == 0
    assert job.like(whole)
    (left,) = job.out.rglob(".*")
    assert left.parent == job.out / "checkpoints"
    monkeypatch.setattr(time, "time", lambda: left.stat().st_ctime + ABANDONED + 1)
    assert abandoned(job.folder) == [left]


def test_asked_to_stop_it_saves_and_can_be_continued(stopped, copied, whole):
    assert not stopped.out.exists()
    job = copied(stopped)
    outcome = job.train()
    assert outcome.status == 0 and "resumed after update 18" in outcome.said
    assert job.like(whole)


def test_what_slurm_preempts_saves_at_once_and_goes_on_until_it_is_killed(job, whole):
    assert job.train(before=preempt(warned=7, killed=11)).status == -9
    (state,) = job.states
    assert state.name in ("state-000000000007.pt", "state-000000000008.pt")
    assert job.train().status == 0 and job.like(whole)


def test_it_leaves_before_the_time_limit_and_the_next_attempt_goes_on(job, whole):
    for update in (1, 2):
        outcome = job.train("--time-limit", "0.001")
        assert outcome.status == 75
        said = f"the job's time limit is near: stopped after update {update} of"
        assert said in outcome.said and outcome.said.endswith("state saved.\n")
    assert "resumed after update 1 of" in outcome.said
    outcome = job.train("--time-limit", "86400")
    assert outcome.status == 0 and job.like(whole)
    assert [segment["update"] for segment in job.record["continuations"]] == [1, 2]


def test_the_time_that_is_left_to_save_grows_with_the_limit_up_to_half_of_it():
    limits = {60: 30, 110: 55, 300: 60, 1200: 60, 7200: 360, math.inf: 0}
    assert {limit: margin(limit) for limit in limits} == limits


def test_the_newer_of_two_processes_wins(job, whole):
    older = job.start(before=wait_for(job.entry / "generation-2", after=7, save_every=4))
    older.until(job.entry / "state-000000000004.pt")
    newer = job.start("--save-every", "0")
    assert newer.end().status == 0
    error = older.end().error
    assert "has taken over run" in error and "this older process leaves it alone" in error
    assert str(newer.process.pid) in error
    assert job.like(whole)


def test_an_older_process_that_wakes_up_late_leaves_the_result_alone(job, whole):
    older = job.start(before=wait_for(job.out / "run.json", after=1, save_every=NEVER))
    older.until(job.entry / "generation-1")
    assert job.train().status == 0
    published = (job.entry / "result" / "run.json").read_bytes()
    assert "has taken over run" in older.end().error
    assert (job.entry / "result" / "run.json").read_bytes() == published
    assert job.like(whole) and not list(job.folder.rglob(".*"))


def test_a_process_whose_run_is_forgotten_leaves_nothing_behind(job, tmp_path):
    forgotten = tmp_path / "forgotten"
    older = job.start(before=wait_for(forgotten, after=3, save_every=1))
    older.until(job.entry / "state-000000000002.pt")
    named = ["--results", str(job.store.parent), "--run", job.entry.name]
    forget = [sys.executable, "-m", "workflow", "forget", *named]
    assert subprocess.run(forget, cwd=ROOT, capture_output=True, check=False).returncode == 0
    forgotten.touch()
    assert "has taken over run" in older.end().error
    assert [path.name for path in job.entry.iterdir()] == ["generation-2"]
    assert job.untouched()


def test_a_diverging_run_is_told_once_and_tried_again_by_a_new_invocation(job):
    job.spec["training"]["optimizer"]["lr"] = 1e30
    job.spec["training"]["schedule"] = {"name": "constant"}
    job = job.sealed()
    said = "the loss or its gradient is not a finite number"
    assert said in command("train", job.arguments(), SACCADE_INVOCATION="first").error
    assert json.loads((job.entry / "failed.json").read_text())["invocation"] == "first"
    again = command("train", job.arguments(), torch=False, SACCADE_INVOCATION="first").error
    assert said in again and "not tried again" in again
    error = job.train().error
    assert said in error and "not tried again" not in error
    assert job.untouched()


def _raise(error: BaseException, module: str, name: str) -> None:
    os.environ["SACCADE_INVOCATION"] = "first"

    def fails(*_: Any) -> None:
        raise error

    setattr(importlib.import_module(module), name, fails)


def raising(error: BaseException, place: str = "model.training.loop:train") -> Interference:
    """Let a function of the process end at an error."""
    return partial(_raise, error, *place.split(":"))


def test_a_device_that_is_too_small_is_told(job):
    full = "CUDA out of memory. Tried to allocate 2.00 GiB.\nSee docs."
    error = job.train(before=raising(torch.OutOfMemoryError(full))).error
    assert "does not fit on the device: CUDA out of memory. Tried to allocate 2.00 GiB." in error
    assert "Lower training.batch.micro_tokens" in error and "See docs" not in error
    assert json.loads((job.entry / "failed.json").read_text())["reason"] in error
    assert job.untouched()


def test_a_mistake_in_the_code_of_a_run_is_not_tried_again(job):
    outcome = job.train(before=raising(KeyError("missing")))
    reason = f"error: run {job.spec['identity']} fails in its own code: KeyError: 'missing'"
    assert outcome.status == 1 and outcome.said.splitlines()[-1] == reason
    again = command("train", job.arguments(), torch=False, SACCADE_INVOCATION="first")
    assert again.status == 1 and again.said.splitlines()[-1].startswith(f"{reason} (found at ")
    for said in (outcome.said, again.said):
        assert said.count("Traceback (most recent") == 1 and "raise error" in said
    assert job.untouched() and job.train().status == 0


def test_what_a_retry_can_cure_is_tried_again(job):
    lost = RuntimeError("NCCL error: remote process exited or there was a network error")
    outcome = job.train(before=raising(lost))
    assert outcome.status == 1 and outcome.said.endswith("there was a network error\n")
    assert "Traceback" in outcome.said and not (job.entry / "failed.json").exists()
    assert command("train", job.arguments(), SACCADE_INVOCATION="first").status == 0


def test_a_finished_run_is_restored_without_torch_or_data_but_its_manifest(whole, copied):
    job = copied(whole)
    shutil.rmtree(job.out)
    manifest = put(job.folder / "data/manifest.json", read_verified(job.data / "manifest.json"))
    job = replace(job, data=manifest.parent)
    outcome = command("train", job.arguments(), torch=False)
    assert (outcome.status, outcome.said) == (
        0, f"run {job.spec['identity']} is in the store: nothing to train\n"
    )  # fmt: skip
    assert job.like(whole) and job.record == whole.record


def test_a_restored_run_bears_the_name_under_which_it_was_asked_for(whole, copied):
    job = copied(whole)
    assert (job.entry / "asked").read_text() == "out"
    job = replace(job, spec=job.spec | {"run": {"experiment": "another", "variant": "name"}})
    assert command("train", job.arguments(), torch=False).status == 0
    assert job.record["spec"]["run"] == {"experiment": "another", "variant": "name"}
    assert job.record["identity"] == whole.spec["identity"]


def test_a_result_that_is_damaged_in_the_store_is_trained_again(whole, copied):
    job = copied(whole)
    flip(job.entry / "result/weights.safetensors")
    outcome = job.train()
    assert outcome.status == 0 and "result/weights.safetensors is damaged" in outcome.said
    assert "result.damaged, and the run counts as not finished." in outcome.said
    assert job.like(whole)
    assert [path.name for path in job.entry.glob("result*")] == ["result"]


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def flip(path: Path) -> None:
    sealing.flip(path, 4 * path.stat().st_size)


def test_a_damaged_state_is_left_for_the_one_before(stopped, copied, whole):
    job = copied(stopped)
    flip(job.states[-1])
    outcome = job.train("--save-every", "0")
    assert outcome.status == 0
    assert "state-000000000018.pt is damaged and was removed" in outcome.said
    assert "resumed after update 15" in outcome.said
    assert [segment["update"] for segment in job.record["continuations"]] == [15]
    assert job.like(whole)


def test_a_run_that_other_code_began_says_so(stopped, copied, whole):
    """Whatever is proven of it, only the same code resumes bit for bit for sure."""
    job = copied(stopped)
    segments = json.loads((job.entry / "segments.json").read_text())
    running = Project(ROOT).hash(run_roots(job.spec))
    assert [segment["code"] for segment in segments] == [running]
    segments[0]["code"] = "0" * 16
    (job.entry / "segments.json").write_text(json.dumps(segments))
    assert job.train("--save-every", "0").status == 0
    (second,) = job.record["continuations"]
    assert job.record["began"]["code"] == "0" * 16 and job.record["code"] == running
    assert "code" not in second and not second["exact"]
    assert whole.record["code"] == running and "code" not in whole.record["began"]


def test_with_every_state_damaged_training_begins_anew(stopped, copied, whole):
    job = copied(stopped)
    for path in job.states:
        truncate(path)
    outcome = job.train(before=kill(after=4, save_every=2))
    assert "no whole state is left; training begins anew" in outcome.said
    outcome = job.train()
    assert "resumed after update 2" in outcome.said
    assert outcome.status == 0 and job.like(whole)


@pytest.fixture
def own_data(job):
    """The run, not yet begun, with data of its own to damage."""
    data = job.folder / "data/keywords/0123456789ab/encoded"
    shutil.copytree(job.data, data)
    return replace(job, data=data)


@pytest.mark.parametrize(
    ("damage", "name"), [(flip, "train.tokens.npy"), (Path.unlink, "manifest.json")]
)
def test_damaged_data_is_set_aside_as_a_whole(own_data, damage, name):
    data = own_data.data
    damage(data / name)
    error = own_data.refused()
    fault = "missing" if damage is Path.unlink else "damaged"
    assert error.startswith(f"{data / name} is {fault}")
    assert f"; {data}.damaged is what was set aside: run the same command again" in error
    assert not data.exists()
    assert own_data.untouched()


@pytest.mark.parametrize(
    ("section", "change", "says"),
    [
        ("model", {"path": "model.gone:Classifier"}, 'module "model.gone" has no file'),
        ("code", "0" * 16, "the code of run {} has changed since it was planned"),
    ],
)
def test_what_was_planned_otherwise_is_refused(job, section, change, says):
    changed = job.spec[section] | change if isinstance(change, dict) else change
    job = job.sealed(**{section: changed})
    assert says.format(job.spec["identity"]) in job.refused()


def child(job: Job, parent: Job, **changes: object) -> Job:
    """A run that starts from another's weights and changes them little."""
    training = job.spec["training"] | {"start_from": "base", "select": None, "epochs": 1}
    training["optimizer"] = {"lr": 1e-12, "betas": [0.9, 0.98]}
    parents = {"base": parent.spec["identity"]}
    changes = {"training": training, "parents": parents, "checkpoints": [2]} | changes
    return replace(job.sealed(**changes), parents={"base": parent.out})


def test_a_child_starts_from_its_parents_weights(job, whole):
    from safetensors.torch import load_file

    tuned = child(job, whole)
    assert tuned.train().status == 0
    assert sorted(tuned.checkpoints) == ["step-2.safetensors"]
    parent, own = (load_file(j.out / "weights.safetensors") for j in (whole, tuned))
    assert all(value.allclose(own[name], atol=1e-7) for name, value in parent.items())
    assert not tuned.like(whole)


def test_a_parent_that_does_not_exist_is_told(job, whole, tmp_path):
    tuned = child(job, whole)
    absent = replace(tuned, parents={"base": tmp_path / "absent"})
    said = f"parent 'base' does not exist: {tmp_path}/absent holds no spec.json; train it first."
    assert absent.refused() == said
    put(tmp_path / "absent/spec.json", whole.spec)
    assert f"does not exist: {tmp_path}/absent holds no run.json" in absent.refused()
    assert "is not given; add --parent base=" in replace(tuned, parents={}).refused()
    assert absent.untouched()


def test_a_parent_with_another_identity_than_its_spec_is_told(job, whole, copied):
    parent = copied(whole)
    other = job.sealed(seed=1).spec
    put(parent.out / "spec.json", other)
    assert f"is run {whole.spec['identity']}, not run {other['identity']}" in (
        child(job, parent).refused()
    )


def test_a_parent_of_another_architecture_is_told(job, whole):
    encoder = whole.spec["model"]["encoder"] | {"hidden": 24}
    tuned = child(job, whole, model=whole.spec["model"] | {"encoder": encoder})
    assert "the weights of parent 'base' belong to another architecture" in tuned.train().error
    assert tuned.untouched()


def test_a_parent_whose_weights_are_cut_short_is_told(job, whole, copied):
    parent = copied(whole)
    path = parent.out / "weights.safetensors"
    content = path.read_bytes()[:-100]
    path.write_bytes(content)
    assert f"{path} is damaged" in child(job, parent).refused()
    path.write_bytes(content)
    relist(parent.out / "run.json")
    assert f"{path} cannot be read" in child(job, parent).train().error


def test_a_damaged_parent_is_restored_from_the_store(whole, copied):
    parent = copied(whole)
    truncate(parent.out / "weights.safetensors")
    outcome = child(parent, parent).train()
    assert outcome.status == 0
    assert "weights.safetensors is damaged; it is restored from the store." in outcome.said


def test_a_checkpoint_beyond_the_last_epoch_is_told_before_the_first_update(job, whole):
    last = whole.record["steps"]
    longer = job.sealed(checkpoints=[4, last + 1])
    outcome = longer.train()
    each = f"training.epochs 3, of {last // 3} updates each in {job.data}"
    assert outcome.error == (
        f"checkpoints: {last + 1} is beyond the last update, {last} ({each}); take it away, or "
        f"raise training.epochs."
    )
    assert "update 1/" not in outcome.said and not longer.states
    assert not list(longer.entry.rglob("step-*")) and longer.untouched()


def test_a_gpu_that_is_not_there_is_told(job, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    error = command("train", job.arguments("--device", "cuda")).error
    assert error == "device is set to cuda, but torch sees no GPU; set device: auto or cpu."
    assert job.untouched()


def test_a_full_disk_leaves_the_earlier_states_whole(job, whole):
    outcome = job.train(before=fill_disk(after=9, save_every=4, limit=20_000))
    assert "File too large" in outcome.error and "run the same command again" in outcome.error
    assert [path.name for path in job.states] == [f"state-{n:012d}.pt" for n in (4, 8)]
    assert job.untouched()
    assert "resumed after update 8" in job.train().said
    assert job.like(whole)


def test_a_disk_too_full_to_copy_out_leaves_no_run_json(whole, copied):
    job = copied(whole)
    shutil.rmtree(job.out)
    job.out.write_text("in the way")
    assert f"({job.out}" in command("train", job.arguments(), torch=False).error
    assert Entry(job.store, job.spec["identity"]).finished()


def test_code_of_a_run_that_calls_exit_is_named(job):
    outcome = job.train(before=raising(SystemExit(0), "workflow.runtime.preflight:build"))
    reason = f"error: run {job.spec['identity']} fails in its own code: SystemExit: 0"
    assert outcome.status == 1 and outcome.said.endswith(reason + "\n"), outcome.said


@pytest.mark.parametrize("content", ["", "{", "7", "[1]", '[{"update": 1}]', "[" * 100_000])
def test_what_the_store_says_of_attempts_may_be_damaged(tmp_path, capfd, content):
    (tmp_path / "segments.json").write_text(content)
    assert read_segments(tmp_path / "segments.json", ("update", "cpu")) == []
    assert "nobody knows any more where and when the run began" in capfd.readouterr().err


def test_a_failure_that_nobody_can_read_is_not_heeded(tmp_path, capfd):
    entry = Entry(tmp_path, "a")
    entry.folder.mkdir()
    (entry.folder / "failed.json").write_text("{")
    train._check_failure(entry)
    assert "failed.json is damaged" in capfd.readouterr().err
