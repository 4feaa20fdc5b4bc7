"""Mirrors: folders of downloaded files with an index `SOURCES.tsv` that says what each one is.

A row of the index has `file`, its `sha256` and `bytes`, the `url` that it is of, and its `kind`:
the url's bytes, an xz of them, or a bundle put together from many files, which has the layout of
the official archive whose address `stands_for` begins with.
"""

import hashlib
import lzma
import re
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from workflow.datasets.fetched.origins import Origin
from workflow.datasets.fetched.sources import Source, mismatch, read_table
from workflow.datasets.io.archives import LARGEST, members
from workflow.datasets.io.dataset_files import replacing
from workflow.runtime.errors import DataError
from workflow.runtime.integrity import sha256

INDEX = "SOURCES.tsv"
COLUMNS = ("url", "file", "sha256", "bytes", "kind")
KINDS = PLAIN, PACKED, BUNDLE = "the url's bytes", "xz of the url's bytes", "bundle"
CHUNK = 1 << 20  # bytes
WAY_OUT = "or remove `mirror` from the configuration to download"


@dataclass(frozen=True)
class MirrorFile:
    """A row of a mirror's index that holds a source."""

    place: str
    """The index and the line."""
    path: Path
    row: Mapping[str, str]
    member: str = ""
    """Path of the file inside the bundle, where only that is the source."""


def find(mirror: Path, source: Source) -> MirrorFile | None:
    """Return the row of the mirror that holds a source, if any.

    That is a row with one of its addresses, else a bundle that stands for it, else a bundle that
    it is one of the many files of. Raises DataError when the mirror has no readable index, or a row
    with an address of the source is of an unknown kind; what other rows are does not matter.
    """
    if not mirror.is_dir():
        raise DataError(
            f"The mirror {mirror} is not a folder; correct `mirror` in the configuration, or "
            "remove it to download."
        )
    index = mirror / INDEX
    if not index.is_file():
        raise DataError(f"The mirror {mirror} has no index {INDEX}; add it, {WAY_OUT}.")
    found: dict[str, MirrorFile] = {}
    for place, row in read_table(index, COLUMNS):
        entry = MirrorFile(place, mirror / row["file"], row)
        official = (row.get("stands_for") or "").partition(" ")[0]
        if row["kind"] not in KINDS and {row["url"], official} & {*source.urls}:
            raise DataError(
                f"{place}: the kind of {row['file']} is {row['kind']!r}; write one of: "
                f"{', '.join(KINDS)}."
            )
        if row["url"] in source.urls:
            found.setdefault("url", entry)
        elif row["kind"] == BUNDLE and official in source.urls:
            found.setdefault("stands for", entry)
        elif row["kind"] == BUNDLE and (member := _member(row["url"], source)):
            found.setdefault("member", replace(entry, member=member))
    return found.get("url") or found.get("stands for") or found.get("member")


def take(entry: MirrorFile, source: Source, out: Path) -> Origin:
    """Copy (unpack, extract) an entry to `out` and return its record.

    Raises DataError, and writes nothing, unless the mirror's file is the one that its index lists
    and what comes out of it the source; a bundle that stands for the source is verified by the
    index alone.
    """
    check(entry, source)
    row = entry.row
    with replacing(out) as target:
        checksum, size = _unpack(entry, source, target)
        bundle = row["kind"] == BUNDLE and not entry.member
        unpacked = row.get("unpacked_sha256") if row["kind"] == PACKED else ""
        if unpacked and unpacked != checksum:
            raise _other(entry, source, f"expected unpacked_sha256 {unpacked}, found {checksum}")
        difference = None if bundle else source.mismatch(checksum, size)
        if difference:
            raise _other(entry, source, difference)
    note = row["file"]
    if bundle:
        note += f", which stands for {row.get('stands_for') or row['url']}"
    return Origin("bundle" if bundle else "mirror", checksum, size, note)


def _other(entry: MirrorFile, source: Source, why: str) -> DataError:
    """Return the error for what is not the source."""
    return DataError(
        f"{entry.place}: {entry.path} is not {source.name}: {why}; replace it, {WAY_OUT}."
    )


def check(entry: MirrorFile, source: Source) -> None:
    """Raise DataError unless the mirror's file is the one that its index lists."""
    path, row = entry.path, entry.row
    if not path.is_file():
        raise DataError(
            f"{entry.place}: the mirror has no file {path}, listed for {source.name}; complete the "
            f"mirror, {WAY_OUT}."
        )
    listed = (row["sha256"], int(row["bytes"]) if row["bytes"].isdecimal() else 0)
    difference = mismatch(listed, (sha256(path), path.stat().st_size))
    if difference:
        raise DataError(
            f"{entry.place}: {path} is not the file that the index lists: {difference}; replace "
            "the file, or correct the index if the file is right."
        )


def _member(pattern: str, source: Source) -> str:
    """Return the path of the source below the folder that a bundle's address begins with.

    Such an address ends in a pattern, as in `https://host/folder/{a,b}/*.txt`. Empty if the source
    lies elsewhere, or if nothing could tell the right bytes.
    """
    folder, wild, _ = re.split(r"([{*]|$)", pattern, maxsplit=1)
    for url in source.urls if wild and not source.by_hand else ():
        if url.startswith(folder):
            return urllib.parse.unquote(url.removeprefix(folder))
    return ""


def _unpack(entry: MirrorFile, source: Source, target: IO[bytes]) -> tuple[str, int]:
    """Write what an entry holds; return its SHA-256 and size."""
    if entry.member:
        inside = dict(members(entry.path, lambda name: f"/{name}".endswith(f"/{entry.member}")))
        if len(inside) > 1:
            names = " and ".join(inside)
            raise _other(entry, source, f"{names} in it both end in {entry.member}")
        content = b"".join(inside.values())
        target.write(content)
        return hashlib.sha256(content).hexdigest(), len(content)
    opener = lzma.open if entry.row["kind"] == PACKED else open
    checksum, size = hashlib.sha256(), 0
    try:
        with opener(entry.path, "rb") as stream:
            while chunk := stream.read(CHUNK):
                checksum.update(chunk)
                size += len(chunk)
                if size > max(source.bytes, LARGEST):
                    raise _other(entry, source, f"it has more than {size} bytes")
                target.write(chunk)
    except (lzma.LZMAError, EOFError):
        raise _other(entry, source, "it is not a whole xz file") from None
    return checksum.hexdigest(), size
