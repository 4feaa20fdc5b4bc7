"""What lies in the folders of a dataset, read back; and archives to read."""

import io
import math
import tarfile
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from workflow.datasets.encoded.prepared import prepared_lines
from workflow.datasets.io.dataset_files import read_records


def records(folder: Path, *splits: str) -> list[dict[str, Any]]:
    """Return the prepared records of some splits."""
    return [r for split in splits for r in read_records(folder / "prepared" / f"{split}.jsonl")]


def labelled(folder: Path, *splits: str) -> list[tuple[str, int]]:
    """Return the prepared texts of some splits and their labels, sorted."""
    return sorted((record["text"], record["label"]) for record in records(folder, *splits))


def texts(folder: Path, name: str) -> list[str]:
    """Return the lines of a prepared parallel text, such as `dev.source`."""
    return list(prepared_lines(folder / "prepared" / f"{name}.txt"))


def examples(manifest: Mapping[str, Any]) -> dict[str, int]:
    """Return how many examples every split has."""
    return {split: size["examples"] for split, size in manifest["splits"].items()}


def names(encoded: Path) -> list[str]:
    """Return what every number of a token stands for."""
    return (encoded / "vocabulary.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n")


def rows(encoded: Path, split: str, column: str = "tokens") -> list[list[int]]:
    """Cut a column with a number a token into examples."""
    offsets = np.load(encoded / f"{split}.offsets.npy")
    values = np.load(encoded / f"{split}.{column}.npy")
    assert offsets.dtype == np.int64 and offsets[0] == 0 and offsets[-1] == len(values)
    assert column != "tokens" or values.dtype == np.int32
    return [part.tolist() for part in np.split(values, offsets[1:-1])]


def decoded(encoded: Path, split: str) -> list[list[str]]:
    """Return the tokens of every example as they are written."""
    written = names(encoded)
    return [[written[token] for token in row] for row in rows(encoded, split)]


def assert_chances(counts: Counter[Any], chances: Mapping[Any, float]) -> None:
    """Fail where an outcome is more than 5 standard errors from its chance, or has none."""
    draws = counts.total()
    assert math.isclose(sum(chances.values()), 1) and {*counts} <= {*chances}
    for outcome, chance in chances.items():
        error = 5 * math.sqrt(chance * (1 - chance) / draws) + 1 / draws
        assert abs(counts[outcome] / draws - chance) < error, outcome


def assert_uniform(counts: Counter[Any], outcomes: int) -> None:
    """Fail unless so many outcomes come alike often."""
    assert len(counts) == outcomes
    assert_chances(counts, dict.fromkeys(counts, 1 / outcomes))


def tar(members: Mapping[str, bytes], mode: str = "w:gz") -> bytes:
    """Return a tar archive with these files, in this order."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


def zipped(members: Mapping[str, bytes]) -> bytes:
    """Return a zip archive with these files and a folder, in this order."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("folder")
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()
