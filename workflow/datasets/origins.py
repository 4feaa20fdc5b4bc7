"""Where a fetched file came from: `<file>.origin.json` beside it, and the check against it.

A file that stands for the listed one (a bundle of a mirror), or that a person got by hand, has a
checksum of its own. It is recorded when the file is fetched, so that nobody can swap it unseen.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from workflow.datasets.errors import DataError
from workflow.datasets.files import replacing, sha256
from workflow.datasets.sources import Source, mismatch

SCHEMA = 1


@dataclass(frozen=True)
class Origin:
    """Where a file came from, and its bytes."""

    kind: Literal["url", "mirror", "bundle", "manual"]
    """A download; the listed bytes from a mirror; a bundle that stands for them; by hand."""
    sha256: str
    bytes: int
    note: str
    """The address, or the mirror's file and what it stands for."""


def record(path: Path) -> Path:
    """Return the path of the record of the file at `path`."""
    return path.with_name(f"{path.name}.origin.json")


def write(path: Path, origin: Origin) -> None:
    """Write the record of the file at `path`."""
    values = asdict(origin)
    content = {"schema": SCHEMA, "from": values.pop("kind"), **values}
    with replacing(record(path)) as stream:
        stream.write(json.dumps(content, indent=2).encode() + b"\n")


def read(path: Path) -> Origin | None:
    """Return the record of the file at `path`, if it has one."""
    if not record(path).is_file():
        return None
    try:
        values = json.loads(record(path).read_bytes())
        return Origin(values["from"], values["sha256"], values["bytes"], values["note"])
    except (ValueError, KeyError, TypeError):
        raise DataError(
            f"{record(path)}: this is not a record of where {path.name} came from; delete both "
            "files and fetch again."
        ) from None


def verify(path: Path, source: Source) -> None:
    """Raise DataError unless `path` has the bytes of `source`, or of what it was fetched as."""
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
        raise DataError(f"{path}: {difference}; delete the file and fetch it again.")
