"""`train` in several processes, of which the first one keeps and writes."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest
from safetensors.numpy import load

from tests.model.specs import SOFTMAX
from tests.scripts.processes import ROOT, command
from workflow.planning.code import Project
from workflow.planning.identity import run_roots

GROUP = ("--processes", "2")


def start(job, *more):
    """Run `train` to its end."""
    return command("train", job.arguments(*more), OMP_NUM_THREADS="1")


@pytest.fixture
def soft(job):
    """The run without anything drawn at random."""
    job.spec["model"]["encoder"] |= {"dropout": 0, "normalizer": SOFTMAX}
    return job.sealed(code=Project(ROOT).code(run_roots(job.spec)))


def test_two_processes_train_one_run_and_a_retry_continues_it(soft, tmp_path):
    left = start(soft, *GROUP, "--time-limit", "0.001")
    assert left.status != 0 and "stopped after update 1 of" in left.said
    assert [state.name for state in soft.states] == ["state-000000000001.pt"]
    done = start(soft, *GROUP)
    assert done.status == 0, done.said
    assert done.said.count("resumed after update 1 of") == 1
    assert soft.record["processes"] == 2
    assert [segment["exact"] for segment in soft.record["continuations"]] == [False]
    both = soft.weights
    losses = [row["loss"] for row in soft.history if row["split"] == "dev"]
    again = type(soft)(tmp_path / "alone", soft.spec, soft.data)
    alone = start(again)
    assert alone.status == 0, alone.said
    assert again.record["processes"] == 1
    expected = [row["loss"] for row in again.history if row["split"] == "dev"]
    assert losses == pytest.approx(expected, rel=1e-3)
    weights = [load(one)["output.weight"] for one in (both, again.weights)]
    assert np.allclose(*weights, atol=1e-3)


def test_what_slurm_announces_does_not_end_a_group(soft):
    """At SIGTERM, which all its processes get, it saves and goes on until Slurm kills it."""
    soft.spec["training"]["epochs"] = 6
    soft = soft.sealed()
    group = subprocess.Popen(
        [sys.executable, "-m", "workflow.scripts.train", *soft.arguments(*GROUP)],
        cwd=ROOT, env=os.environ | {"OMP_NUM_THREADS": "1", "SLURM_JOB_ID": "4711"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + 240
    while not (soft.entry / "segments.json").exists() and time.monotonic() < until:
        time.sleep(0.05)
    os.killpg(group.pid, signal.SIGTERM)
    said, _ = group.communicate(timeout=240)
    assert group.returncode == 0, said
    assert soft.record["continuations"] == [] and soft.record["began"]["job_id"] == "4711"


def test_a_run_that_fails_is_told_by_the_first_process(soft):
    soft.spec["training"]["optimizer"]["lr"] = 1e30
    soft = soft.sealed()
    done = start(soft, *GROUP)
    assert done.status == 1 and not soft.out.exists()
    assert done.said.count("error: the loss or its gradient is not a finite number") == 1
    assert "finite" in json.loads((soft.entry / "failed.json").read_text())["reason"]


def test_a_process_does_not_wait_for_a_torchrun_that_was_killed(soft):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    of_torchrun = {"MASTER_ADDR": "localhost", "MASTER_PORT": port, "RANK": 0, "WORLD_SIZE": 2}
    given = {name: str(value) for name, value in of_torchrun.items()}
    given["TORCHELASTIC_USE_AGENT_STORE"] = "True"
    ended = command("train", soft.arguments("--patience", "1"), **given)
    assert ended.status == -signal.SIGALRM and not soft.out.exists()
