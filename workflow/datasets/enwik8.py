"""enwik8: the first 100 million bytes of the English Wikipedia of 3 March 2006, as XML.

Text compression and language models by characters are compared on it: 90 million bytes to train
on, 5 million to choose settings with and 5 million to report on. Every byte is a symbol, of which
the whole has 205. The prefix is its first 4 %, cut in the same proportion.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workflow.datasets.io.archives import member
from workflow.datasets.io.dataset_files import by_name
from workflow.datasets.kinds.byte_text import ByteText, write_prepared
from workflow.runtime.errors import FETCH_AGAIN, DataError

ARCHIVE, MEMBER = "enwik8.zip", "enwik8"
BYTES = 100_000_000
CHECKSUM = "2b49720ec4d78c3c9fabaee6e4179a5e997302b3a70029f30f2d582218c024a8"
PREFIX = "enwik8_prefix"
USABLE = 4_154_399
"""Bytes of the prefix that are enwik8's; what follows is none of it."""


@dataclass(frozen=True)
class Data(ByteText):
    """The text, or its beginning; the default is Explicit Sparse Transformer's."""

    source: Literal["official", "prefix"] = "official"
    """The official archive, or a file that begins with the first 4,154,399 bytes of it."""

    @property
    def files(self) -> Sequence[str]:
        """The archive, or the file with the prefix."""
        return [ARCHIVE if self.source == "official" else PREFIX]

    def prepare(self, files: Sequence[Path], out: Path) -> None:
        """Cut the text into train, dev and test, 90 %, 5 % and 5 % of its bytes."""
        name = self.files[0]
        text = (_official if name == ARCHIVE else _prefix)(by_name(files, name))
        held_out = len(text) // 20
        train, dev = len(text) - 2 * held_out, len(text) - held_out
        write_prepared(out, {"train": text[:train], "dev": text[train:dev], "test": text[dev:]})


def _official(path: Path) -> bytes:
    """Return the whole text."""
    text = member(path, MEMBER)
    if text is None:
        raise DataError(f"{path}: the archive holds no file {MEMBER}; {FETCH_AGAIN}.")
    checksum = hashlib.sha256(text).hexdigest()
    if (len(text), checksum) != (BYTES, CHECKSUM):
        raise DataError(
            f"{path}: the file {MEMBER} in it is not enwik8: expected {BYTES} bytes with sha256 "
            f"{CHECKSUM}, found {len(text)} with {checksum}; {FETCH_AGAIN}."
        )
    return text


def _prefix(path: Path) -> bytes:
    """Return the usable beginning."""
    text = path.read_bytes()[:USABLE]
    if len(text) < USABLE:
        raise DataError(
            f"{path}: this is no prefix of enwik8: it has {len(text)} bytes, of {USABLE} that are "
            f"expected; {FETCH_AGAIN}."
        )
    return text
