"""Files that are whole or not there: written aside, flushed, then renamed."""

from __future__ import annotations

import errno
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
ABANDONED = 86400.0
"""Seconds after which nobody writes a hidden file any more."""
_HIDDEN = re.compile(r"\..+\.[0-9a-f]{8}\.part")


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file aside, then rename it; an OSError that would name no file names this one."""
    try:
        with atomic_path(path) as target:
            target.write_bytes(content)
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
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


def abandoned(folder: Path) -> list[Path]:
    """The hidden files in and below a folder that killed processes left half-written."""
    found = []
    for path in folder.rglob(".*.part"):
        with suppress(FileNotFoundError):  # one that is being written becomes whole meanwhile
            # The time of the content is another file's where a hidden one is a link to it.
            old = time.time() - path.stat().st_ctime > ABANDONED
            found += [path] if old and _HIDDEN.fullmatch(path.name) else []
    return sorted(found)


def unwritable(path: Path) -> str:
    """Why a file can't be written at a path, as far as can be told before; empty where it can."""
    if path.is_dir():
        return f"{path} is a folder"
    there = next(one for one in path.absolute().parents if os.path.exists(one))
    if not there.is_dir():
        return f"{there} is a file"
    return "" if os.access(there, os.W_OK | os.X_OK) else f"{there} is not writable"


def flush(path: Path) -> None:
    """Make sure that a file or folder is on the disk, so that no power cut makes it shorter."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
