"""Sees that training stands still: has the stacks written, the state saved, and the job ended.

A small process watches, so that a training process is seen too that is stopped (SIGSTOP), or does
not return from a call, of a disk or of another process. It also sees that a process was asked to
end, and can't. Where one was killed or crashed, it says so, and whether that was for memory. It
needs the standard library alone.
"""

from __future__ import annotations

import faulthandler
import math
import os
import select
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Collection
from contextlib import suppress

CONTINUE = 75
"""Exit status of a run that stopped with its state saved: the same command continues it."""
LEAST = 300.0
"""Seconds without an update that are no standstill, however fast updates are."""
TIMES_MEDIAN, TIMES_LONGEST = 10, 3
TIMES_BUSY = 6
"""How much longer one waits while the process runs: it may measure the development split.

And before the third update, when one does not know how long they take.
"""
START = "import runpy, sys; runpy.run_path(sys.argv[1])['main'](*sys.argv[2:])"
"""What a Python does that is to run `main`, without the modules of the project."""
REMEMBERED = 1001
"""Intervals between updates that the median is taken of."""
GRACE = 1 / 5
"""Of that time, how much a process has to save its state and end by itself."""
UPDATE, END, AGAIN = b"\0", b"\1", b"\3"
"""What the watched process says, of an attempt before that got no further AGAIN.

Beside it stand the numbers of signals as they come, and the stacks of a process that crashes.
"""
HEEDED = bytes([signal.SIGINT, signal.SIGTERM])
KILLED = "training was killed; the same command continues it from its newest state.\n"
CRASHED = (
    "error: training crashed, as the stacks above say: mend what was called there, or its "
    "mechanism; the same command continues it from its newest state.\n"
)
ENDED_AGAIN = (
    "error: training was killed or ended its process itself (os._exit, a crash) in {} attempts, "
    "none of which got further than the first: look into what it calls, such as a mechanism of "
    "your own, before you try again.\n"
)
KILLED_FOR_MEMORY = (
    "training was killed for memory: raise `memory` in the `resources` of its experiment, then the "
    "same command continues it from its newest state.\n"
)


class Watchdog:
    """Watches the process that makes it, to its end.

    Args:
        stop: asks training to save its state and stop after the update under way. Where it has not
            ended some time later, the process ends with status 75 all the same.
        least: seconds without an update before which nothing is done.
        first: the same, before the third update.
        ends: the signals at which the process is to end soon; where it can't, it is ended.
        attempts: earlier ones that got no further than this one begins.
    """

    def __init__(
        self,
        stop: Callable[[], None],
        least: float = LEAST,
        first: float = LEAST * TIMES_BUSY,
        ends: Collection[int] = HEEDED,
        attempts: int = 0,
    ) -> None:
        with suppress(OSError, ValueError):  # where stderr is no file
            faulthandler.register(signal.SIGUSR2, all_threads=True)
        self._stop, self._grace = stop, GRACE * least
        beats, self._beats = os.pipe()
        self._word, word = os.pipe()
        os.set_blocking(self._beats, False)
        numbers = (os.getpid(), beats, word, least, first, *map(int, ends))
        given = [str(number) for number in numbers]
        command = [sys.executable, "-IS", "-c", START, __file__, *given]
        subprocess.Popen(command, pass_fds=(beats, word))
        os.close(beats)
        os.close(word)
        self._tell(attempts * AGAIN)
        faulthandler.enable(self._beats)
        with suppress(ValueError):  # in a thread, which no signal comes to
            signal.set_wakeup_fd(self._beats, warn_on_full_buffer=False)
        threading.Thread(target=self._obey, daemon=True).start()

    def beat(self) -> None:
        """Tell of an update."""
        self._tell(UPDATE)

    def dismiss(self) -> None:
        """Tell that training ends by itself."""
        faulthandler.disable()
        with suppress(ValueError):
            signal.set_wakeup_fd(-1)
        self._tell(END)

    def _tell(self, word: bytes) -> None:
        with suppress(OSError):  # a watcher that is gone, or has much to read
            os.write(self._beats, word)

    def _obey(self) -> None:
        """Wait for the watcher's word, then end this process, by itself or not."""
        told = os.read(self._word, 1)
        os.close(self._word)
        if told:
            self._stop()
            time.sleep(self._grace)
            os._exit(CONTINUE)


def patience(intervals: Collection[float], least: float, busy: bool) -> float:
    """Return the seconds without an update that are no standstill yet.

    Args:
        intervals: seconds between updates so far.
        least: what it is at least.
        busy: whether the process runs, or waits for a processor.
    """
    usual = max(TIMES_MEDIAN * statistics.median(intervals), TIMES_LONGEST * max(intervals))
    return max(usual, least * (TIMES_BUSY if busy else 1))


