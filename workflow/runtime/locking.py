"""One call at a time works on a folder of results, from whichever checkout or machine.

The system takes the lock away from a process that has ended, however it ended. So whoever holds the
lock of a folder knows that the owner of any lock of Snakemake's on its files is gone.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from workflow.runtime.errors import UserError
from workflow.runtime.failure import exit_on_user_error

if TYPE_CHECKING:
    from snakemake.persistence import PersistenceBase

NAME = ".lock"
"""The file in a folder of results that is locked, and that names who has locked it."""


@contextmanager
def held(results: Path) -> Iterator[bool]:
    """Hold the lock of a folder of results; yield whether its file system has locks at all.

    Raises UserError where another process holds it.
    """
    results.mkdir(parents=True, exist_ok=True)
    with (results / NAME).open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise UserError(
                f"{_owner(file.read())} works on {results}; wait until it ends, or name another "
                f"folder: RESULTS=<folder>"
            ) from None
        except OSError:
            yield False
            return
        file.truncate(0)
        owner = {"host": socket.gethostname(), "pid": os.getpid(), "folder": os.getcwd()}
        print(json.dumps(owner), file=file, flush=True)
        try:
            yield True
        finally:
            file.truncate(0)


def _owner(content: str) -> str:
    try:
        owner = json.loads(content)
        return f"process {owner['pid']} on {owner['host']}, in the folder {owner['folder']},"
    except (ValueError, LookupError, TypeError):  # it has not written yet, or somebody else has
        return "another process"


def lock_with(results: str) -> None:
    """Let Snakemake hold the lock of a folder of results whenever it locks its working folder."""
    from snakemake.persistence import PersistenceBase

    lock = PersistenceBase.lock

    @contextmanager
    def both(persistence: PersistenceBase) -> Iterator[None]:
        with ExitStack() as stack:
            with exit_on_user_error():
                if stack.enter_context(held(Path(results))):
                    remove_stale(Path(persistence.path, "locks"), results)
            inner: AbstractContextManager[None] = lock(persistence)
            stack.enter_context(inner)
            yield

    PersistenceBase.lock = both


def remove_stale(locks: Path, results: str) -> None:
    """Remove the locks of Snakemake's that name files of a folder whose lock this process holds."""
    for path in locks.glob("*.lock"):
        if any(line.startswith(f"{results}/") for line in path.read_text().splitlines()):
            path.unlink(missing_ok=True)
            print(f"removed {path}: the snakemake that made it was killed", file=sys.stderr)
