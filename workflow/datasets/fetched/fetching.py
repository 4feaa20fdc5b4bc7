"""Fetch a source file: from a mirror that has it, else by hand or from its address; verified."""

import os
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from workflow.datasets.fetched import mirrors, origins
from workflow.datasets.fetched.downloading import PAUSES, download
from workflow.datasets.fetched.origins import Origin
from workflow.datasets.fetched.sources import Source
from workflow.datasets.io.dataset_files import replacing
from workflow.runtime.atomic import DISK_FULL
from workflow.runtime.errors import DataError, check_links
from workflow.runtime.integrity import Damaged, sha256


def fetch(
    source: Source, mirror: Path | None, by_hand: Path, out: Path, pauses: Sequence[float] = PAUSES
) -> Origin:
    """Write the verified file of `source` to `out` and return where it came from.

    `mirror` is the folder to look in first, `by_hand` that in which a person puts, as
    `<dataset>/<file>`, what can't be downloaded, and `pauses` are seconds before further attempts.
    Raises DataError when the mirror can't be used or its file is not the one listed, no address
    gives the file, a person has to get it, or the disk is full.
    """
    entry = mirrors.find(mirror, source) if mirror else None
    try:
        if entry:
            return mirrors.take(entry, source, out)
        if source.by_hand:
            return _take_by_hand(source, by_hand / source.name, out)
        return download(source, out, pauses)
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        size = f" ({source.bytes} bytes)" if source.bytes else ""
        resumed = "" if entry or source.by_hand else ", the download goes on where it stopped"
        raise DataError(
            f"{out}: the disk is full; make room for {source.name}{size} and run again{resumed}."
        ) from None


def at_hand(source: Source, mirror: Path | None, by_hand: Path) -> bool:
    """Return whether `fetch` finds a file without a download; the arguments are as there.

    Raises DataError when the mirror can't be used.
    """
    if mirror and mirrors.find(mirror, source):
        return True
    check_links(by_hand / source.name)
    return source.by_hand and (by_hand / source.name).is_file()


def put_by_hand(path: Path, out: Path) -> str:
    """Return the SHA-256 of what a person put at `path`, for `fetch` to write to `out`.

    A file whose size and time are those on record is not read. Of one that is gone it is what the
    record says: the file is not needed any more. Empty where `fetch` took none.
    """
    try:
        origin = origins.read(out)
    except Damaged:
        origin = None
    if origin and origin.kind != "manual":
        return ""
    check_links(path)
    if not path.is_file():
        return origin.sha256 if origin else ""
    state = path.stat()
    if origin and (origin.bytes, origin.written) == (state.st_size, state.st_mtime_ns):
        return origin.sha256
    return _sum(path, state.st_size, state.st_mtime_ns)


@cache
def _sum(path: Path, _size: int, _written: int) -> str:
    """Return the SHA-256 of a file of this size and time, read once."""
    return sha256(path)


def _take_by_hand(source: Source, path: Path, out: Path) -> Origin:
    """Copy a file that a person got; its checksum is recorded as it is found."""
    check_links(path)
    if not path.is_file():
        raise DataError(
            f"{source.advice} whose index lists its checksum; nobody publishes one, or the terms "
            f"ask for a form ({source.licence})."
        )
    with path.open("rb") as stream, replacing(out) as target:
        written = os.fstat(stream.fileno()).st_mtime_ns
        shutil.copyfileobj(stream, target)
    return Origin("manual", sha256(out), out.stat().st_size, f"put at {path} by hand", written)
