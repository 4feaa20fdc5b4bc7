"""Work through a bundle on a lent machine, where there is neither Snakemake nor git.

    tar xf bundle.tar && cd bundle && python -m workflow.lent.runner --minutes 10
    python -m workflow.lent.runner check

`bundle.json` names runs, what is worth most for its time first, and the programs that train, record
and measure each. A run that fails does not stop the others. What is made goes into `results.tar`,
which is whole at any time; the same command goes on from wherever it was stopped or killed. `check`
compares the machine's GPU, else its CPU, with what a CPU computes (`compare`).
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import math
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def refuse_old(version: tuple[Any, ...]) -> None:
    """End in a sentence where Python is older than what is imported below needs."""
    if version[:2] < (3, 11):
        found = ".".join(map(str, version[:2]))
        sys.exit(
            f"error: this is Python {found}; take 3.11 or newer: python3.11 -m workflow.lent.runner"
        )


refuse_old(sys.version_info)

from workflow.lent.program import GRACE, ROOT, Bundle, PackedJob, PackedRun, Program
from workflow.runtime.atomic import unwritable
from workflow.runtime.integrity import (
    QUARANTINED,
    Damaged,
    check_files,
    read_verified,
    sha256,
    write_archive,
)
from workflow.runtime.watchdog import CONTINUE

LISTING, RESULTS = "bundle.json", "results.json"
"""What lists the files of a bundle, and of what comes back from it."""
SCHEMA = 1
"""The version of both."""
LIBRARIES = ("torch", "numpy", "scipy", "safetensors")
"""What has to be installed there."""
IMPORTED = ("torch._dynamo", "safetensors.torch", "scipy.special")
"""What is imported once: each program is a fork, since to import torch may take longer."""
LEAST = 5.0
"""Seconds that are left when nothing is begun any more."""
SHARE = 0.05
"""How much of the time packing the results may take, before the end."""


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m workflow.lent.runner", description=__doc__)
    parser.add_argument("task", nargs="?", choices=("run", "check"), default="run")
    parser.add_argument("--minutes", type=float, default=math.inf, help="to take; else till done")
    parser.add_argument("--to", type=Path, default=ROOT / "results.tar", help="file of results")
    parser.add_argument("--at-once", type=int, default=1, help="programs that share the device")
    given = parser.parse_args()
    given.to = given.to.absolute()
    if given.at_once < 1:
        sys.exit(f"error: --at-once: {given.at_once} must be at least 1.")
    if not given.minutes > 0:
        sys.exit(f"error: --minutes: {given.minutes:g} must be more than 0.")
    try:
        if given.task == "check":
            from workflow.lent.compare import check

            sys.exit(not check())
        if why := unwritable(given.to):
            sys.exit(f"error: --to: {why}; name a file that can be written: --to results.tar.")
        bundle = opened(ROOT)
        for name in IMPORTED:
            importlib.import_module(name)
        session = Session(bundle, given.to, 60 * given.minutes, given.at_once)
        signal.signal(signal.SIGINT, session.stop)
        signal.signal(signal.SIGTERM, session.stop)
        session.work()
    except Damaged as error:
        sys.exit(f"error: {error}; unpack the bundle anew, else copy it anew.")
    except ModuleNotFoundError as error:
        name = str(error.name).partition(".")[0]
        sys.exit(f"error: {name} is not installed; pip install {' '.join(LIBRARIES)}.")
    except OSError as error:
        said = f"error: {error.strerror or error} ({error.filename or given.to})"
        sys.exit(f"{said}; what was made before is whole: mend the cause, and run the same again.")
    print("\n".join(session.summary()))
    sys.exit(1 if session.failed else 0)


def opened(folder: Path) -> Bundle:
    """What a bundle says, once each of its files was compared with its checksum.

    Raises:
        Damaged: a file is another one, or missing, or of another version.
    """
    path = folder / LISTING
    if not path.is_file():
        raise Damaged(path, f"{path} is missing: this folder is no bundle")
    bundle: Any = read_verified(path)
    if bundle["schema"] != SCHEMA:
        raise Damaged(path, f"{path} is of another version than the code beside it")
    check_files(folder, bundle["files"])
    return bundle


class Session:
    """The work of one call.

    Args:
        bundle: as `bundle.json` says it.
        to: file of the results.
        seconds: that it may take.
        at_once: programs that may run beside each other.

    Attributes:
        failed: why runs failed in this call, by key.
    """

    def __init__(self, bundle: Bundle, to: Path, seconds: float, at_once: int = 1) -> None:
        self.runs = bundle["runs"]
        self.bundle, self.to, self.at_once = bundle, to, at_once
        self.under_way: list[Program] = []
        self.began = self.packed = time.monotonic()
        self.end = self.began + max(0.9 * seconds, seconds - GRACE)
        self.cost = 0.0
        self.made: list[str] = []
        self.failed: dict[str, str] = {}
        self.devices: set[str] = set()
        self.without: set[str] = set()
        self.environment = {
            "SACCADE_COMMIT": json.dumps({"commit": bundle["commit"], "dirty": bundle["dirty"]}),
            "SACCADE_INVOCATION": sha256(ROOT / LISTING),
            "SACCADE_KEEP_CHECKPOINTS": "1" if bundle["keep_checkpoints"] else "",
        }

    def stop(self, *_: object) -> None:
        """Have the programs under way save their states, and begin no other."""
        self.end = min(self.end, time.monotonic())

    def work(self) -> None:
        """Do what can be done in the time, and pack what was made.

        Raises:
            OSError: that can't be written; all programs have ended.
        """
        try:
            while self._begin() or self.under_way:
                for program in [one for one in self.under_way if one.over(self.end)]:
                    self.under_way.remove(program)
                    self._ended(program)
                    if self.cost < SHARE * (time.monotonic() - self.packed):
                        self._pack()
            self._pack()
        finally:
            self.stop()
            while [one for one in self.under_way if not one.over(self.end)]:
                pass

    def _begin(self) -> bool:
        """Begin a program, if there is one, and room and time for it; whether that was so."""
        room = len(self.under_way) < self.at_once and self.left() > LEAST
        ready = next(self._ready(), None) if room else None
        if ready:
            self.under_way.append(Program(*ready, self.environment))
        return bool(ready)

    def left(self) -> float:
        """The seconds that are left."""
        return self.end - time.monotonic()

    def _ready(self) -> Iterator[tuple[PackedRun, PackedJob]]:
        """Yield what may be begun: first what trained runs still lack, then trainings in order.

        Its weights may not come home, or not in time; then nothing more could be measured.
        """
        yield from sorted(self._waiting(), key=lambda pair: trains(*pair))

    def _waiting(self) -> Iterator[tuple[PackedRun, PackedJob]]:
        """Yield what may be begun, in the order of the bundle."""
        busy = [one.run["key"] for one in self.under_way]
        for run in self.runs:
            if run["key"] in self.failed or run["key"] in busy:
                continue
            for job in run["jobs"]:
                absent = [one for one in job["libraries"] if not importlib.util.find_spec(one)]
                self.without.update(absent)
                if absent:
                    continue
                if not done(job) and all((ROOT / name).is_file() for name in job["needs"]):
                    yield run, job

    def _ended(self, program: Program) -> None:
        run, job, status = program.run, program.job, program.status
        name = job["program"].rpartition(".")[2]
        if status == 0 and done(job):
            if name == "train":
                self.made.append(run["key"])
                self.devices.add(str(read_verified(ROOT / job["out"])["device"]))
            say(f"{name:7} {run['key']}  {time.monotonic() - program.begun:.0f} s")
        elif self.left() > 0 or status not in (CONTINUE, -signal.SIGTERM, -signal.SIGKILL):
            self.failed[run["key"]] = last_line(program.log)
            say(f"{name:7} {run['key']}  failed: {self.failed[run['key']]}")

    def _pack(self) -> None:
        """Pack what was made, while all programs stand still."""
        begun = time.monotonic()
        for program in self.under_way:
            program.send(signal.SIGSTOP)
        try:
            pack(self.bundle, self.to)
        finally:
            for program in self.under_way:
                program.send(signal.SIGCONT)
        self.packed = time.monotonic()
        self.cost = self.packed - begun

    def summary(self) -> list[str]:
        """What was done and what is left, in ten lines at most."""
        trained = [run for run in self.runs if done(run["jobs"][0])]
        ready = [run for run in trained if all(map(done, run["jobs"]))]
        left = [run for run in self.runs if run not in trained and run["key"] not in self.failed]
        size = self.to.stat().st_size / 1e6
        planned = sum(run["minutes"] for run in left)
        took = f"{(time.monotonic() - self.began) / 60:.1f} minutes"
        if self.devices:
            took += f" on {' and '.join(sorted(self.devices))}"
        lines = [
            f"{len(trained)} of {len(self.runs)} runs are trained ({len(self.made)} in this call, "
            f"{took}), {len(ready)} measured, "
            f"{len(self.failed)} failed, {len(left)} left ({planned:.3g} minutes as planned)",
            *([f"Trained now: {few(self.made)}"] if self.made else []),
            *[f"Failed: {key}: {said}" for key, said in list(self.failed.items())[:3]],
            *([f"Left: {few([run['key'] for run in left])}"] if left else []),
        ]
        if self.without:
            names = ", ".join(sorted(self.without))
            lines.append(f"Not installed here: {names}; make run measures the rest at home")
        lines.append(f"Results: {self.to} ({size:.1f} MB); at home: make merge FROM=results.tar")
        if left or self.failed:
            lines.append("The same command goes on from here; logs say more.")
        return lines


def done(job: PackedJob) -> bool:
    """Whether a job's output is there, which comes whole or not at all."""
    return (ROOT / job["out"]).is_file()


