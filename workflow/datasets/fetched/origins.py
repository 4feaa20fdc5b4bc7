"""Where a fetched file came from: `<file>.origin.json` beside it, and the check against it.

A file that stands for the listed one (a bundle of a mirror), or that a person got by hand, has a
checksum of its own. It is recorded when the file is fetched, so that nobody can swap it unseen.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workflow.datasets.fetched.sources import Source, mismatch
from workflow.datasets.io.dataset_files import write_bytes
from workflow.runtime.errors import DataError
from workflow.runtime.integrity import Damaged, read_verified, sha256, with_checksum

SCHEMA = 2


@dataclass(frozen=True)
class Origin:
    """Where a file came from, and its bytes."""

    kind: Literal["url", "mirror", "bundle", "manual"]
    """A download; the listed bytes from a mirror; a bundle that stands for them; by hand."""
    sha256: str
    bytes: int
    note: str
    """The address, or the mirror's file and what it stands for."""
    written: int | None = None
    """When a person's file was written, in ns: one of this time and size has these bytes."""


def record(path: Path) -> Path:
    """Return the path of the record of the file at `path`."""
    return path.with_name(f"{path.name}.origin.json")


def write(path: Path, origin: Origin) -> None:
    """Write the record of the file at `path`."""
    files = {path.name: {"sha256": origin.sha256, "bytes": origin.bytes}}
    content = {"schema": SCHEMA, "from": origin.kind, "note": origin.note, "files": files}
    if origin.written is not None:
        content["written"] = origin.written
    write_bytes(record(path), with_checksum(content, indent=2))


def read(path: Path) -> Origin | None:
    """Return the record of the file at `path`, if it has one; raise Damaged if it was changed."""
    if not record(path).is_file():
        return None
    values = read_verified(record(path))
    file = values["files"][path.name]
    facts = (values["from"], file["sha256"], file["bytes"], values["note"])
    return Origin(*facts, values.get("written"))


def verify(path: Path, source: Source) -> None:
    """Make sure that `path` has the bytes of `source`, or of what it was fetched as.

    Raises:
        DataError: there is no file, or nothing tells where it came from.
        Damaged: its bytes are others.
    """
    if not path.is_file():
        raise DataError(f"{path}: this file does not exist; fetch {source.name} again.")
    origin = read(path)
    expected = (source.sha256, source.bytes)
    if origin and (origin.kind == "bundle" or source.by_hand):
        expected = (origin.sha256, origin.bytes)
    elif source.by_hand:
        raise DataError(
            f"{path}: nothing records where this file came from ({record(path).name} is missing); "
            "delete it and fetch it again."
        )
    difference = mismatch(expected, (sha256(path), path.stat().st_size))
    if difference:
        raise Damaged(path, f"{path}: {difference}")
