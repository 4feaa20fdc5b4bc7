"""Fetch a source file, from a mirror where it has it, else from its address; always verified."""

import hashlib
import http.client
import lzma
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from workflow.datasets.errors import DataError
from workflow.datasets.files import replacing
from workflow.datasets.sources import Source, read_table

INDEX = "SOURCES.tsv"
INDEX_COLUMNS = ("url", "file", "kind")
PLAIN, PACKED = "the url's bytes", "xz of the url's bytes"
CHUNK = 1 << 20  # bytes
TIMEOUT = 30.0  # seconds without an answer
PAUSES = (1.0, 2.0, 4.0)  # seconds before each further attempt


class Unavailable(Exception):
    """A place that did not give the right file; the message says why."""

    def __init__(self, reason: str, passing: bool) -> None:
        """Keep the reason, and whether another attempt may succeed."""
        super().__init__(reason)
        self.passing = passing


def fetch(source: Source, mirror: Path | None, out: Path, pauses: Sequence[float] = PAUSES) -> None:
    """Write the verified file of `source` to `out`.

    Raises DataError when the mirror can't be used, when its file is not the one listed, or when
    no address gives the file.
    """
    found = find_in_mirror(mirror, source) if mirror else None
    if found:
        _copy(found[0], found[1], source, out)
    else:
        _download(source, out, pauses)


def find_in_mirror(mirror: Path, source: Source) -> tuple[Path, str] | None:
    """Return the mirror's file with the bytes of one of the source's addresses and its kind.

    Entries of other kinds than the bytes themselves or an xz of them are passed over.
    """
    if not mirror.is_dir():
        raise DataError(
            f"The mirror {mirror} is not a folder; correct `mirror` in the configuration, or "
            "remove it to download."
        )
    index = mirror / INDEX
    if not index.is_file():
        raise DataError(
            f"The mirror {mirror} has no index {INDEX}; add it, or remove `mirror` from the "
            "configuration to download."
        )
    for _, row in read_table(index, INDEX_COLUMNS):
        if row["url"] in source.urls and row["kind"] in (PLAIN, PACKED):
            return mirror / row["file"], row["kind"]
    return None


def _copy(path: Path, kind: str, source: Source, out: Path) -> None:
    """Copy, and unpack where needed, a file of the mirror."""
    if not path.is_file():
        raise DataError(
            f"{path}: the mirror's index lists this file for {source.name}, but it does not "
            "exist; complete the mirror, or remove `mirror` from the configuration to download."
        )
    opener = lzma.open if kind == PACKED else open
    try:
        with opener(path, "rb") as stream:
            _write(stream, source, out)
    except (lzma.LZMAError, EOFError, Unavailable) as error:
        reason = str(error) if isinstance(error, Unavailable) else "it is not a whole xz file"
        raise DataError(
            f"{path}: this file of the mirror is not {source.name}: {reason}; replace it, or "
            "remove `mirror` from the configuration to download."
        ) from None


def _download(source: Source, out: Path, pauses: Sequence[float]) -> None:
    """Download from the first address that gives the right file."""
    reasons = []
    for url in source.urls:
        for pause in (*pauses, None):
            try:
                return _attempt(url, source, out)
            except Unavailable as failure:
                if pause is None or not failure.passing:
                    reasons.append(f"{url}: {failure}")
                    break
                time.sleep(pause)
    raise DataError(
        f"{source.name} could not be downloaded ({'; '.join(reasons)}); check the network, or set "
        "`mirror` in the configuration to a folder that has the file."
    )


def _attempt(url: str, source: Source, out: Path) -> None:
    """Download once, or raise Unavailable."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
            _write(answer, source, out)
    except urllib.error.HTTPError as error:
        passing = error.code in (408, 429) or error.code >= 500
        raise Unavailable(f"{error.code} {error.reason}", passing) from None
    except urllib.error.URLError as error:
        raise Unavailable(str(error.reason), passing=True) from None
    except (http.client.HTTPException, TimeoutError, ConnectionError) as error:
        raise Unavailable(str(error) or type(error).__name__, passing=True) from None


def _write(stream: IO[bytes], source: Source, out: Path) -> None:
    """Write the stream to `out`; raise Unavailable, and write nothing, if it is another file.

    A stream that ended too early may be whole at the next attempt.
    """
    checksum, size = hashlib.sha256(), 0
    with replacing(out) as target:
        while chunk := stream.read(CHUNK):
            checksum.update(chunk)
            size += len(chunk)
            target.write(chunk)
        difference = source.mismatch(checksum.hexdigest(), size)
        if difference:
            raise Unavailable(difference, passing=size < source.bytes)
