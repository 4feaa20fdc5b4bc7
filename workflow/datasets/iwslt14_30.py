"""IWSLT'14 German-English with 30 % of its pairs to train on, put together from public samples.

Dev and test are the standard ones. The samples are in words and lower case, six with byte-pair
encoding, which is undone; three go on, after 9,999 pairs, with what is no real text. They overlap,
and were drawn before dev was: pairs that repeat, or are in dev or test, are left out.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workflow.datasets.encoded.moses import Pair
from workflow.datasets.encoded.prepared import CODES
from workflow.datasets.io.dataset_files import by_name
from workflow.datasets.io.left_out import Dropped, invisible, read_rows
from workflow.datasets.kinds.parallel_text import ParallelText, SplitPairs, read_sides, tabbed

REAL = 9_999
"""Pairs of a sample that is not used whole."""
SAMPLES: Mapping[str, int | None] = {
    "train_sample_A.train": REAL,
    "train_sample_B.train": None,
    "train_sample_C.train": None,
    "train_sample_D.tmp.train.de-en.10k": REAL,
    "train_sample_E.train": REAL,
    "train_sample_F.train": None,
}
TABLE = "train_sample_G.sample.de-en"
"""A sample with both sides on a line, a tab between them."""
HELD_OUT = {"dev": "fairseq.valid", "test": "fairseq.test"}
STANDARD = "fairseq.code"
"""The codes of the standard preparation, learned from all pairs."""
LANGUAGES = ("de", "en")


@dataclass(frozen=True)
class Data(ParallelText):
    """The talks; the defaults are the Discrete Transformer's."""

    files = (
        *(f"{name}.{side}" for name in (*SAMPLES, *HELD_OUT.values()) for side in LANGUAGES),
        TABLE,
        STANDARD,
    )
    untokenised = False
    lowercase = True

    direction: Literal["en_de", "de_en"] = "en_de"
    codes: Literal["standard", "learned"] = "standard"
    """Whether words are split as in the standard preparation, or by merges learned from 30 %."""

    @property
    def given_codes(self) -> bool:
        """Whether the merges come with the corpus and are not learned from it."""
        return self.codes == "standard"

    def prepare(self, files: Sequence[Path], out: Path) -> None:
        """Write every pair in words, and the standard codes where they are asked for."""
        super().prepare(files, out)
        if self.given_codes:
            shutil.copyfile(by_name(files, STANDARD), out / CODES)

    def pairs(self, files: Sequence[Path], left_out: Dropped, out: Path) -> SplitPairs:
        """Yield every pair and its split."""
        held_out = {
            split: list(self.clean(self._sides(files, name, None, left_out), left_out, split))
            for split, name in HELD_OUT.items()
        }
        known = {pair: split for split in reversed(HELD_OUT) for pair in held_out[split]}
        seen: set[Pair] = set()
        for pair in self._samples(files, left_out):
            if any(map(invisible, pair[:2])):
                left_out.dropped["an empty side"] += 1
            elif pair in known:
                left_out.dropped[f"in the {known[pair]} set too"] += 1
            elif pair in seen:
                left_out.dropped["more than once in the train set"] += 1
            else:
                seen.add(pair)
                yield "train", pair
        for split, pairs in held_out.items():
            yield from ((split, pair) for pair in pairs)

    def _samples(self, files: Sequence[Path], left_out: Dropped) -> Iterator[Pair]:
        """Yield the pairs of all samples in words."""
        for name, lines in SAMPLES.items():
            yield from self._sides(files, name, lines, left_out)
        for pair in tabbed(read_rows(by_name(files, TABLE), left_out)):
            sides = dict(zip(LANGUAGES, pair, strict=True))
            yield _in_words(*(sides[language] for language in self.languages))

    def _sides(
        self, files: Sequence[Path], name: str, lines: int | None, left_out: Dropped
    ) -> Iterator[Pair]:
        """Yield the pairs of two files in words."""
        source, target = self.paths(files, f"{name}.{{}}")
        for pair in read_sides(source, target, left_out, lines):
            yield _in_words(*pair)


def _in_words(source: str, target: str) -> Pair:
    """Undo the byte-pair encoding of a pair."""
    source, target = (" ".join(side.replace("@@ ", "").split()) for side in (source, target))
    return Pair(source, target)
