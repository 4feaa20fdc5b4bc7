"""Where a person put features of images, and what tells them from others, without reading them."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

from workflow.runtime.errors import check_links

KINDS = (".npz", ".npy")


class FeatureLocation(TypedDict):
    """Where features are, and what tells them from others."""

    path: str
    contents: dict[str, int]
    """`files`, their `bytes`, and when the `newest` was written, in ns"""


class FeatureIndex(FeatureLocation):
    """What the rule `index_features` writes down."""

    schema: int
    width: int


def locate(manual: Path, dataset: str) -> Path | None:
    """Return the folder of features below `manual`, else the HDF5 file, None without either.

    Raises DataError for links that lead in a circle.
    """
    folder, file = places(manual, dataset)
    check_links(folder)
    check_links(file)
    return folder if folder.is_dir() else file if file.exists() else None


def places(manual: Path, dataset: str) -> tuple[Path, Path]:
    """Return where a folder of features belongs, and where an HDF5 file does."""
    return manual / dataset / "features", manual / dataset / "features.hdf5"


def entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Yield the files of features in a folder; hidden ones, such as macOS's `._1.npy`, are none."""
    with os.scandir(folder) as listed:
        for one in listed:
            if one.name.endswith(KINDS) and not one.name.startswith(".") and one.is_file():
                yield one


def location(path: Path) -> FeatureLocation:
    """Return where features are, and what tells them from others."""
    files = [one.stat() for one in entries(path)] if path.is_dir() else [path.stat()]
    newest = max((one.st_mtime_ns for one in files), default=0)
    size = sum(one.st_size for one in files)
    contents = {"files": len(files), "bytes": size, "newest": newest}
    return {"path": str(path.resolve()), "contents": contents}


def state(manual: Path, dataset: str, index: Path) -> str:
    """Return what changes when features are replaced, as canonical JSON.

    Of features that are gone it is what their index says: they are not needed any more once the
    data are encoded. What can't be looked at is left to the job, which says so.
    """
    path = locate(manual, dataset)
    try:
        place: FeatureLocation = location(path) if path else json.loads(index.read_bytes())
        stated = {"path": place["path"], "contents": place["contents"]}
        return json.dumps(stated, sort_keys=True)
    except (OSError, ValueError, KeyError, TypeError):
        return "{}"
