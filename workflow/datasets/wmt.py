"""The files of the WMT shared tasks: archives with two plain texts, and plain test sets."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from workflow.datasets.archives import members
from workflow.datasets.errors import FETCH_AGAIN, DataError
from workflow.datasets.files import by_name
from workflow.datasets.losses import Losses
from workflow.datasets.moses import Moses, Pair
from workflow.datasets.parallel_text import clean, read_sides, whole


class Part(NamedTuple):
    """An official archive, and its two files without the language they end in."""

    archive: str
    name: str


def read(
    options: Any,
    train: Sequence[Part],
    held_out: Mapping[str, str],
    endings: Mapping[str, str],
    files: Sequence[Path],
    out: Path,
    losses: Losses,
) -> Iterator[tuple[str, Pair]]:
    """Yield every pair and its split.

    Args:
        options: of the dataset.
        train: where the pairs to train on are.
        held_out: the two files of a split, without their ending.
        endings: of the files of a split, by language.
        files: the official files.
        out: folder in which archives are unpacked, one at a time.
        losses: what could not be taken over.
    """
    moses = Moses(options.languages, options.lowercase)
    out.mkdir(parents=True, exist_ok=True)
    for part in train:
        path = by_name(files, part.archive)
        with tempfile.TemporaryDirectory(prefix=".unpacked.", dir=out) as folder:
            names = [f"{part.name}.{language}" for language in options.languages]
            sides = read_sides(*_unpack(path, names, Path(folder)), losses)
            yield from (("train", pair) for pair in clean(options, moses.pairs(sides), losses))
    for split, name in held_out.items():
        source, target = (by_name(files, f"{name}.{endings[one]}") for one in options.languages)
        pairs = moses.pairs(read_sides(source, target, losses))
        yield from ((split, pair) for pair in whole(pairs, str(source)))


def _unpack(path: Path, names: Sequence[str], folder: Path) -> tuple[Path, Path]:
    """Write the two named files of an archive to a folder; return where they are."""
    for member, content in members(path, lambda member: Path(member).name in names):
        (folder / Path(member).name).write_bytes(content)
        del content  # before the next is read: each is hundreds of megabytes
    for name in names:
        if not (folder / name).is_file():
            raise DataError(f"{path}: there is no {name}; {FETCH_AGAIN}.")
    return folder / names[0], folder / names[1]
