"""News Commentary v14 (WMT 2019): English-Dutch, English-Portuguese and Italian-Portuguese.

The official files have a sentence, a tab and its translation a line, and empty lines between the
documents. Pairs without a letter ("purely numerical") are left out, and a tenth of the others,
drawn at random, is dev; there is no test set (snell2021 appendix A.5, A.8).
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Literal

from workflow.datasets.encoded.moses import Pair
from workflow.datasets.io.left_out import Dropped, read_placed
from workflow.datasets.kinds.parallel_text import ParallelText, SplitPairs, as_written, tabbed

TRAIN = 0.9
"""Share of the pairs to train on."""


@dataclass(frozen=True)
class Data(ParallelText):
    """The commentaries; the defaults are Attention Learning's."""

    splits = ("train", "dev")
    longest = 1000
    ratio = inf
    lowercase = False

    direction: Literal["en_nl", "en_pt", "it_pt"] = "en_nl"
    vocabulary: int = 8_000
    """Entries of both sides' vocabulary by SentencePiece; there is no byte-pair encoding."""

    @property
    def files(self) -> Sequence[str]:
        """Names of the official files."""
        return [f"news-commentary-v14.{'-'.join(self.languages)}.tsv.gz"]

    def pairs(self, files: Sequence[Path], left_out: Dropped, out: Path) -> SplitPairs:
        """Return every pair, as it was written, and its split."""
        lines = (each for each in read_placed(files[0], left_out) if each[1].strip("\t"))
        with_letters = _with_letters(as_written(tabbed(lines)), left_out)
        pairs = list(self.clean(with_letters, left_out))
        train = set(
            random.Random(f"{self.name} {self.direction}").sample(
                range(len(pairs)), int(TRAIN * len(pairs))
            )
        )
        return (("train" if n in train else "dev", pair) for n, pair in enumerate(pairs))


def _with_letters(pairs: Iterable[Pair], left_out: Dropped) -> Iterator[Pair]:
    """Yield the pairs that have a letter; the others are counted as dropped."""
    for pair in pairs:
        if any(map(str.isalpha, pair.source + pair.target)):
            yield pair
        else:
            left_out.dropped["no letter"] += 1
