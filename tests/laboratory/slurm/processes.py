"""Everything that the bench starts, found by a mark in its environment and ended by its pid."""

import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "saccade-slurm-"
"""How the names of the bench's folders begin."""
MARK = "SACCADE_BENCH"
"""An environment variable with the bench's folder: daemons hand it on to all that they start."""

interrupted = threading.Event()
"""Set when the bench is interrupted: whoever waits gives up."""


class Failed(Exception):
    """What a case promises did not happen."""


PATIENCE = 1800
"""Seconds until something counts as not happening, on a machine that others use too."""


def wait(for_what: str, happened: Callable[[], object]) -> None:
    """Wait until something has happened.

    Raises:
        Failed: patience ended before.
    """
    end = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > end:
            raise Failed(f"waited {PATIENCE} s in vain for {for_what}")
        if interrupted.wait(0.2):
            raise Failed("interrupted")


def marked(folder: Path) -> list[int]:
    """The processes that a bench in this folder has started, but for zombies."""
    mark = f"{MARK}={folder}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            with suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found


def end_all(folder: Path) -> None:
    """Kill all that a bench in this folder has started; what it starts meanwhile too."""
    while found := marked(folder):
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)


@contextmanager
def workplace() -> Iterator[Path]:
    """A folder for the bench; in the end nothing of it is left, and no process.

    What a bench left that was killed before its end is removed first.
    """
    for left in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if not alive(left):
            clear(left)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    os.environ[MARK] = str(folder)
    with (folder / "alive").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield folder
        finally:
            clear(folder)


def alive(folder: Path) -> bool:
    """Whether the bench that works in this folder is still running."""
    try:
        with (folder / "alive").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        pass
    return False


def clear(folder: Path) -> None:
    """End all that a bench has started in this folder, and remove the folder."""
    end_all(folder)
    for line in Path("/proc/mounts").read_text().splitlines():
        place = line.split()[1]
        if Path(place).is_relative_to(folder):
            subprocess.run(["umount", place], check=True)
    shutil.rmtree(folder, ignore_errors=True)
