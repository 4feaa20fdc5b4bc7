"""Features of images that another network made: a folder of files, or one HDF5 file.

A person puts them at `<results>/data/manual/<dataset>/features`, a folder (or a link to one) with a
file an image, `<image>.npz` or `<image>.npy`, or at `features.hdf5` there, with a dataset an image,
`<image>` or `<image>_features`; other datasets in it, such as `<image>_boxes`, are left alone. An
image's array has a row a region (R, F), or is a grid (H, W, F); in an `.npz` it is called `feat`,
`features` or `x`, or is the only one.

The rule `index_features` finds them and writes down where they are, with how many files, bytes and
the newest one's time: when these change, it and all that follows run again. A rule in its place
that makes features itself writes such an index, of which `path` and the `width` F are read.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from workflow.datasets.encoded.encoding import array_file, write_array
from workflow.datasets.io.archives import DAMAGE
from workflow.datasets.io.dataset_files import write_bytes
from workflow.datasets.kinds.feature_files import (
    KINDS,
    FeatureIndex,
    entries,
    locate,
    location,
    places,
)
from workflow.runtime.errors import DataError

NAMES = ("feat", "features", "x")
WHERE = {
    "coco": (
        "bottom-up features (36 boxes of width 2048 an image) are at "
        "https://github.com/peteanderson80/bottom-up-attention, and as one HDF5 file at "
        "https://github.com/aimagelab/meshed-memory-transformer"
    )
}
"""Where features of a dataset's images can be had."""


class Features:
    """Features by the name of their image, in a folder or an open HDF5 file."""

    def __init__(self, path: Path, width: int, opened: Any = None) -> None:
        self.path, self.width, self.opened = path, width, opened

    def read(self, image: str) -> np.ndarray:
        """Return the features of an image (R, F).

        Raises DataError when there are none, they can't be read or are of another width.
        """
        if self.opened is None:
            files = (self.path / f"{image}{kind}" for kind in KINDS)
            found = ((str(file), _read_file(file)) for file in files if file.is_file())
            wanted = f"{image}.npz or {image}.npy"
        else:
            keys = (key for key in (image, f"{image}_features") if key in self.opened)
            found = ((f"{self.path}: {key}", _dataset(self.path, self.opened, key)) for key in keys)
            wanted = f"a dataset `{image}`"
        first = next(found, None)
        if first is None:
            raise DataError(
                f"{self.path} has no features of image {image}, which the captions name; add "
                f"{wanted}."
            )
        place, rows = first
        if rows.shape[1] != self.width:
            raise DataError(
                f"{place}: these features are {rows.shape[1]} wide, and others are {self.width}; "
                "take features of one network for all images."
            )
        return rows


def advice(manual: Path, dataset: str) -> str:
    """Return what a person does about features that are missing."""
    folder, file = places(manual, dataset)
    had = f": {WHERE[dataset]}" if dataset in WHERE else ""
    return (
        f"There are no features of the images of `{dataset}`{had}; put a folder with a file "
        f"`<image>.npz` or `.npy` for each image at {folder}, or one HDF5 file at {file}."
    )


def find(manual: Path, dataset: str) -> FeatureIndex:
    """Return the index of the features that a person put below `manual`.

    Raises DataError when there are none, or the first ones can't be read.
    """
    folder, _ = places(manual, dataset)
    path = locate(manual, dataset)
    if path is None:
        raise DataError(advice(manual, dataset))
    if path == folder:
        some = min((Path(one.path) for one in entries(path)), default=None)
        if some is None:
            raise DataError(
                f"{path} has no file `<image>.npz` or `.npy`; put the features there, one file an "
                "image."
            )
        width = _read_file(some).shape[1]
    else:
        with _hdf5(path) as opened:
            key = _first(opened)
            if key is None:
                raise DataError(f"{path} has no dataset; put another file in its place.")
            width = _dataset(path, opened, key).shape[1]
    return {"schema": 1, **location(path), "width": int(width)}


def write_index(index: FeatureIndex, out: Path) -> None:
    """Write an index."""
    write_bytes(out, json.dumps(index, indent=2).encode() + b"\n")


