"""The files of the WMT shared tasks: archives with two plain texts, and plain test sets."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

from workflow.datasets.encoded.moses import Moses
from workflow.datasets.io.archives import members
from workflow.datasets.io.files import by_name
from workflow.datasets.io.left_out import LeftOut
from workflow.datasets.kinds.parallel_text import ParallelText, SplitPairs, read_sides
from workflow.errors import FETCH_AGAIN, DataError


class Archive(NamedTuple):
    """An official archive, and its two files without the language they end in."""

    file: str
    name: str


@dataclass(frozen=True)
class SharedTask(ParallelText):
    """The texts of a shared task, in words by Moses."""

    archives: ClassVar[Sequence[Archive]]
    """Where the pairs to train on are."""
    held_out: ClassVar[Mapping[str, str]]
    """The two files of a split, without their ending."""
    endings: ClassVar[Mapping[str, str]]
    """Of the files of a split, by language."""

    lowercase: bool = False
    """Whether all words are in lower case."""

    @property
    def files(self) -> Sequence[str]:
        """Names of the official files."""
        endings = self.endings.values()
        held_out = [f"{name}.{ending}" for name in self.held_out.values() for ending in endings]
        return [*(archive.file for archive in self.archives), *held_out]

    def pairs(self, files: Sequence[Path], left_out: LeftOut, out: Path) -> SplitPairs:
        """Yield every pair and its split; archives are unpacked one at a time."""
        moses = Moses(self.languages, self.lowercase)
        out.mkdir(parents=True, exist_ok=True)
        for archive in self.archives:
            path = by_name(files, archive.file)
            with tempfile.TemporaryDirectory(prefix=".unpacked.", dir=out) as folder:
                names = [f"{archive.name}.{language}" for language in self.languages]
                sides = read_sides(*_unpack(path, names, Path(folder)), left_out)
                yield from (("train", pair) for pair in self.clean(moses.pairs(sides), left_out))
        for split, name in self.held_out.items():
            source, target = (
                by_name(files, f"{name}.{self.endings[one]}") for one in self.languages
            )
            pairs = moses.pairs(read_sides(source, target, left_out))
            yield from self.fit(split, pairs, source, left_out)


def _unpack(path: Path, names: Sequence[str], folder: Path) -> tuple[Path, Path]:
    """Write the two named files of an archive to a folder; return where they are."""
    for member, content in members(path, lambda member: Path(member).name in names):
        (folder / Path(member).name).write_bytes(content)
        del content  # before the next is read: each is hundreds of megabytes
    for name in names:
        if not (folder / name).is_file():
            raise DataError(f"{path}: there is no {name}; {FETCH_AGAIN}.")
    return folder / names[0], folder / names[1]
