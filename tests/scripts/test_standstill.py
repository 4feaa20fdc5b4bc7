"""Training that stands still is seen, told, and ended so that it can be continued."""

import io
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.scripts.processes import (
    ROOT,
    begin_with,
    block_history,
    crash,
    kill,
    leave,
    loop,
    paced,
    stop,
)
from tests.scripts.test_group import GROUP
from workflow.runtime import watchdog
from workflow.runtime.watchdog import (
    CRASHED,
    ENDED_AGAIN,
    KILLED,
    KILLED_FOR_MEMORY,
    patience,
    runs,
)

pytestmark = pytest.mark.xdist_group("scripts")
SOON = ("--patience", "1")
TOLD = re.compile(r"^no update for \d+ seconds, where one takes [\d.e-]+: what each", re.M)


def test_how_long_one_waits():
    assert patience([0.1, 0.3, 0.2], 300, busy=False) == 300
    assert patience([0.1, 0.3, 0.2], 300, busy=True) == 1800
    assert patience([40, 60, 50], 300, busy=False) == 500  # ten times the median
    assert patience([1, 1, 200], 300, busy=False) == 600  # three times the longest


@pytest.mark.parametrize(
    ("program", "running"),
    [
        ("while True: pass", True),
        ("from threading import *\nThread(target=exec, args=('while True: pass',)).start()", True),
        ("import time; time.sleep(60)", False),
    ],
    ids=["a loop", "a thread", "sleep"],
)
def test_a_process_runs_that_computes_or_would(program, running):
    process = subprocess.Popen([sys.executable, "-c", program])
    try:
        until(lambda: runs(process.pid) == running, process)
        assert [runs(process.pid) for _ in range(20)].count(running) > 10
        process.send_signal(signal.SIGSTOP)
        until(lambda: not runs(process.pid), process)
    finally:
        process.kill()
        process.wait()
    assert not runs(process.pid)


def until(true: Callable[[], object], process: subprocess.Popen[bytes]) -> None:
    """Wait until something is true of a process."""
    while not true():
        assert process.poll() is None
        time.sleep(0.01)


def test_a_stopped_process_goes_on_to_save_its_state_and_ends(job, whole):
    # A fifth of this patience is the time to save: enough beside busy processes.
    outcome = job.train("--patience", "5", before=stop(after=9, seconds=0.4))
    assert outcome.status == 75, outcome.said
    assert TOLD.search(outcome.said) and "model/training/loop.py" in outcome.said  # of the stack
    (state,) = job.states
    saved = int(state.stem.removeprefix("state-"))
    assert saved in (9, 10)  # the update under way, or the next
    outcome = job.train()
    assert outcome.status == 0 and f"resumed after update {saved} of" in outcome.said
    assert job.like(whole)


def test_a_write_that_never_returns_is_left(job, whole):
    """It can't be saved: the state before counts."""
    assert job.train(before=kill(after=6, save_every=5)).status == -9
    blocked = block_history(after=6, folder=job.entry, seconds=0.2)
    outcome = job.train(*SOON, before=blocked)
    assert outcome.status == 75, outcome.said
    assert TOLD.search(outcome.said) and "in record" in outcome.said
    assert [state.name for state in job.states] == ["state-000000000005.pt"]
    outcome = job.train()
    assert outcome.status == 0 and "resumed after update 5 of" in outcome.said
    assert job.like(whole)


def test_of_a_killed_process_it_is_told(job):
    running = job.start(before=kill(after=6, save_every=5))
    running.end()
    last_words(running, KILLED)
    assert "was killed" not in job.train().said


def test_a_mechanism_that_never_returns_is_found_before_the_third_update(job):
    outcome = job.train(*SOON, "--patience-first", "3", before=begin_with(loop))
    assert outcome.status == 75, outcome.said
    assert re.search(r"^only 0 updates, and none for \d+ seconds: what each", outcome.said, re.M)
    assert "in loop" in outcome.said  # of the stack


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_stands_still_ends_when_it_is_asked_to(job, number):
    running = job.start(*SOON, before=begin_with(loop))
    running.until(job.entry / "segments.json")
    time.sleep(2)
    os.kill(running.process.pid, number)
    outcome = running.end()
    assert outcome.status == 75 and "asked to end, and no update ended" in outcome.said


