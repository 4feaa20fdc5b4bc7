"""Who may work on a folder of results: one call at a time, and none waits for one that is gone."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.workflow.conftest import Project
from workflow.runtime import locking

TABLE = "results/demo/tables/toy/corpora.csv"


def start(project: Project, results: str, *more: str) -> subprocess.Popen:
    """Start `make run` in a project, with a job that does not end; return it once it works."""
    command = ["workflow", "run", TABLE.replace("results", results, 1)]
    process = subprocess.Popen(
        [sys.executable, "-m", *command, "--results", results, *more],
        cwd=project.root,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        # nohup, which these tests may run under, would have it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    folder = project.root / results
    while not list(folder.glob("**/prepare/**/*.log")) and process.poll() is None:
        time.sleep(0.05)
    assert process.poll() is None
    return process


@pytest.fixture
def slow(fresh):
    """A project whose data take a minute."""
    fresh.edit("workflow/scripts/prepare.py", "def main() -> None:", SLOW)
    return fresh


SLOW = """def main() -> None:
    import time

    time.sleep(60)
"""


def end(process: subprocess.Popen) -> None:
    """Kill a process and what it has started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.parametrize("content", ["", "{}", "[]", "7"])
def test_a_lock_that_names_nobody_is_anothers(content):
    assert locking._owner(content) == "another process"


@pytest.mark.parametrize("how", [signal.SIGHUP, signal.SIGKILL])
def test_the_lock_of_a_call_that_is_gone_is_removed_by_the_next(slow, how):
    process = start(slow, "results")
    os.kill(process.pid, how)
    process.wait()
    end(process)
    assert list(slow.root.glob(".snakemake/locks/*"))
    slow.edit("workflow/scripts/prepare.py", "time.sleep(60)", "time.sleep(0)")
    said = slow.command("run", TABLE, "--results", "results")
    assert "the snakemake that made it was killed" in said
    assert (slow.root / TABLE).is_file() and not list(slow.root.glob(".snakemake/locks/*"))


def test_a_second_checkout_is_told_who_works_on_the_results(slow, tmp_path):
    other = Project(Path(shutil.copytree(slow.root, tmp_path / "other")))
    shared = str(tmp_path / "shared")
    process = start(slow, shared)
    try:
        target = f"{shared}/{TABLE.removeprefix('results/')}"
        said = other.command("run", target, "--results", shared, fails=True)
        assert (
            f"error: process {process.pid} on {socket.gethostname()}, in the folder {slow.root}, "
            f"works on {shared}; wait until it ends, or name another folder: RESULTS=<folder>\n"
        ) in said and "Traceback" not in said
        assert "jobs would run" in other.command("plan", "--jobs", "--results", shared)
    finally:
        end(process)
