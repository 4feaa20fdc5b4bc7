"""What could not be taken over from official files: read with it, written down, reported."""

import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from workflow.datasets.io.files import write_bytes
from workflow.errors import FETCH_AGAIN, DataError

GZIP = b"\x1f\x8b"
COUNTS = "counts.json"
"""The file of a folder of prepared data that has them."""


@dataclass
class LeftOut:
    """What could not be taken over from the files; ends up in the manifest's statistics."""

    replaced_bytes: int = 0
    """Bytes that the declared encoding could not decode."""
    dropped: Counter[str] = field(default_factory=Counter)
    """Texts left out, by reason."""

    def decode(self, content: bytes, encoding: str) -> str:
        """Decode a text; each byte that can't be decoded becomes U+FFFD and is counted."""
        text = content.decode(encoding, "surrogateescape")
        lost = re.findall("[\udc80-\udcff]", text)
        self.replaced_bytes += len(lost)
        return re.sub("[\udc80-\udcff]", "\ufffd", text) if lost else text

    def write(self, out: Path) -> None:
        """Write them to a folder of prepared data."""
        write_bytes(out / COUNTS, json.dumps(vars(self), sort_keys=True).encode() + b"\n")


def read_left_out(prepared: Path) -> dict[str, object]:
    """Return what `LeftOut.write` wrote."""
    left_out: dict[str, object] = json.loads((prepared / COUNTS).read_text(encoding="utf-8"))
    return left_out


def read_text(path: Path, left_out: LeftOut) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, which may be gzipped; the last may lack its newline.

    Bytes that are not UTF-8 become U+FFFD and are counted. Raises DataError when there is no such
    file, it is damaged, or there is no line.
    """
    if not path.is_file():
        raise DataError(f"{path}: this dataset file does not exist; fetch it again.")
    with path.open("rb") as stream:
        packed = stream.read(len(GZIP)) == GZIP
    line = b""
    try:
        with (gzip.open if packed else open)(path, "rb") as lines:
            for line in lines:
                yield left_out.decode(line.rstrip(b"\r\n"), "utf-8")
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(
            f"{path}: this file is damaged or cut short ({error}); {FETCH_AGAIN}."
        ) from None
    if not line:
        raise DataError(f"{path}: this file is empty; {FETCH_AGAIN}.")


def read_placed(path: Path, left_out: LeftOut) -> Iterator[tuple[str, str]]:
    """Yield (place, line) for every line that `read_text` yields."""
    for number, line in enumerate(read_text(path, left_out), start=1):
        yield f"{path}, line {number}", line
