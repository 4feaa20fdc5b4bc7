"""The store of runs: one folder per identity, with the state of an unfinished run or its result.

Only the standard library is used, so that finding a finished run needs no torch. The store is not
declared to the workflow; what the workflow declares is copied out of it.

    <store>/<identity>/generation-<n>     who worked on the run, newest last
                       state-<update>.pt  resume states, at most two
                       kept/              weights of the updates that the spec asks for
                       history.jsonl      the history so far
                       segments.json      where and when processes worked on the run
                       failed.json        why the run can't be trained
                       asked              the folder that asked for the run last
                       result/            the finished run, complete or absent
                       result.damaged/    the same, where it was found damaged, till the run is done
                       records/           what is kept of checkpoints, by the code that made it
                       measures/          what probes found, by their own code hash
"""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workflow.runtime.atomic import atomic_path, flush, write_atomically
from workflow.runtime.integrity import (
    Damaged,
    check_files,
    checksums_of,
    quarantine,
    read_verified,
    with_checksum,
)


class Fenced(Exception):
    """A newer process has taken the run over; this one must write nothing more."""


class Entry:
    """A run's place in the store.

    Args:
        store: the store's folder.
        identity: of the run.
    """

    def __init__(self, store: Path, identity: str) -> None:
        self.identity = identity
        self.folder = store / identity
        self.result = self.folder / "result"

    def finished(self) -> bool:
        """Whether the store holds the run's result, damaged or not."""
        return self.result.is_dir()

    def whole(self, say: Callable[[str], None]) -> bool:
        """Whether the store holds the run's result as it was written.

        What is damaged is set aside, which `say` is told, and the run counts as not finished.
        """
        if not os.path.lexists(self.result):
            return False
        try:
            identity = read_result(self.result)["identity"]
            if identity == self.identity:
                return True
            fault = f"{self.result} is of run {identity}"
        except NotADirectoryError:
            fault = f"{self.result} is no folder"
        except (Damaged, OSError) as error:
            fault = str(error)
        say(f"{fault}; it is now {quarantine(self.result)}, and the run counts as not finished.")
        return False

    def claim(self) -> Lease:
        """Take the run over from whoever worked on it: the newest claim wins."""
        self.folder.mkdir(parents=True, exist_ok=True)
        while True:
            generation = self.newest_generation() + 1
            path = self.folder / f"generation-{generation}"
            owner = {"host": socket.gethostname(), "pid": os.getpid(), "at": now()}
            try:
                with path.open("x") as stream:
                    json.dump(owner, stream)
                return Lease(self, generation)
            except FileExistsError:
                continue

    def newest_generation(self) -> int:
        """The number of the newest claim, 0 if there is none."""
        names = [path.name for path in self.folder.glob("generation-*")]
        return max((int(name.removeprefix("generation-")) for name in names), default=0)

    def failure(self) -> dict[str, str] | None:
        """Why an earlier process found that the run cannot be trained, if it did."""
        path = self.folder / "failed.json"
        return json.loads(path.read_text()) if path.is_file() else None

    def copy_result(self, out: Path, spec: Mapping[str, object]) -> None:
        """Copy the result's files and the spec into a folder, each whole or not at all.

        `run.json` goes first and comes last: where it is, the folder is whole. It holds `spec`,
        the asker's: a run of equal identity may bear another name there than where it was trained.
        """
        (out / "checkpoints").mkdir(parents=True, exist_ok=True)
        (out / "run.json").unlink(missing_ok=True)
        for old in (out / "checkpoints").glob("step-*"):
            if not (self.result / "checkpoints" / old.name).exists():
                old.unlink(missing_ok=True)
        for source in sorted(self.result.rglob("*")):
            if source.parent.name == "checkpoints":
                _share(source, out / "checkpoints" / source.name)
            elif source.is_file() and source.name != "run.json":
                with atomic_path(out / source.relative_to(self.result)) as target:
                    shutil.copyfile(source, target)
        write_atomically(out / "spec.json", with_checksum(spec, indent=2, sort_keys=True))
        record = read_verified(self.result / "run.json") | {"spec": spec}
        write_atomically(out / "run.json", with_checksum(record, indent=2, sort_keys=True))