def watch(
    process: int,
    beats: int,
    word: int,
    least: float,
    first: float = LEAST * TIMES_BUSY,
    ends: Collection[int] = HEEDED,
) -> None:
    """Watch a process until its end of a pipe is closed, or it stands still and is ended.

    Where the pipe is closed without a word the process was killed, or crashed.

    Args:
        process: number of the process.
        beats: pipe that a byte comes from at each update.
        word: pipe to tell the process to end.
        least: seconds, as of `Watchdog`; so is `first`.
        ends: signals, as of `Watchdog`.
    """
    intervals: deque[float] = deque(maxlen=REMEMBERED)
    tick, last, looks, running = min(1.0, least / 10), time.monotonic(), 0, 0
    updates, before, killed = 0, last, _killed_for_memory()
    asked, stacks, attempts = math.inf, b"", 1
    closed = select.poll()
    closed.register(beats, 0)
    while True:
        closed.poll(1000 * tick)
        ready = select.select([beats], [], [], 0)[0]
        now = time.monotonic()
        if now - before > 2 * tick + 1:  # this process did not run either: suspended together
            last, asked = last + now - before, asked + now - before
        before = now
        if ready:
            said = os.read(beats, 65536)
            if END in said:
                return
            if not said:
                os.write(2, stacks + _cause(stacks, attempts, _killed_for_memory() > killed))
                return
            attempts += said.count(AGAIN)
            stacks += said.translate(None, UPDATE + AGAIN + HEEDED)
            if any(number in said for number in ends):
                asked = min(asked, now)
            if count := said.count(UPDATE):
                if updates:
                    intervals.append((now - last) / count)
                updates, last, looks, running = updates + count, now, 0, 0
            continue
        looks, running = looks + 1, running + runs(process)
        waited, known = now - last, len(intervals) > 1
        if now - asked > max(GRACE * least, TIMES_LONGEST * max(intervals, default=0)):
            sentence = f"asked to end, and no update ended for {now - asked:.0f} seconds"
        elif known and waited > patience(intervals, least, busy=running > looks / 2):
            usual = statistics.median(intervals)
            sentence = f"no update for {waited:.0f} seconds, where one takes {usual:.2g}"
        elif not known and waited > first:
            sentence = f"only {updates} updates, and none for {waited:.0f} seconds"
        else:
            continue
        _say(sentence)
        _end(process, beats, word, GRACE * least)
        return


def _cause(stacks: bytes, attempts: int, memory: bool) -> bytes:
    """Return what is to be said of a process that ended without a word."""
    if memory:
        return KILLED_FOR_MEMORY.encode()
    if attempts > 1:
        return ENDED_AGAIN.format(attempts).encode()
    return (CRASHED if stacks else KILLED).encode()


def _say(sentence: str) -> None:
    said = (
        f"{sentence}: what each thread does follows; the state is saved where it can be, and the "
        "job ends, to be continued.\n"
    )
    # A thread, since what does not take this sentence must not stop what follows.
    saying = threading.Thread(target=os.write, args=(2, said.encode()), daemon=True)
    saying.start()
    saying.join(1)


def _end(process: int, beats: int, word: int, grace: float) -> None:
    """Have a process write its stacks, save its state and end; kill it where it does not."""
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGUSR2)
        os.kill(process, signal.SIGCONT)
        os.write(word, b"!")
        if not _closed(beats, 2 * grace):
            os.kill(process, signal.SIGKILL)


def _closed(beats: int, seconds: float) -> bool:
    """Whether the process closes its end of the pipe within some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ready = select.select([beats], [], [], end - time.monotonic())[0]
        if ready and not os.read(beats, 65536):
            return True
    return False


def _killed_for_memory() -> int:
    """How many processes of this control group were killed for memory; 0 where that isn't known."""
    try:
        with open("/proc/self/cgroup") as stream:
            groups = dict(line.rstrip("\n").split(":", 2)[1:] for line in stream)
        file = f"{groups.get('')}/memory.events"
        if "memory" in groups:  # version 1 of control groups
            file = f"/memory{groups['memory']}/memory.oom_control"
        with open(f"/sys/fs/cgroup{file}") as stream:
            return next(int(line.split()[1]) for line in stream if line.startswith("oom_kill "))
    except (OSError, LookupError, StopIteration):
        return 0


def runs(process: int) -> bool:
    """Whether a thread of a process runs, or only waits for a processor; False where unknown."""
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/stat") as stream:
                if stream.read().rpartition(")")[2].split()[0] == "R":
                    return True
    return False


def main(process: str, beats: str, word: str, least: str, first: str, *ends: str) -> None:
    """Watch, as a process of its own, which the signals of the watched one don't end."""
    for number in HEEDED:
        signal.signal(number, signal.SIG_IGN)
    files, seconds = (int(process), int(beats), int(word)), (float(least), float(first))
    watch(*files, *seconds, [*map(int, ends)])
