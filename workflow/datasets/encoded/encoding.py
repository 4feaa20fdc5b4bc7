"""The encoded form of every dataset: flat integer arrays, a vocabulary and a manifest."""

import hashlib
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from workflow.datasets.encoded.prepared import EncodableCorpus
from workflow.datasets.io.dataset_files import Statistics, replacing, write_bytes, write_lines
from workflow.runtime.integrity import Checksums, checksums_of, with_checksum

SCHEMA = 1
RESERVED = ("<pad>", "<bos>", "<unk>")
UNKNOWN = RESERVED.index("<unk>")


@dataclass(frozen=True)
class EncodedSplit:
    """One split: N examples with M tokens in all."""

    tokens: NDArray[Any]
    """Numbers of the tokens, one example after the other, (M,)."""
    lengths: NDArray[Any]
    """Tokens of each example, (N,)."""
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    """What goes with each example, (N,), or with each token, (M,)."""

    @classmethod
    def of(
        cls,
        texts: Sequence[Sequence[str]],
        numbers: Mapping[str, int],
        columns: Mapping[str, NDArray[Any]],
    ) -> "EncodedSplit":
        """Return the arrays of texts, each a list of words; those without a number are unknown."""
        tokens = [numbers.get(word, UNKNOWN) for text in texts for word in text]
        return cls(np.array(tokens), np.array([len(text) for text in texts]), columns)


def numbered(symbols: Iterable[str]) -> dict[str, int]:
    """Return the number of every symbol; the first ones are the reserved symbols'."""
    return {symbol: number for number, symbol in enumerate(symbols, start=len(RESERVED))}


def begin(out: Path) -> None:
    """Make a folder for encoded data without a manifest, which is written last of all."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "manifest.json").unlink(missing_ok=True)


def write_encoded(
    corpus: EncodableCorpus,
    out: Path,
    symbols: Sequence[str],
    splits: Mapping[str, EncodedSplit],
    statistics: Statistics,
    reserved: Sequence[str] = RESERVED,
) -> None:
    """Write the arrays of every split, `vocabulary.txt` and the manifest.

    `symbols` are numbered after the `reserved` ones, of which the second is `<bos>`.
    """
    begin(out)
    write_lines(out / "vocabulary.txt", [*reserved, *symbols])
    sizes = {split: write_split(out, split, content) for split, content in splits.items()}
    size = len(reserved) + len(symbols)
    write_manifest(corpus, out, splits=sizes, vocabulary_size=size, statistics=statistics)


def write_split(out: Path, split: str, content: EncodedSplit) -> dict[str, int]:
    """Write the arrays of a split; return how many examples and tokens it has."""
    arrays: dict[str, NDArray[Any]] = {
        "tokens": content.tokens.astype(np.int32),
        "offsets": np.concatenate([[0], content.lengths.cumsum()]).astype(np.int64),
        **content.columns,
    }
    for name, array in arrays.items():
        write_array(out / f"{split}.{name}.npy", array)
    return {"examples": len(content.lengths), "tokens": len(content.tokens)}


def write_manifest(corpus: EncodableCorpus, out: Path, **known: object) -> None:
    """Write `manifest.json`: checksums of the corpus's files, and what else is known of them.

    Its `digest` depends on their contents alone, so equal data has an equal digest however it was
    made.
    """
    files = checksums_of(out, (name for name in corpus.encoded if name != "manifest.json"))
    manifest = {
        "schema": SCHEMA,
        "dataset": corpus.name,
        "options": corpus.options,
        "files": files,
        "digest": digest(files),
        **known,
    }
    write_bytes(out / "manifest.json", with_checksum(manifest, indent=2, sort_keys=True))


def digest(files: Checksums) -> str:
    """Return the SHA-256 over the sorted lines `name sha256` of a manifest's files."""
    lines = sorted(f"{name} {entry['sha256']}\n" for name, entry in files.items())
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def write_array(path: Path, array: NDArray[Any]) -> None:
    """Write an array."""
    buffer = io.BytesIO()  # given a file, NumPy doesn't say why it could not write
    np.save(buffer, array, allow_pickle=False)
    write_bytes(path, buffer.getbuffer())


@contextmanager
def array_file(path: Path, kind: DTypeLike, row: Sequence[int] = ()) -> Iterator[IO[bytes]]:
    """Yield a file to append numbers to, as bytes: an array of as many rows as that makes.

    NumPy's header has the same length whatever the number of rows, so it is written again at the
    end.
    """
    kind = np.dtype(kind)
    with replacing(path) as stream:

        def write_header(rows: int) -> None:
            header = {"descr": kind.str, "fortran_order": False, "shape": (rows, *row)}
            np.lib.format.write_array_header_1_0(stream, header)

        write_header(0)
        start = stream.tell()
        yield stream
        rows = (stream.tell() - start) // (kind.itemsize * math.prod(row))
        stream.seek(0)
        write_header(rows)
        assert stream.tell() == start