@pytest.mark.parametrize(
    ("action", "status", "told"),
    [(crash, -signal.SIGSEGV, CRASHED), (leave, 3, KILLED)],
    ids=["SIGSEGV", "os._exit"],
)
def test_what_ends_in_the_same_way_again_is_not_to_be_continued(job, action, status, told):
    for sentence in (told, ENDED_AGAIN.format(2)):
        running = job.start(before=begin_with(action))
        assert running.end().status == status
        said = last_words(running, sentence)
        assert ("Segmentation fault" in said and "in crash" in said) == (action is crash)
    assert "the same command" not in said


def last_words(running, sentence: str) -> str:
    """Wait for what the watching process says in the end; return all that was said."""
    until = time.monotonic() + 60
    while sentence not in (said := running.said.read_text()):
        assert time.monotonic() < until, said
        time.sleep(0.1)
    return said


@pytest.mark.parametrize(("before", "after", "told"), [(2, 3, KILLED_FOR_MEMORY), (2, 2, KILLED)])
def test_what_it_was_killed_for(monkeypatch, capfd, before, after, told):
    counts = iter([before, after])
    monkeypatch.setattr(watchdog, "_killed_for_memory", lambda: next(counts))
    beats, ours = os.pipe()
    os.write(ours, watchdog.UPDATE)
    os.close(ours)
    watchdog.watch(os.getpid(), beats, -1, 300)
    os.close(beats)
    assert capfd.readouterr().err == told


@pytest.mark.parametrize(
    ("groups", "file"),
    [("4:memory:/a/b\n0::/c\n", "memory/a/b/memory.oom_control"), ("0::/c\n", "c/memory.events")],
)
def test_where_the_killed_are_counted(monkeypatch, groups, file):
    texts = {"/proc/self/cgroup": groups, f"/sys/fs/cgroup/{file}": "oom 9\noom_kill 5\n"}
    monkeypatch.setattr("builtins.open", lambda path: io.StringIO(texts[path]))
    assert watchdog._killed_for_memory() == 5
    texts[f"/sys/fs/cgroup/{file}"] = "oom 9\n"  # of a kernel that does not count
    assert watchdog._killed_for_memory() == 0


def test_slow_updates_are_no_standstill(job):
    assert not TOLD.search(job.train("--patience", "0.1", before=paced(0.3)).said)


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(one) for one in listed.split()]


def test_a_job_that_was_suspended_as_a_whole_goes_on(job, whole):
    """As `scontrol suspend` does: whoever watches was stopped too."""
    running = job.start("--patience", "4", before=paced(0.15))
    running.until(job.entry / "history.jsonl")
    trainer = running.process.pid
    together = [trainer, *children(trainer)]
    assert len(together) == 2
    time.sleep(1)
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for pid in together:
            os.kill(pid, number)
        time.sleep(7)
    outcome = running.end()
    assert outcome.status == 0 and not TOLD.search(outcome.said), outcome.said
    assert job.like(whole)


def test_a_group_that_waits_for_one_of_its_processes_is_ended(job):
    job.spec["training"]["epochs"] = 400
    job = job.sealed()
    command = [sys.executable, "-m", "workflow.scripts.train", *job.arguments(*GROUP, *SOON)]
    group = subprocess.Popen(
        command, cwd=ROOT, env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    history, until = job.entry / "history.jsonl", time.monotonic() + 240
    while not (history.exists() and history.stat().st_size > 2000) and time.monotonic() < until:
        time.sleep(0.05)
    ranks = {}
    for pid in children(group.pid):
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        ranks |= {one: pid for one in environment if one.startswith(b"RANK=")}
    os.kill(ranks[b"RANK=1"], signal.SIGSTOP)
    said, _ = group.communicate(timeout=240)
    assert group.returncode and TOLD.search(said), said
    assert re.search("in (add_gradients|any|add)$", said, re.M)  # where it waits
    assert re.search(r"exitcode\s*: 75", said)
