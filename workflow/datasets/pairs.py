"""Sentences and their translations in files of a user's own: `train: [my.de, my.en]`.

Each split has two files with a sentence a line. Words are made as for Multi30k: punctuation is made
uniform, then Moses splits. The endings of the names tell the languages, else `direction`.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path

from workflow.datasets.encoded.moses import Moses
from workflow.datasets.io.left_out import Dropped, read_text
from workflow.datasets.kinds.own_files import OwnFiles
from workflow.datasets.kinds.parallel_text import ParallelText, SplitPairs, as_written, read_sides
from workflow.runtime.errors import DataError, RecipeError


@dataclass(frozen=True)
class Data(OwnFiles, ParallelText):
    """The pairs."""

    ratio = inf

    merges: int = 8_000
    lowercase: bool = True
    """Whether all words are in lower case."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for split, files in (("train", self.train), ("dev", self.dev), ("test", self.test)):
            if files and len(files) != 2:
                raise RecipeError(
                    f"Option `{split}` of dataset `pairs` names {len(files)} files; name two, with "
                    "the sentences and with their translations."
                )
        if not re.fullmatch("[a-z]{2}_[a-z]{2}", self.direction):
            raise RecipeError(
                f"Option `direction` of dataset `pairs` is {self.direction!r}; name the languages "
                "by two letters each, such as de_en, or let the files end so: my.de, my.en."
            )

    def prepare(self, files: Sequence[Path], out: Path) -> None:
        """Write every pair in words, and which files they are from."""
        super().prepare(files, out)
        self.write_record(files, out)

    def pairs(self, files: Sequence[Path], left_out: Dropped, out: Path) -> SplitPairs:
        """Yield every pair and its split."""
        moses = Moses(self.languages, self.lowercase, normalise=True).pairs
        words = partial(as_written, lowercase=self.lowercase) if self.vocabulary else moses
        own, counts = self.by_split(files), Counter[str]()
        for split, paths in own.items():
            lines = [sum(1 for _ in read_text(path, Dropped())) for path in paths]
            if lines[0] != lines[1]:
                raise DataError(
                    f"{paths[0]} has {lines[0]} lines and {paths[1]} has {lines[1]}; data.{split} "
                    "needs a translation for each sentence, on the line of the same number."
                )
            held = self.chosen(lines[0], paths) if split == "train" else {}
            for place, pair in enumerate(words(read_sides(paths[0], paths[1], left_out))):
                to = held.get(place, split)
                for kept in self.clean([pair], left_out, to):
                    counts[to] += 1
                    yield to, kept
        self.check_filled(counts, own)
