"""Data in files of a user's own, as `data: {dataset: pairs, train: [my.de, my.en]}` names them.

A recipe has the SHA-256 of each file in the place of its name: the same contents are the same data
wherever they lie, and a changed file is other data.
"""

import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import cast

from workflow.datasets.io.dataset_files import SPLITS, write_bytes
from workflow.datasets.kinds.dataset import Dataset
from workflow.datasets.kinds.recipe import Recipe
from workflow.runtime.errors import DataError, RecipeError, check_links
from workflow.runtime.integrity import sha256

OWN = {"pairs": "direction", "labelled": "format"}
"""Datasets of own files, each with the option that the endings of the files to train on tell."""
RECORD = "own_files.json"
"""The file of prepared data that has the SHA-256 of each own file by its path."""
SEED = 0
"""Seed of the choice of what is held out."""
SHARE, MOST = 10, 2000
"""One example in `SHARE`, and at most `MOST`, go to a split that has no file."""


def own_files(data: Recipe) -> list[Path]:
    """Return the own files that `data:` names, in the order of the splits."""
    named = [data.get(split) for split in SPLITS] if data.get("dataset") in OWN else []
    return [Path(name) for names in named for name in _names(names)]


def by_content(data: Recipe) -> Recipe:
    """Return `data:` with the SHA-256 of each own file in the place of its name.

    Raises RecipeError for a file that is missing, and where there is none to train on.
    """
    if data.get("dataset") not in OWN:
        return data
    if not data.get("train"):
        raise RecipeError(f"Dataset `{data['dataset']}` needs `train`: the files to train on.")
    sums = {
        split: [_content(split, Path(name)) for name in _names(data.get(split))]
        for split in SPLITS
        if split in data
    }
    for split, contents in sums.items():
        names = _names(data.get(split))
        for at, content in enumerate(contents):
            if (first := contents.index(content)) < at:
                raise RecipeError(
                    f"{split}: {names[at]} has the contents of {names[first]}; name each once."
                )
    for one, other in combinations(sums, 2):
        if both := {*sums[one]} & {*sums[other]}:
            path = _names(data.get(one))[sums[one].index(both.pop())]
            raise RecipeError(
                f"{other}: has the texts of {one}, {path}; name other files, or leave {other} out "
                f"to hold texts out."
            )
    endings = [Path(name).suffix[1:].lower() for name in _names(data.get("train"))]
    if data["dataset"] == "labelled":
        endings = [*dict.fromkeys(endings)]  # files of one form
    return cast(Recipe, {OWN[data["dataset"]]: "_".join(endings), **data, **sums})


def named(data: Recipe) -> Recipe:
    """Return `data:` with own files by their names, without folders."""
    if data.get("dataset") not in OWN:
        return data
    splits = {*SPLITS} & {*data}
    names = {split: [Path(name).name for name in _names(data.get(split))] for split in splits}
    return cast(Recipe, {**data, **names})


def _names(value: object) -> Sequence[str]:
    names = [value] if isinstance(value, str) else value or []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise RecipeError(f"{value} names no files; write a file or a list of files.")
    return names


def _content(split: str, path: Path) -> str:
    try:
        check_links(path)
    except DataError as error:
        raise RecipeError(f"{split}: {error}") from None
    if not path.is_file():
        raise RecipeError(
            f"{split}: {path} is no file; give its path, absolute or from the folder of the YAML "
            "file that names it."
        )
    state = path.stat()
    return _sum(path, state.st_size, state.st_mtime_ns)


@cache
def _sum(path: Path, _size: int, _written: int) -> str:
    """Return the SHA-256 of a file of this size and time, read once."""
    return sha256(path)


@dataclass(frozen=True)
class OwnFiles(Dataset):
    """A dataset of own files, each named by its SHA-256."""

    files = ()

    train: list[str] = field(default_factory=list)
    """Files to train on."""
    dev: list[str] | None = None
    """Files to choose settings with; without them a tenth of the examples to train on, at most
    2,000, chosen at random with seed 0."""
    test: list[str] | None = None
    """Files to report on; without them likewise."""

    @property
    def prepared(self) -> Sequence[str]:
        """Files that `prepare` writes."""
        return [*super().prepared, RECORD]

    @property
    def missing(self) -> list[str]:
        """The splits that have no file."""
        return [split for split in SPLITS if not getattr(self, split)]

    def by_split(self, files: Sequence[Path]) -> dict[str, list[Path]]:
        """Return the files of each split that has any.

        Raises DataError for a file whose content is not what the recipe says.
        """
        left, found = iter(files), dict[str, list[Path]]()
        for split in SPLITS:
            for expected in getattr(self, split) or ():
                path = next(left)
                if not path.is_file() or sha256(path) != expected:
                    raise DataError(
                        f"{path}: this file of data.{split} is gone or has changed since the run "
                        "was planned; run again."
                    )
                found.setdefault(split, []).append(path)
        return found

    def held_out(self, count: int, files: Sequence[Path]) -> list[int]:
        """Return the number of examples, of `count` to train on, for each split without a file.

        Raises DataError where none would be left to train on.
        """
        share = min(math.ceil(count / SHARE), MOST)
        if share * len(self.missing) >= count > 0:
            raise DataError(
                f"{files[0]}: {count} examples of data.train are too few to hold out "
                f"{' and '.join(self.missing)}; name files for these, or add examples."
            )
        return [share for _ in self.missing]

    def chosen(self, count: int, files: Sequence[Path]) -> dict[int, str]:
        """Return the split of each example to train on that is held out, by its place."""
        sizes = self.held_out(count, files)
        places = random.Random(SEED).sample(range(count), sum(sizes))
        splits = [s for s, size in zip(self.missing, sizes, strict=True) for _ in range(size)]
        return dict(zip(places, splits, strict=True))

    def check_filled(self, counts: Mapping[str, int], files: Mapping[str, list[Path]]) -> None:
        """Raise DataError for a split of which nothing is left."""
        for split in SPLITS:
            if not counts.get(split):
                paths = ", ".join(map(str, files.get(split, files["train"])))
                raise DataError(f"{paths}: no example is left for data.{split}; add some.")

    def write_record(self, files: Sequence[Path], out: Path) -> None:
        """Write which files the data were prepared from."""
        sums = [one for split in SPLITS for one in getattr(self, split) or ()]
        record = {str(path.resolve()): one for path, one in zip(files, sums, strict=True)}
        write_bytes(out / RECORD, json.dumps(record, indent=2).encode() + b"\n")
