"""Download a source file over HTTP: resumed where it broke off, tried again, always verified.

What has arrived lies in `.<name>.part`. Every address continues it, whatever its server says of
the file's version: two servers of one file name different versions, and the checksum decides in the
end whether the pieces belong together. A whole file with the wrong bytes is kept as `<name>.wrong`
and never accepted.
"""

import email.utils
import errno
import http.client
import os
import re
import socket
import ssl
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from workflow.datasets.fetched.origins import Origin
from workflow.datasets.fetched.sources import Source
from workflow.runtime.atomic import flush
from workflow.runtime.errors import DataError
from workflow.runtime.integrity import sha256

CHUNK = 1 << 16  # bytes
TIMEOUT = 30.0  # seconds without an answer
PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)  # seconds before each further attempt
LONGEST_WAIT = 300.0  # seconds that a server may ask for
REPORT_EVERY = 10.0  # seconds
NO_WAY = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN)
TRIES = 1  # further attempts where no server is reached, and none was since the beginning


class Unavailable(Exception):
    """A place that did not give the right file; the message says why."""

    def __init__(self, reason: str, passing: bool, wait: float = 0.0, reached: bool = True) -> None:
        """Keep the reason, whether another attempt may succeed, and how many seconds to wait.

        `reached` is false where its name has no address, or no way leads there.
        """
        super().__init__(reason)
        self.passing = passing
        self.wait = wait
        self.reached = reached


class PartialFile:
    """What has arrived of a file."""

    def __init__(self, out: Path) -> None:
        """`out` is where the whole file will be."""
        self.path = out.with_name(f".{out.name}.part")
        self.wrong = out.with_name(f"{out.name}.wrong")

    @property
    def size(self) -> int:
        """Bytes that have arrived."""
        return self.path.stat().st_size if self.path.is_file() else 0

    def discard(self) -> None:
        """Forget what has arrived."""
        self.path.unlink(missing_ok=True)

    def move(self, to: Path) -> None:
        """Give what has arrived its final name."""
        flush(self.path)
        os.replace(self.path, to)


