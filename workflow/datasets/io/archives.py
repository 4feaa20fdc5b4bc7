"""Archives: their files read one by one, without unpacking to disk; written always the same."""

import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath

from workflow.datasets.io.files import replacing
from workflow.errors import FETCH_AGAIN, DataError

CHUNK = 1 << 20  # bytes
DAMAGE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    RuntimeError,  # zipfile's for a password, and for a compression that it does not know
    lzma.LZMAError,
    zlib.error,
    EOFError,
    OSError,
)


def members(path: Path, wanted: Callable[[str], object]) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of the regular files whose name is `wanted`, in the archive's order.

    `path` is a tar archive, compressed by gzip, bzip2, xz or not at all, or a zip archive: its
    content decides, not its name. Names have no leading `./`. Raises DataError when the archive is
    missing, damaged or cut short, when a name leads out of it, and when a wanted file is a link or
    a device, or comes twice.
    """
    if not path.is_file():
        raise DataError(f"{path}: this archive does not exist; fetch it again.")
    seen = set()
    try:
        reader = _zip if zipfile.is_zipfile(path) else _tar
        for full, regular, read in reader(path):
            name = _safe(path, full)
            if not wanted(name):
                continue
            if not regular:
                raise DataError(
                    f"{path}: {name} is a link or a device, not a file; replace the archive."
                )
            if name in seen:
                raise DataError(f"{path}: {name} is in the archive twice; replace the archive.")
            seen.add(name)
            yield name, read()
    except DAMAGE as error:
        reason = str(error).partition("\n")[0].rstrip(":")
        raise DataError(
            f"{path}: this archive is damaged or cut short ({reason}); {FETCH_AGAIN}."
        ) from None


def member(path: Path, name: str) -> bytes | None:
    """Return the content of the one file of an archive that is called `name`, None without it."""
    wanted = members(path, lambda full: PurePosixPath(full).name == name)
    return next((content for _, content in wanted), None)


def _tar(path: Path) -> Iterator[tuple[str, bool, Callable[[], bytes]]]:
    """Yield (name, whether it is a regular file, how to read it) for all but the folders."""
    with tarfile.open(path, "r:*") as archive:
        assert archive.fileobj is not None
        for member in archive:
            if not member.isdir():
                yield member.name, member.isreg(), partial(_content, archive, member)
        # A tar that is cut between two files reads as a whole one but for the zeros that end it.
        archive.fileobj.seek(archive.offset)
        if archive.fileobj.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
            raise tarfile.ReadError("its end is missing")
        while archive.fileobj.read(CHUNK):  # the checksum of the whole stands at the very end
            pass


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    """Return the bytes of a regular file of a tar archive."""
    stream = archive.extractfile(member)
    assert stream is not None
    return stream.read()


def _zip(path: Path) -> Iterator[tuple[str, bool, Callable[[], bytes]]]:
    """Yield (name, whether it is a regular file, how to read it) for all but the folders."""
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            if not entry.is_dir():
                kind = entry.external_attr >> 28  # the upper half holds the Unix mode, or zero
                yield entry.filename, kind in (0, 8), partial(archive.read, entry)


def _safe(path: Path, name: str) -> str:
    """Return the name without `./`, or raise DataError when it leads out of the archive."""
    pure = PurePosixPath(name)
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
