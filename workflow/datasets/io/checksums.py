"""The checksums of a stage of a dataset, which the next stage compares its files with."""

from pathlib import Path
from typing import Any, NotRequired, TypedDict, cast

from workflow.datasets.io.dataset_files import Statistics, write_bytes
from workflow.runtime.integrity import (
    Damaged,
    Sum,
    check_files,
    checksums_of,
    read_verified,
    with_checksum,
)

NAME = "checksums.json"
"""Of raw and of prepared files; of encoded ones the manifest tells them."""


class SplitSize(TypedDict):
    """What a split holds, EOS not counted."""

    examples: int
    tokens: int


class Manifest(TypedDict):
    """What encoded data say of themselves, as far as other stages read it."""

    digest: str
    """of all files"""
    files: dict[str, Sum]
    statistics: Statistics
    splits: dict[str, SplitSize]
    vocabulary_size: int
    vocabulary_sizes: NotRequired[dict[str, int]]
    """by side, where source and target have one each"""


def write_checksums(folder: Path) -> None:
    """Write the checksums of the files of a stage, once all of them are there."""
    names = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
    write_bytes(folder / NAME, with_checksum({"files": checksums_of(folder, names)}, indent=2))


def check_checksums(folder: Path) -> None:
    """Raise Damaged unless the files of a stage are those that were written."""
    check_files(folder, _read(folder / NAME)["files"])


def read_manifest(encoded: Path) -> Manifest:
    """What a folder of encoded data says of itself; raise Damaged where that was changed."""
    return cast(Manifest, _read(encoded / "manifest.json"))


def _read(path: Path) -> Any:
    if not path.is_file():
        raise Damaged(path, f"{path} is missing")
    return read_verified(path)