def download(source: Source, out: Path, pauses: Sequence[float] = PAUSES) -> Origin:
    """Download `source` from the first address that gives the right file; return its record.

    Raises DataError, saying what happened at each address, when none does.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    part, reasons = PartialFile(out), []
    for url in source.urls:
        try:
            _persist(url, source, part, pauses)
        except Unavailable as failure:
            reasons.append(f"{url}: {failure}")
        else:
            part.move(out)
            return Origin("url", source.sha256, source.bytes, url)
    raise DataError(
        f"{source.name} could not be downloaded ({'; '.join(reasons)}); check the network, or set "
        "`mirror` in the configuration to a folder that has the file."
    )


def _persist(url: str, source: Source, part: PartialFile, pauses: Sequence[float]) -> None:
    """Get the right file into `part`, in as many attempts as it takes while each brings more."""
    left, furthest, reached = list(pauses), part.size, False
    while True:
        try:
            return _attempt(url, source, part)
        except Unavailable as failure:
            if part.size > furthest:
                left, furthest = list(pauses), part.size
            reached = reached or failure.reached
            if not reached:
                left = left[: TRIES - (len(pauses) - len(left))]
            if not failure.passing or not left:
                raise
            pause = max(left.pop(0), failure.wait)
            print(f"{url}: {failure}; trying again in {pause:g} s", file=sys.stderr, flush=True)
            time.sleep(pause)


def _attempt(url: str, source: Source, part: PartialFile) -> None:
    """Ask once for what is missing and check the whole; raise Unavailable if it is not right."""
    have = part.size
    if have < source.bytes:
        have = _receive(url, have, source, part)
    difference = source.mismatch(sha256(part.path), part.size)
    if difference and have:
        part.discard()
        raise Unavailable("the pieces of several attempts don't make up the file", passing=True)
    if difference:
        part.move(part.wrong)
        raise Unavailable(f"{difference}, kept as {part.wrong}", passing=False)


def _receive(url: str, have: int, source: Source, part: PartialFile) -> int:
    """Receive what follows the first `have` bytes, or everything if the server wants it so.

    Returns the number of bytes that were kept from before.
    """
    request = urllib.request.Request(url, headers={"User-Agent": "saccade"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            start, length = _extent(answer, have)
            if start != have:
                part.discard()
            if start not in (0, have):
                raise Unavailable(f"it sent bytes from {start} on, not from {have}", passing=True)
            _write(answer, length, source, part)
            return start
    except urllib.error.HTTPError as error:
        raise _refusal(error, part) from None
    except urllib.error.URLError as error:
        reached = not _lost(error.reason)
        raise Unavailable(str(error.reason), passing=True, reached=reached) from None
    except (http.client.HTTPException, ConnectionError, TimeoutError, ssl.SSLError) as error:
        raise Unavailable(str(error) or type(error).__name__, passing=True) from None


def _lost(reason: object) -> bool:
    """Return whether a name has no address, or no way leads to it."""
    return isinstance(reason, socket.gaierror) or getattr(reason, "errno", None) in NO_WAY


def _extent(answer: http.client.HTTPResponse, have: int) -> tuple[int, int | None]:
    """Return the position of an answer's first byte, and the whole file's length if it says so.

    A part of the file begins where it was asked for, after the first `have` bytes, unless the
    server says otherwise.
    """
    if answer.status == 206:
        span = re.match(r"bytes (\d+)-\d+/(\d*)", answer.headers.get("Content-Range", ""))
        return (int(span[1]), int(span[2]) if span[2] else None) if span else (have, None)
    length = answer.headers.get("Content-Length", "")
    return 0, int(length) if length.isdecimal() else None


def _refusal(error: urllib.error.HTTPError, part: PartialFile) -> Unavailable:
    """Return what a status that is not a success means."""
    if error.code == 416:  # the file is now shorter than what has arrived
        part.discard()
    reason, wait = f"{error.code} {error.reason}", _wait(error.headers.get("Retry-After", ""))
    if wait > LONGEST_WAIT:
        return Unavailable(f"{reason}, to be asked again in {wait:.0f} s", passing=False)
    return Unavailable(reason, error.code in (408, 416, 429) or error.code >= 500, wait)


def _wait(value: str) -> float:
    """Return the seconds that a `Retry-After` asks for, as a number or as a date."""
    if value.isdecimal():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return 0.0


def _write(
    answer: http.client.HTTPResponse, length: int | None, source: Source, part: PartialFile
) -> None:
    """Append an answer to the part, a byte more than the source's at most.

    Raises Unavailable when the connection breaks off before the length that was announced.
    """
    end = source.bytes + 1 if length is None else min(length, source.bytes + 1)
    progress = ProgressLine(source, part.size)
    with part.path.open("ab") as target:
        size = part.size
        while size < end:
            try:
                chunk = answer.read1(min(CHUNK, end - size))
            except (OSError, http.client.HTTPException) as error:
                raise Unavailable(str(error) or type(error).__name__, passing=True) from None
            if not chunk:
                break
            target.write(chunk)
            size += len(chunk)
            progress.show(size)
    announced = source.bytes if length is None else end
    if size < announced and not answer.chunked:
        raise Unavailable(f"it broke off after {size} of {announced} bytes", passing=True)


class ProgressLine:
    """A line on stderr now and then: how much has arrived, how fast, and the time that is left."""

    def __init__(self, source: Source, size: int) -> None:
        """`size` is what had arrived before."""
        self.source, self.before = source, size
        self.began = self.shown = time.monotonic()

    def show(self, size: int) -> None:
        """Write the line if the last one is some seconds old."""
        now = time.monotonic()
        if now - self.shown < REPORT_EVERY:
            return
        self.shown = now
        rate = (size - self.before) / (now - self.began)
        print(
            f"{self.source.name}: {size / 1e6:.1f} of {self.source.bytes / 1e6:.1f} MB, "
            f"{rate / 1e6:.2f} MB/s, {max(0, self.source.bytes - size) / rate:.0f} s left",
            file=sys.stderr,
            flush=True,
        )
