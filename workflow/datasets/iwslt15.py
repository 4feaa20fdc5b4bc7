"""IWSLT'15 English-Vietnamese: TED talks, in words, as Stanford's machine translation group has it.

Dev is tst2012, test is tst2013. The files are in words already, with capitals and with `&quot;` and
the like.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from typing import Literal

from workflow.datasets.io.left_out import Dropped
from workflow.datasets.kinds.parallel_text import ParallelText, SplitPairs, as_written

NAMES = {"train": "train", "dev": "tst2012", "test": "tst2013"}


@dataclass(frozen=True)
class Data(ParallelText):
    """The talks; the defaults are those of Explicit Sparse Transformer's code."""

    files = tuple(f"{name}.{language}" for name in NAMES.values() for language in ("en", "vi"))
    longest = 250
    ratio = inf
    untokenised = False

    direction: Literal["en_vi", "vi_en"] = "en_vi"
    merges: int = 32_000
    lowercase: bool = False
    """Whether all words are in lower case."""

    def pairs(self, files: Sequence[Path], left_out: Dropped, out: Path) -> SplitPairs:
        """Return every pair and its split."""
        names = {split: f"{name}.{{}}" for split, name in NAMES.items()}
        words = partial(as_written, lowercase=self.lowercase)
        return self.side_by_side(files, names, words, left_out)