@contextmanager
def open_features(index: Path) -> Iterator[Features]:
    """Yield the features that an index tells of; raise DataError when it is none."""
    try:
        told = json.loads(index.read_bytes())
        path, width = Path(told["path"]), int(told["width"])
    except (OSError, ValueError, KeyError, TypeError):
        raise DataError(
            f"{index} has no `path` and `width` of features; delete it and run again."
        ) from None
    if path.is_dir():
        yield Features(path, width)
    elif not path.exists():
        raise DataError(
            f"{path}, where {index} says that the features are, is gone; put it back, or delete "
            f"{index} and run again to look for other features."
        )
    else:
        with _hdf5(path) as opened:
            yield Features(path, width, opened)


def write_features(
    features: Features, images: Sequence[str], regions: int, out: Path, split: str
) -> None:
    """Write images' features (N, R, F), R regions each, and how many of them are real (N,).

    Raises DataError when an image has no features, they can't be read, are of another width, or are
    no finite numbers as float16.
    """
    shape = (regions, features.width)
    counts = np.zeros(len(images), np.int32)
    with array_file(out / f"{split}.features.npy", np.float16, shape) as stream:
        for number, name in enumerate(images):
            read = features.read(name)[:regions]
            counts[number] = len(read)
            filled = np.zeros(shape, np.float16)
            with np.errstate(over="ignore"):  # what becomes infinite is refused below
                filled[: len(read)] = read
            if not np.isfinite(filled).all():
                raise DataError(
                    f"{features.path}: the features of image {name} have a value that is no number "
                    f"or is beyond {np.finfo(np.float16).max}, the largest of float16; replace "
                    "them, or scale those of all images."
                )
            stream.write(filled.tobytes())
    write_array(out / f"{split}.regions.npy", counts)


def _read_file(path: Path) -> np.ndarray:
    """Return the features in a file (R, F): its content tells an archive, not its name."""
    try:
        content = np.load(path)
        if isinstance(content, np.lib.npyio.NpzFile):
            with content as archive:
                named = [name for name in NAMES if name in archive] or archive.files
                content = archive[named[0]] if named else None
    except (ValueError, *DAMAGE) as error:
        raise DataError(f"{path} can't be read ({error}); replace it.") from None
    if not isinstance(content, np.ndarray):
        raise DataError(f"{path} holds no array; replace it.")
    return _rows(str(path), content)


def _first(names: Iterable[str]) -> str | None:
    """Return the dataset of an HDF5 file that has the features of some image."""
    number = other = None
    for name in names:
        if name.endswith("_features"):
            return name
        if name.isdecimal():
            number = number or name
        other = other or name
    return number or other


def _dataset(path: Path, opened: Any, name: str) -> np.ndarray:
    """Return the features in a dataset of an HDF5 file (R, F)."""
    place = f"{path}: {name}"
    try:
        entry = opened[name]
        if not hasattr(entry, "shape"):
            raise DataError(
                f"{place} is a group, not an image's array; replace the file by one whose datasets "
                "are called `<image>` or `<image>_features`."
            )
        content = entry[()]
    except (OSError, KeyError) as error:
        raise DataError(f"{place} can't be read ({error}); replace the file.") from None
    return _rows(place, content)


def _rows(place: str, array: np.ndarray) -> np.ndarray:
    """Return an image's features as rows; those of a grid one row of it after the other."""
    if array.ndim not in (2, 3) or not array.size or array.dtype.kind != "f":
        raise DataError(
            f"{place}: expected numbers of shape (regions, width) or (height, width, channels), "
            f"found {array.dtype} of shape {array.shape}; replace it."
        )
    return array.reshape(-1, array.shape[-1])


@contextmanager
def _hdf5(path: Path) -> Iterator[Any]:
    """Yield an open HDF5 file; raise DataError when it can't be read."""
    try:
        import h5py  # type: ignore[import-not-found]
    except ImportError:
        raise DataError(
            f"{path}: the package h5py, which reads HDF5, is not installed; install it "
            "(envs/lock-captions.txt has it), or put a folder of .npz files there."
        ) from None
    try:
        opened = h5py.File(path, "r")
    except OSError as error:
        raise DataError(f"{path} can't be read ({error}); replace it.") from None
    with opened:
        yield opened
