"""The files of the WMT shared tasks: archives with two plain texts, and plain test sets."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from workflow.datasets.encoded.moses import Moses
from workflow.datasets.io.archives import named
from workflow.datasets.io.dataset_files import by_name
from workflow.datasets.io.left_out import Dropped
from workflow.datasets.kinds.parallel_text import ParallelText, SplitPairs, read_sides
from workflow.runtime.errors import FETCH_AGAIN, DataError


@dataclass(frozen=True)
class SharedTask(ParallelText):
    """The texts of a shared task, in words by Moses."""

    archives: ClassVar[Mapping[str, str]]
    """The official archives, and the two files of each without the language that they end in."""
    held_out: ClassVar[Mapping[str, str]]
    """The two files of a split, without their ending."""

    lowercase: bool = False
    """Whether all words are in lower case."""

    @property
    def files(self) -> Sequence[str]:
        """Names of the official files."""
        endings = self.endings.values()
        held_out = [f"{name}.{ending}" for name in self.held_out.values() for ending in endings]
        return [*self.archives, *held_out]

    def pairs(self, files: Sequence[Path], left_out: Dropped, out: Path) -> SplitPairs:
        """Yield every pair and its split; archives are unpacked one at a time."""
        moses = Moses(self.languages, self.lowercase)
        out.mkdir(parents=True, exist_ok=True)
        for archive, name in self.archives.items():
            with tempfile.TemporaryDirectory(prefix=".unpacked.", dir=out) as folder:
                names = [f"{name}.{language}" for language in self.languages]
                sides = _unpack(by_name(files, archive), names, Path(folder))
                pairs = moses.pairs(read_sides(*sides, left_out))
                yield from (("train", pair) for pair in self.clean(pairs, left_out))
        held_out = {split: f"{name}.{{}}" for split, name in self.held_out.items()}
        yield from self.side_by_side(files, held_out, moses.pairs, left_out)


def _unpack(path: Path, names: Sequence[str], folder: Path) -> tuple[Path, Path]:
    """Write the two named files of an archive to a folder; return where they are."""
    for name, _, content in named(path, names):
        (folder / name).write_bytes(content)
        del content  # before the next is read: each is hundreds of megabytes
    for name in names:
        if not (folder / name).is_file():
            raise DataError(f"{path}: there is no {name}; {FETCH_AGAIN}.")
    return folder / names[0], folder / names[1]
