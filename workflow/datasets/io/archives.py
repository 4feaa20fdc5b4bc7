"""Archives: their files read one by one, without unpacking to disk; written always the same."""

import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from unicodedata import normalize

from workflow.datasets.io.dataset_files import replacing
from workflow.runtime.errors import FETCH_AGAIN, DataError

CHUNK = 1 << 20  # bytes
LARGEST = 8 << 30
"""Most bytes that an archive may unpack to: more than that of any corpus's, less than a disk's."""
ZIP = (b"PK\x03\x04", b"PK\x05\x06")
"""The first bytes of a zip archive with files, and of one without."""
DAMAGE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    RuntimeError,  # zipfile's for a version or a part of a file that it does not know
    lzma.LZMAError,
    zlib.error,
    EOFError,
    OSError,
    LookupError,  # of tarfile, zipfile and NumPy, where a header names what is not there
    ValueError,  # theirs for a header with no number where one belongs
    struct.error,
)


def members(path: Path, wanted: Callable[[str], object]) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of the regular files whose name is `wanted`, in the archive's order.

    `path` is a tar archive, compressed by gzip, bzip2, xz or not at all, or a zip archive: its
    first bytes decide, not its name. Names have no leading `./`. Raises DataError when the archive
    is missing, damaged or cut short, when it unpacks to more than `LARGEST` bytes, when a name
    leads out of it, and when a wanted file is a link or a device, or comes twice.
    """
    if not path.is_file():
        raise DataError(f"{path}: this archive does not exist; fetch it again.")
    seen = set()
    try:
        for full, size, read in _files(path):
            name = _safe(path, full)
            if not wanted(name):
                continue
            if size is None:
                raise DataError(
                    f"{path}: {name} is a link or a device, not a file; replace the archive."
                )
            if name in seen:
                raise DataError(f"{path}: {name} is in the archive twice; replace the archive.")
            seen.add(name)
            yield name, read()
    except DataError:
        raise
    except DAMAGE as error:
        reason = str(error).partition("\n")[0].rstrip(":")
        raise DataError(
            f"{path}: this archive is damaged or cut short ({reason}); {FETCH_AGAIN}."
        ) from None


def named(path: Path, names: Container[str]) -> Iterator[tuple[str, str, bytes]]:
    """Yield (last part of the name, name, content) of the files whose last part is in `names`.

    Raises DataError as `members` does, and when the last part of two files' names is the same.
    """
    seen: dict[str, str] = {}
    for full, content in members(path, lambda full: PurePosixPath(full).name in names):
        name = PurePosixPath(full).name
        if name in seen:
            raise DataError(
                f"{path}: both {seen[name]} and {full} are called {name}, and nothing tells which "
                "is meant; replace the archive by one with a single file of this name."
            )
        seen[name] = full
        yield name, full, content
        del content  # before the next is read: each may be hundreds of megabytes


def member(path: Path, name: str) -> bytes | None:
    """Return the content of the one file of an archive that is called `name`, None without it."""
    contents = [content for _, _, content in named(path, (name,))]
    return contents[0] if contents else None


def _files(path: Path) -> Iterator[tuple[str, int | None, Callable[[], bytes]]]:
    """Yield (name, size, how to read it) for all but the folders; no size for what is no file."""
    with path.open("rb") as stream:
        reader = _zip if stream.read(len(ZIP[0])) in ZIP else _tar
    total = 0
    for name, size, read in reader(path):
        total += size or 0
        if total > LARGEST:
            raise _too_large(path)
        yield name, size, read


def _too_large(path: Path) -> DataError:
    """Return the error for an archive that nobody could unpack."""
    return DataError(
        f"{path}: this archive unpacks to more than {LARGEST} bytes, which no corpus has; replace "
        "the archive."
    )


def _tar(path: Path) -> Iterator[tuple[str, int | None, Callable[[], bytes]]]:
    """Yield the files of a tar archive, as `_files` does."""
    with tarfile.open(path, "r:*") as archive:
        assert archive.fileobj is not None
        for member in archive:
            if not member.isdir():
                size = member.size if member.isreg() else None
                yield member.name, size, partial(_content, archive, member)
        # A tar that is cut between two files reads as a whole one but for the zeros that end it.
        archive.fileobj.seek(archive.offset)
        if archive.fileobj.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
            raise tarfile.ReadError("its end is missing")
        while archive.fileobj.read(CHUNK):  # the checksum of the whole stands at the very end
            if archive.fileobj.tell() > archive.offset + LARGEST:
                raise _too_large(path)


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    """Return the bytes of a regular file of a tar archive."""
    stream = archive.extractfile(member)
    assert stream is not None
    return stream.read()


def _zip(path: Path) -> Iterator[tuple[str, int | None, Callable[[], bytes]]]:
    """Yield the files of a zip archive, as `_files` does."""
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            name = entry.filename.replace("\\", "/")  # as old packers of Windows write it
            if not name.endswith("/"):
                kind = entry.external_attr >> 28  # the upper half holds the Unix mode, or zero
                size = entry.file_size if kind in (0, 8) else None
                yield name, size, partial(_unpacked, path, archive, entry)


def _unpacked(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Return the bytes of a file of a zip archive; raise DataError for what zipfile can't do."""
    if entry.flag_bits & 1:
        raise DataError(
            f"{path}: {entry.filename} has a password; replace the archive by one without."
        )
    try:
        return archive.read(entry)
    except NotImplementedError:
        raise DataError(
            f"{path}: {entry.filename} is compressed by a method that Python can't read "
            f"(number {entry.compress_type}); pack the archive as deflate."
        ) from None


def _safe(path: Path, name: str) -> str:
    """Return the name without `./`, in Unicode's form NFC whatever system packed it.

    Raises DataError when it leads out of the archive.
    """
    pure = PurePosixPath(normalize("NFC", name))
    if pure.is_absolute() or ".." in pure.parts:
        raise DataError(f"{path}: the name {name!r} leads out of the archive; replace the archive.")
    return str(pure)


def write_archive(path: Path, members: Mapping[str, bytes]) -> None:
    """Write a tar.gz with files in the order of their names."""
    with (
        packed(path) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for file, content in sorted(members.items()):
            entry = tarfile.TarInfo(file)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


@contextmanager
def packed(path: Path) -> Iterator[gzip.GzipFile]:
    """Yield a gzip file, the same bytes whenever it is made."""
    with (
        replacing(path) as stream,
        gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as target,
    ):
        yield target