def trains(run: PackedRun, job: PackedJob) -> bool:
    """Whether a job is a training that the store does not have, maybe under another name."""
    known = (ROOT / "results/store" / run["identity"] / "result").is_dir()
    return job["program"].endswith(".train") and not known


def pack(bundle: Bundle, to: Path) -> None:
    """Write what the store has of a bundle's runs: results, and the states of unfinished ones.

    Who worked on a run, who asked for it, and why it failed, stays: elsewhere it may not fail.
    """
    files = {}
    for run in bundle["runs"]:
        for path in sorted((ROOT / "results/store" / run["identity"]).rglob("*")):
            name = path.relative_to(ROOT / "results")
            odd = [one for one in name.parts if one[0] == "." or one.endswith(QUARANTINED)]
            stays = path.name.startswith("generation-") or path.name in ("asked", "failed.json")
            if path.is_file() and not odd and not stays:
                files[str(name)] = path
    write_archive(to, files, RESULTS, {"schema": SCHEMA, "commit": bundle["commit"]})


def last_line(log: Path) -> str:
    """What a program said last."""
    lines = log.read_text("utf-8", errors="replace").strip().splitlines()
    return lines[-1].removeprefix("error: ") if lines else "it said nothing"


def few(keys: list[str]) -> str:
    """The first names of a list, and how many there are beside."""
    more = f" and {len(keys) - 4} more" if len(keys) > 4 else ""
    return f"{', '.join(keys[:4])}{more}"


def say(line: str) -> None:
    """Say a line at once."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
