"""The checksums of a stage of a dataset, which the next stage compares its files with."""

from pathlib import Path
from typing import Any

from model.store.checksums import Damaged, check_files, listed, read_sealed, sealed
from workflow.datasets.io.files import write_bytes

NAME = "checksums.json"
"""Of raw and of prepared files; of encoded ones the manifest tells them."""


def write_checksums(folder: Path) -> None:
    """Write the checksums of the files of a stage, once all of them are there."""
    names = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
    write_bytes(folder / NAME, sealed({"files": listed(folder, names)}, indent=2))


def check_checksums(folder: Path) -> None:
    """Raise Damaged unless the files of a stage are those that were written."""
    check_files(folder, _read(folder / NAME)["files"])


def read_manifest(encoded: Path) -> dict[str, Any]:
    """What a folder of encoded data says of itself; raise Damaged where that was changed."""
    return _read(encoded / "manifest.json")


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise Damaged(path, f"{path} is missing")
    return read_sealed(path)
