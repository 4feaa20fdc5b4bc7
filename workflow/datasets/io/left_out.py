"""What could not be taken over from official files: read with it, written down, reported."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workflow.datasets.io.files import replacing
from workflow.errors import FETCH_AGAIN, DataError

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
        with replacing(out / COUNTS) as stream:
            stream.write(json.dumps(vars(self), sort_keys=True).encode() + b"\n")


def read_left_out(prepared: Path) -> dict[str, Any]:
    """Return what `LeftOut.write` wrote."""
    left_out: dict[str, Any] = json.loads((prepared / COUNTS).read_text(encoding="utf-8"))
    return left_out


def read_decoded(path: Path, encoding: str, left_out: LeftOut) -> Iterator[tuple[str, str]]:
    """Yield (place, line) for every line of a text file, decoded as `LeftOut.decode` does.

    The last line may lack its newline. Raises DataError when there is no such file or no line.
    """
    if not path.is_file():
        raise DataError(f"{path}: this dataset file does not exist; fetch it again.")
    number = 0
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            yield f"{path}, line {number}", left_out.decode(line.rstrip(b"\r\n"), encoding)
    if not number:
        raise DataError(f"{path}: this file is empty; {FETCH_AGAIN}.")
