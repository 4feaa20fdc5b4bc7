"""Files that tell when they are damaged: JSON with its own SHA-256, and that of files beside it.

    {"sha256": "<of all bytes behind this comma>",
     "files": {"weights.safetensors": {"sha256": "...", "bytes": 821928}}, ...}

Such JSON in a tar lists all else there. Only the standard library is used.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import json
import os
import shutil
import tarfile
import time
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypedDict

from workflow.runtime.atomic import atomic_path

QUARANTINED = ".damaged"
"""Behind the name of what was found damaged and set aside."""
HEAD = '{"sha256": "%s",'
LENGTH = len(HEAD % ("0" * 64))


class Sum(TypedDict):
    """What is told of a file."""

    sha256: str
    bytes: int


Checksums = Mapping[str, Sum]
"""What is told of files, by their path below a folder."""


class Damaged(Exception):
    """A file, `path`, is not what was written."""

    def __init__(self, path: Path, fault: str) -> None:
        super().__init__(fault)
        self.path = path


def sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def with_checksum(value: Mapping[str, object], **layout: Any) -> bytes:
    """JSON that begins with the SHA-256 of the rest.

    Args:
        value: at least one key, none of them `sha256`.
        layout: of `json.dumps`.

    Raises:
        ValueError: there is a NaN or an infinity, which JSON does not have.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, **layout)
    rest = f"{text[1:]}\n".encode()
    return (HEAD % hashlib.sha256(rest).hexdigest()).encode() + rest


def read_verified(path: Path) -> Any:
    """What `with_checksum` wrote, without the checksum.

    Raises:
        Damaged: any byte is another one.
        OSError: the file can't be read.
    """
    value = verified(path.read_bytes())
    if value is None:
        raise Damaged(path, f"{path} is damaged, or was changed by hand")
    return value


def verified(content: bytes) -> Any:
    """What `with_checksum` made these bytes of, None where any of them is another one."""
    head, rest = content[:LENGTH], content[LENGTH:]
    if head != (HEAD % hashlib.sha256(rest).hexdigest()).encode():
        return None
    return json.loads(b"{" + rest)


def checksums_of(folder: Path, names: Iterable[str]) -> dict[str, Sum]:
    """What a sealed file says of the files beside it, or below."""
    return {
        name: {"sha256": sha256(folder / name), "bytes": (folder / name).stat().st_size}
        for name in sorted(names)
    }


def check_files(folder: Path, files: Checksums) -> None:
    """Compare the files of a folder with what a sealed file says of them.

    Raises:
        Damaged: one is another one, or missing.
    """
    for name, told in files.items():
        path = folder / name
        try:
            fault = "" if sha256(path) == told["sha256"] else "is damaged"
        except OSError as error:
            fault = "is missing" if isinstance(error, FileNotFoundError) else str(error.strerror)
        if fault:
            raise Damaged(path, f"{path} {fault}")


def write_archive(
    path: Path, files: Mapping[str, Path | bytes], listing: str, about: Mapping[str, object]
) -> None:
    """Write a tar, whole or not at all; it is compressed where its name ends with `.gz`.

    Args:
        path: of the tar.
        files: contents, or where they are, by their path below the folder of the listing.
        listing: path of the JSON that lists them.
        about: what that says beside.
    """
    sums: dict[str, Sum] = {}
    mode: Literal["w", "w:gz"] = "w:gz" if path.suffix == ".gz" else "w"
    with atomic_path(path) as hidden, tarfile.open(hidden, mode) as tar:

        def add(name: str, content: bytes) -> None:
            member = tarfile.TarInfo(str(Path(listing).parent / name))
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))

        for name, source in sorted(files.items()):
            content = source if isinstance(source, bytes) else source.read_bytes()
            sums[name] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
            add(name, content)
        add(Path(listing).name, with_checksum({**about, "files": sums}))


def unpack_archive(path: Path, listing: str, folder: Path) -> Any:
    """Unpack into a folder what `write_archive` wrote, with its listing outside of folders.

    Returns:
        What the listing says.

    Raises:
        Damaged: any byte is another one, or a file is missing or not listed.
        OSError: it can't be read, or not be unpacked.
    """
    try:
        with tarfile.open(path) as tar:
            members = tar.getmembers()
            size, free = sum(member.size for member in members), shutil.disk_usage(folder).free
            if size > free:
                reason = f"unpacked it takes {size} bytes, and {free} are free"
                raise OSError(errno.ENOSPC, reason, str(path))
            # As if they were made here: modes are those of the umask, and times of now.
            plain = [
                member.replace(mtime=time.time(), mode=None, deep=False)  # type: ignore[arg-type]
                for member in members
                if member.isfile()
            ]
            tar.extractall(folder, plain, filter="data")
        contents = read_verified(folder / listing)
        check_files(folder, contents["files"])
        odd = {member.name for member in members} ^ {listing, *contents["files"]}
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile):
        raise Damaged(path, f"{path} is cut short, damaged or no tar") from None
    except FileNotFoundError as error:
        if not path.is_file():
            raise
        raise Damaged(path, f"{path} holds no {Path(str(error.filename)).name}") from None
    except Damaged as error:
        name = error.path.relative_to(folder)
        raise Damaged(path, f"{path} is damaged: {name} is not what was packed") from None
    if odd:
        raise Damaged(path, f"{path} is damaged: {min(odd)} does not belong there")
    return contents


def with_digest_prefix(content: bytes) -> bytes:
    """The SHA-256 of bytes, and then these."""
    return hashlib.sha256(content).digest() + content


def read_digest_prefixed(path: Path) -> bytes:
    """The bytes that were stamped; raises Damaged where they are not those that are there."""
    content = path.read_bytes()
    stamp, content = content[:32], content[32:]
    if hashlib.sha256(content).digest() != stamp:
        raise Damaged(path, f"{path} is damaged")
    return content


def quarantine(path: Path) -> Path:
    """Rename what is damaged, over what was set aside of it before; where it is now."""
    target = path.with_name(path.name + QUARANTINED)
    if not os.path.lexists(path):
        return target
    if target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)
    else:
        target.unlink(missing_ok=True)
    os.replace(path, target)
    return target
