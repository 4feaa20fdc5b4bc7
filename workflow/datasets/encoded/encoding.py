"""The encoded form of every dataset: flat integer arrays, a vocabulary and a manifest."""

import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from model.store.checksums import listed, sealed
from workflow.datasets.io.files import replacing, write_lines

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


def write_encoded(
    out: Path,
    dataset: str,
    options: Mapping[str, Any],
    symbols: Sequence[str],
    splits: Mapping[str, EncodedSplit],
    statistics: Mapping[str, Any],
) -> None:
    """Write the arrays of every split, `vocabulary.txt` and, last of all, `manifest.json`.

    `symbols` are numbered after the reserved ones. The manifest's `digest` depends on the contents
    of the files only, so equal data has an equal digest however it was made.
    """
    out.mkdir(parents=True, exist_ok=True)
    (out / "manifest.json").unlink(missing_ok=True)
    vocabulary = [*RESERVED, *symbols]
    write_lines(out / "vocabulary.txt", vocabulary)
    names = ["vocabulary.txt"]
    for split, content in splits.items():
        arrays: dict[str, NDArray[Any]] = {
            "tokens": content.tokens.astype(np.int32),
            "offsets": np.concatenate([[0], content.lengths.cumsum()]).astype(np.int64),
            **content.columns,
        }
        for column, array in arrays.items():
            name = f"{split}.{column}.npy"
            buffer = io.BytesIO()  # given a file, NumPy doesn't say why it could not write
            np.save(buffer, array, allow_pickle=False)
            with replacing(out / name) as stream:
                stream.write(buffer.getbuffer())
            names.append(name)
    sizes = {
        split: {"examples": len(content.lengths), "tokens": len(content.tokens)}
        for split, content in splits.items()
    }
    known = {"splits": sizes, "vocabulary_size": len(vocabulary), "statistics": statistics}
    write_manifest(out, dataset, options, names, known)


def write_manifest(
    out: Path,
    dataset: str,
    options: Mapping[str, Any],
    names: Iterable[str],
    known: Mapping[str, Any],
) -> None:
    """Write `manifest.json`: checksums of the files `names`, and what else is known of the data."""
    files = listed(out, names)
    manifest = {
        "schema": SCHEMA,
        "dataset": dataset,
        "options": dict(options),
        "files": files,
        "digest": digest(files),
        **known,
    }
    with replacing(out / "manifest.json") as stream:
        stream.write(sealed(manifest, indent=2, sort_keys=True))


def digest(files: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the SHA-256 over the sorted lines `name sha256` of a manifest's files."""
    lines = sorted(f"{name} {entry['sha256']}\n" for name, entry in files.items())
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@contextmanager
def image_array(path: Path, shape: Sequence[int], kind: type) -> Iterator[IO[bytes]]:
    """Yield a file to write the images' numbers to, one image after the other; an array of it."""
    with replacing(path) as stream:
        header = {"descr": np.dtype(kind).str, "fortran_order": False, "shape": tuple(shape)}
        np.lib.format.write_array_header_1_0(stream, header)
        yield stream
