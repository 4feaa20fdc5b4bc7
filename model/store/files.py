"""Files that are whole or not there: written aside, flushed, then renamed."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file aside, then rename it; an OSError that would name no file names this one."""
    try:
        with aside(path) as target:
            target.write_bytes(content)
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """A hidden path to write a file at, renamed to `path` in the end.

    After an error nothing has changed. That of a full disk, which names no file by itself, names
    `path`; others may be of a file that is read meanwhile.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    hidden = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield hidden
        flush(hidden)
        os.replace(hidden, path)
    except OSError as error:
        if error.errno in DISK_FULL:
            error.filename = str(path)
        raise
    finally:
        hidden.unlink(missing_ok=True)


def flush(path: Path) -> None:
    """Make sure that a file or folder is on the disk, so that no power cut makes it shorter."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
