"""WMT'14 English-German: the pairs to train on of WMT'16, dev newstest2013, test newstest2014.

The pairs are those of Europarl v7, Common Crawl and News Commentary v11, in words by Moses, 1 to 80
of them on each side: the preparation that Ott et al. (2018) use, of about 4.5 million pairs.
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
    Part("training-parallel-europarl-v7.tgz", "europarl-v7.de-en"),
    Part("training-parallel-commoncrawl.tgz", "commoncrawl.de-en"),
    Part("training-parallel-nc-v11.zip", "news-commentary-v11.de-en"),
)
HELD_OUT = {"dev": "eng-deu.newstest2013", "test": "eng-deu.newstest2014"}
ENDINGS = {"en": "eng", "de": "deu"}


@dataclass(frozen=True)
class Options(PairOptions):
    """How the texts are prepared and encoded; the defaults are Explicit Sparse Transformer's."""

    dataset: ClassVar[str] = "wmt14"
    files: ClassVar[Sequence[str]] = (
        *(part.archive for part in TRAIN),
        *(f"{name}.{ending}" for name in HELD_OUT.values() for ending in ENDINGS.values()),
    )
    longest: ClassVar[int] = 80
    ratio: ClassVar[float] = 9

    direction: Literal["en_de", "de_en"] = "en_de"
    """Source and target language."""
    merges: int = 32_000
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