@dataclass(frozen=True)
class Lease:
    """A process's right to write to an entry, until a newer process claims it."""

    entry: Entry
    generation: int

    def check(self) -> None:
        """Make sure that the claim is the newest.

        Raises:
            Fenced: a newer process has claimed the run.
        """
        newest = self.entry.newest_generation()
        if newest > self.generation:
            path = self.entry.folder / f"generation-{newest}"
            other = json.loads(path.read_text() or "null")
            who = f"process {other['pid']} on {other['host']}" if other else "a newer process"
            raise Fenced(
                f"{who} has taken over run {self.entry.identity}; "
                f"this older process leaves it alone and ends."
            )

    def fail(self, reason: str, invocation: str) -> None:
        """Mark the run as one that fails in the same way whenever it is tried."""
        self.check()
        marker = {"reason": reason, "invocation": invocation, "at": now()}
        write_atomically(self.entry.folder / "failed.json", json.dumps(marker).encode())

    @contextmanager
    def result(self, record: Mapping[str, object]) -> Iterator[Path]:
        """A folder to write to; unless there is an error, it becomes the run's result.

        Args:
            record: what `run.json` says of the run, beside the checksums of the files.
        """
        files = self.entry.folder / f".result.{self.generation}"
        (files / "checkpoints").mkdir(parents=True)
        try:
            yield files
            names = [path.name for path in files.iterdir() if path.is_file()]
            steps = [f"checkpoints/{path.name}" for path in (files / "checkpoints").iterdir()]
            sums = {"files": checksums_of(files, names), "checkpoints": checksums_of(files, steps)}
            content = with_checksum({**record, **sums}, indent=2, sort_keys=True)
            (files / "run.json").write_bytes(content)
            for path in files.rglob("*"):
                flush(path)
            self.check()
            try:
                os.replace(files, self.entry.result)
            except OSError:
                # An older process got past its check just before this one's claim: keep its.
                if not self.entry.finished():
                    raise
        finally:
            shutil.rmtree(files, ignore_errors=True)
        self._clear()

    def adopt(self, files: Path) -> None:
        """Let what `result` made elsewhere, now a folder of the same disk, be this run's result."""
        self.check()
        os.replace(files, self.entry.result)
        self._clear()

    def _clear(self) -> None:
        """Drop what only an unfinished run needs."""
        for path in self.entry.folder.iterdir():
            kept = path.name in ("result", "records", "measures", "asked")
            if kept or path.name.startswith("generation-"):
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with suppress(OSError):
                    path.unlink()


def read_result(folder: Path) -> Any:
    """What `run.json` of a folder of results says, once every file there is as it was written.

    Of the weights along training only those that are left are looked at.

    Raises:
        Damaged: one is another one, or missing; it names that one.
        OSError: one can't be read.
    """
    record = read_verified(folder / "run.json")
    left = {name: s for name, s in record["checkpoints"].items() if (folder / name).exists()}
    check_files(folder, record["files"])
    check_files(folder, left)
    return record


def drop_checkpoints(*folders: Path) -> None:
    """Remove the weights of updates from folders with `checkpoints`, which stay."""
    for folder in folders:
        for path in (folder / "checkpoints").glob("step-*"):
            path.unlink(missing_ok=True)


def _share(source: Path, target: Path) -> None:
    """Give a file a second place, without a copy where the disk allows; none where it is gone."""
    with suppress(FileNotFoundError), atomic_path(target) as hidden:
        try:
            os.link(source, hidden)
        except FileNotFoundError:
            raise
        except OSError:
            shutil.copyfile(source, hidden)


def now() -> str:
    """The time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
