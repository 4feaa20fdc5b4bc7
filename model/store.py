"""The store of runs: one folder per identity, with the state of an unfinished run or its result.

Only the standard library is used, so that finding a finished run needs no torch. The store is not
declared to the workflow; what the workflow declares is copied out of it.

    <store>/<identity>/generation-<n>     who worked on the run, newest last
                       state-<update>.pt  resume states, at most two
                       kept/              weights of the updates that the spec asks for
                       history.jsonl      the history so far
                       failed.json        why the run can't be trained
                       result/            the finished run, complete or absent
                       measures/          what probes found, by their own code hash
"""

from __future__ import annotations

import json
import os
import shutil
import socket
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


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
        """Whether the store holds the run's result."""
        return self.result.is_dir()

    def claim(self) -> Claim:
        """Take the run over from whoever worked on it: the newest claim wins."""
        self.folder.mkdir(parents=True, exist_ok=True)
        while True:
            generation = self.newest_generation() + 1
            path = self.folder / f"generation-{generation}"
            try:
                with path.open("x") as stream:
                    json.dump({"host": socket.gethostname(), "pid": os.getpid(), "at": now()}, stream)
                return Claim(self, generation)
            except FileExistsError:
                continue

    def newest_generation(self) -> int:
        """The number of the newest claim, 0 if there is none."""
        return max((int(p.name[11:]) for p in self.folder.glob("generation-*")), default=0)

    def failure(self) -> dict[str, Any] | None:
        """Why an earlier process found that the run cannot be trained, if it did."""
        path = self.folder / "failed.json"
        return json.loads(path.read_text()) if path.is_file() else None

    def copy_result(self, out: Path) -> None:
        """Copy the result's files into a folder, each whole or not at all."""
        out.mkdir(parents=True, exist_ok=True)
        for source in sorted(self.result.iterdir()):
            target, aside = out / source.name, out / f".{source.name}.{os.getpid()}"
            if source.is_dir():
                shutil.rmtree(target, ignore_errors=True)
                shutil.copytree(source, aside)
            else:
                shutil.copyfile(source, aside)
            os.replace(aside, target)


@dataclass(frozen=True)
class Claim:
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
            other = json.loads(path.read_text() or "{}")
            raise Fenced(
                f"process {other.get('pid')} on {other.get('host')} has taken over run "
                f"{self.entry.identity}; this older process leaves it alone and ends."
            )

    def fail(self, reason: str, invocation: str) -> None:
        """Mark the run as one that fails in the same way whenever it is tried."""
        self.check()
        marker = {"reason": reason, "invocation": invocation, "at": now()}
        write_atomically(self.entry.folder / "failed.json", json.dumps(marker).encode())

    def publish(self, files: Path) -> None:
        """Make a folder of files the run's result, and drop what only an unfinished run needs."""
        self.check()
        os.replace(files, self.entry.result)
        for path in self.entry.folder.iterdir():
            if path.name.startswith("state-") or path.name in ("failed.json", "history.jsonl"):
                path.unlink(missing_ok=True)
        shutil.rmtree(self.entry.folder / "kept", ignore_errors=True)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file aside, then rename it; after an error (a full disk, say) nothing has changed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with aside.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)


def now() -> str:
    """The time, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
