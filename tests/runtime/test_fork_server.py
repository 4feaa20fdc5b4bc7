"""Jobs as forks: each is as if it had been started by itself, and whatever dies is noticed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from workflow.runtime.fork_server import PLACE, THREADS, forks

ROOT = Path(__file__).parents[2]
UMASK = 0o027
PROGRAM = """
import json, os, signal, sys, time
import workflow
asked, *more = sys.argv[1:]
place = [os.getcwd(), os.environ["TOLD"], sys.stdin.read(), os.umask(0), workflow.__file__]
told = [more, *place, os.getppid()]
print(json.dumps(told), flush=True)
if asked == "wait":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("error: asked to stop"))
    open("waits", "w").write(str(os.getpid()))
    time.sleep(60)
sys.exit(json.loads(asked))
"""
START = "import sys; from workflow.runtime.fork_server import be; be('program', sys.argv[1:])"


@pytest.fixture
def server() -> Iterator[subprocess.Popen[bytes]]:
    """The process that forks."""
    with forks(imported=["json"]) as started:
        assert started is not None
        until(lambda: listening(os.environ[PLACE]))
        yield started


def listening(place: str) -> bool:
    """Whether a socket takes calls: before it does, jobs start by themselves."""
    sockets = (line.split() for line in Path("/proc/net/unix").read_text().splitlines())
    return any(one[-1] == place and one[3] == "00010000" for one in sockets)


@pytest.fixture
def folder(tmp_path) -> Path:
    """Where the program is."""
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path


def start(
    folder: Path, *arguments: str, threads: str = "1", project: Path = ROOT
) -> subprocess.Popen[str]:
    """Start the program as Snakemake would, with the code of a project."""
    environment = {**os.environ, **dict.fromkeys(THREADS, threads)}
    environment |= {"TOLD": "yes", "PYTHONPATH": str(project)}
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    command = [sys.executable, "-c", START, *arguments]
    # What runs in a background may ignore Ctrl-C.
    heard = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    return subprocess.Popen(
        command, cwd=folder, env=environment, umask=UMASK, text=True, **pipes, **heard
    )


def waiting(folder: Path) -> tuple[subprocess.Popen[str], int]:
    """A job that waits to be stopped, and the process that does its work."""
    job = start(folder, "wait")
    assert job.stdin is not None
    job.stdin.close()
    job.stdin = None
    until(lambda: (folder / "waits").is_file() and (folder / "waits").read_text())
    return job, int((folder / "waits").read_text())


def until(true: Callable[[], object]) -> None:
    """Wait until something is true."""
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def there(pid: int) -> bool:
    """Whether a process runs."""
    stat = Path("/proc", str(pid), "stat")
    return stat.is_file() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("ends, status, says", [
    ("0", 0, ""), ("3", 3, ""), ("null", 0, ""), ('"error: a sentence"', 1, "error: a sentence\n"),
])  # fmt: skip
def test_a_fork_is_as_if_it_had_been_started_by_itself(server, folder, ends, status, says):
    package = shutil.copytree(ROOT / "workflow", folder / "other" / "workflow")
    job = start(folder, ends, "a b", "ü", project=package.parent)
    out, error = job.communicate("given")
    whole = [["a b", "ü"], str(folder), "yes", "given", UMASK, str(package / "__init__.py")]
    assert json.loads(out) == [*whole, server.pid]
    assert (job.returncode, error) == (status, says)


def test_a_mistake_in_a_program_is_told_as_ever(server, folder):
    job = start(folder, "no JSON")
    _, error = job.communicate("")
    assert job.returncode == 1
    assert error.startswith("Traceback") and "JSONDecodeError" in error.splitlines()[-1]


def test_to_import_the_programs_of_jobs_does_nothing(server, folder):
    text = "import os, workflow.scripts.synthesise; print(os.getpid())"
    (folder / "importing.py").write_text(text)
    environment = {**os.environ, **dict.fromkeys(THREADS, "1"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "importing"]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE) as job:
        assert job.stdout is not None
        assert int(job.stdout.read()) == job.pid


@pytest.mark.parametrize("threads", ["2", "4"])
def test_jobs_of_several_threads_start_by_themselves(server, folder, threads):
    out, _ = start(folder, "0", threads=threads).communicate("")
    assert json.loads(out)[-1] == os.getpid()


def test_a_signal_reaches_the_fork(server, folder):
    job, _ = waiting(folder)
    job.send_signal(signal.SIGTERM)
    assert job.communicate()[1] == "error: asked to stop\n"
    assert job.returncode == 1


def test_a_job_that_is_killed_takes_its_fork_with_it(server, folder):
    job, fork = waiting(folder)
    job.kill()
    until(lambda: not there(fork))
    job.communicate()


def test_a_fork_that_is_killed_is_told(server, folder):
    job, fork = waiting(folder)
    os.kill(fork, signal.SIGKILL)
    assert job.communicate()[1] == "error: the job was killed by signal 9.\n"
    assert job.returncode == 1


def test_jobs_outlive_the_end_of_the_block(folder):
    with forks(imported=[]):
        job, fork = waiting(folder)
        os.kill(fork, signal.SIGTERM)
    assert job.communicate()[1] == "error: asked to stop\n"


def test_without_what_forks_a_job_says_so_and_others_start_by_themselves(server, folder):
    job, fork = waiting(folder)
    server.kill()
    assert "was killed; run the same again" in job.communicate()[1]
    assert job.returncode == 1
    until(lambda: not there(fork))
    out, _ = start(folder, "0").communicate("")
    assert json.loads(out)[-1] == os.getpid()


@pytest.mark.parametrize("forked", [True, False], ids=["a fork", "by itself"])
def test_ctrl_c_is_a_sentence_however_often_it_comes(folder, request, forked):
    if forked:
        request.getfixturevalue("server")
    job, fork = waiting(folder)
    assert (fork != job.pid) == forked
    for _ in range(2):
        job.send_signal(signal.SIGINT)
    assert job.communicate()[1] == "error: interrupted; the same command goes on from there.\n"
    assert job.returncode == (130 if forked else -signal.SIGINT)
