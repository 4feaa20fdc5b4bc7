"""WMT'17 English-Finnish: dev newstest2016, test newstest2017.

The pairs to train on are those of Europarl v8 and of the EU's press releases (Rapid 2016), in words
by Moses, 1 to 250 of them on each side, neither more than 1.5 times as long as the other, as in
fairseq's preparation of WMT. The third official file, titles of Wikipedia, has no sentences.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from workflow.datasets.losses import Losses
from workflow.datasets.parallel_text import (
    PairOptions,
    columns,
    encode,
    prepared,
    raw,
    sources,
    texts,
    write_prepared,
)
from workflow.datasets.wmt import Part, read

__all__ = ["Options", "columns", "encode", "prepare", "prepared", "raw", "sources", "texts"]

TRAIN = (
    Part("training-parallel-ep-v8.tgz", "europarl-v8.fi-en"),
    Part("rapid2016.tgz", "rapid2016.en-fi"),
)
HELD_OUT = {"dev": "eng-fin.newstest2016", "test": "eng-fin.newstest2017"}
ENDINGS = {"en": "eng", "fi": "fin"}


@dataclass(frozen=True)
class Options(PairOptions):
    """How the texts are prepared and encoded; the defaults are those of role interaction."""

    dataset: ClassVar[str] = "wmt17"
    files: ClassVar[Sequence[str]] = (
        *(part.archive for part in TRAIN),
        *(f"{name}.{ending}" for name in HELD_OUT.values() for ending in ENDINGS.values()),
    )
    longest: ClassVar[int] = 250

    direction: Literal["en_fi", "fi_en"] = "en_fi"
    """Source and target language."""
    merges: int = 40_000
    """Merges of the byte-pair encoding."""
    lowercase: bool = False
    """Whether all words are in lower case."""


def prepare(options: Options, files: Sequence[Path], out: Path) -> None:
    """Write every pair in words.

    Raises DataError when an archive is damaged or lacks a file, or two sides do not fit.
    """
    losses = Losses()
    pairs = read(options, TRAIN, HELD_OUT, ENDINGS, files, out, losses)
    write_prepared(options, out, pairs, losses)
