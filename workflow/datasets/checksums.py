"""The checksums of each stage of a dataset, which the next compares the files with.

Where one differs the whole folder has to go, for a folder is what a stage makes.
"""

from pathlib import Path
from typing import Any

from model.checksums import Damaged, check_files, listed, read_sealed, sealed
from workflow.datasets.files import replacing

NAME = "checksums.json"


def write_checksums(folder: Path) -> None:
    """Write the checksums of the files of a stage, once all of them are there."""
    names = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
    with replacing(folder / NAME) as stream:
        stream.write(sealed({"files": listed(folder, names)}, indent=2))


def check_checksums(folder: Path) -> None:
    """Raise Damaged, for the folder as a whole, unless its files are those that were written."""
    try:
        files = read_sealed(folder / NAME)["files"]
    except FileNotFoundError:
        raise Damaged(folder, f"{folder} has no {NAME}") from None
    except Damaged as error:
        raise Damaged(folder, str(error)) from None
    check_files(folder, files, whole=True)


def read_manifest(encoded: Path) -> dict[str, Any]:
    """What a folder of encoded data says of itself; raise Damaged, for the folder, if changed."""
    try:
        return read_sealed(encoded / "manifest.json")
    except Damaged as error:
        raise Damaged(encoded, str(error)) from None
