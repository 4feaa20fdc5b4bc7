"""A program in a fork of this process, as to import torch may take longer than the program itself.

The process itself must not have used a GPU: its forks could not.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import runpy
import signal
import sys
import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypedDict

ROOT = Path(__file__).resolve().parents[2]
GRACE = 30.0
"""Seconds that a program has to end."""


class PackedJob(TypedDict):
    """A program with arguments."""

    program: str
    arguments: list[str]
    out: str
    needs: list[str]
    """Files."""
    libraries: list[str]


class PackedRun(TypedDict):
    """A run, with its jobs, which follow each other."""

    key: str
    identity: str
    minutes: float
    """As planned."""
    jobs: list[PackedJob]


class Bundle(TypedDict):
    """What `bundle.json` says."""

    schema: int
    commit: str | None
    dirty: bool | None
    keep_checkpoints: bool
    runs: list[PackedRun]


class Program:
    """A program that runs in a fork of this process.

    Args:
        run: that it is of.
        job: what to run.
        environment: variables beside those of this process.

    Attributes:
        log: file of all that it says.
        begun: when, as `time.monotonic`.
    """

    def __init__(self, run: PackedRun, job: PackedJob, environment: Mapping[str, str]) -> None:
        self.run, self.job, self.begun, self.asked = run, job, time.monotonic(), False
        self.log = ROOT / "logs" / f"{run['key']}.log"
        self.log.parent.mkdir(parents=True, exist_ok=True)
        warnings.filterwarnings("ignore", category=DeprecationWarning)  # of forks beside threads
        self.process = multiprocessing.get_context("fork").Process(
            target=_become, args=(job, self.log, environment, os.getpid())
        )
        self.process.start()

    @property
    def status(self) -> int:
        """Its exit status, or minus the signal that ended it."""
        return self.process.exitcode or 0

    def over(self, end: float) -> bool:
        """Whether it has ended, after a moment.

        Args:
            end: when, as `time.monotonic`, it is asked to end; it is killed `GRACE` later.
        """
        self.process.join(0.1)
        over = time.monotonic() - end
        if over > GRACE:
            self.process.kill()
        elif over > 0 and not self.asked:
            self.asked = True
            self.process.terminate()
        return not self.process.is_alive()

    def send(self, number: signal.Signals) -> None:
        """Send a signal, unless it has ended."""
        if self.process.pid is not None and self.process.is_alive():
            os.kill(self.process.pid, number)


def _become(job: PackedJob, log: Path, environment: Mapping[str, str], parent: int) -> None:
    """Be a program; where the process that it is a fork of is killed, it is asked to end too."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with suppress(OSError, AttributeError):  # Linux alone has it
        ctypes.CDLL(None).prctl(1, int(signal.SIGTERM))
    if os.getppid() != parent:
        return
    with log.open("a") as said:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
    os.environ.update(environment)
    os.chdir(ROOT)
    sys.path[0] = str(ROOT)
    sys.argv = [job["program"], *job["arguments"]]
    runpy.run_module(job["program"], run_name="__main__", alter_sys=True)
