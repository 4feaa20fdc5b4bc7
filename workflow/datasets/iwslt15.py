"""IWSLT'15 English-Vietnamese: TED talks, in words, as Stanford's machine translation group has it.

Dev is tst2012, test is tst2013. The files are in words already, with capitals and with `&quot;` and
the like.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import ClassVar, Literal

from workflow.datasets.files import by_name
from workflow.datasets.losses import Losses
from workflow.datasets.moses import Pair
from workflow.datasets.parallel_text import (
    PairOptions,
    clean,
    columns,
    encode,
    prepared,
    raw,
    read_sides,
    sources,
    texts,
    whole,
    write_prepared,
)

__all__ = ["Options", "columns", "encode", "prepare", "prepared", "raw", "sources", "texts"]

NAMES = {"train": "train", "dev": "tst2012", "test": "tst2013"}


@dataclass(frozen=True)
class Options(PairOptions):
    """How the talks are encoded; the defaults are those of Explicit Sparse Transformer's code."""

    dataset: ClassVar[str] = "iwslt15"
    files: ClassVar[Sequence[str]] = tuple(
        f"{name}.{language}" for name in NAMES.values() for language in ("en", "vi")
    )
    longest: ClassVar[int] = 250
    ratio: ClassVar[float] = inf
    untokenised: ClassVar[bool] = False

    direction: Literal["en_vi", "vi_en"] = "en_vi"
    """Source and target language."""
    merges: int = 32_000
    """Merges of the byte-pair encoding."""
    lowercase: bool = False
    """Whether all words are in lower case."""


def prepare(options: Options, files: Sequence[Path], out: Path) -> None:
    """Write every pair in words.

    Raises DataError when two sides do not fit, or a dev or test pair has an empty side.
    """
    losses = Losses()
    write_prepared(options, out, _pairs(options, files, losses), losses)


def _pairs(options: Options, files: Sequence[Path], losses: Losses) -> Iterator[tuple[str, Pair]]:
    """Yield every pair and its split."""
    for split, name in NAMES.items():
        source, target = (by_name(files, f"{name}.{language}") for language in options.languages)
        pairs = (_in_words(options, *sides) for sides in read_sides(source, target, losses))
        fit = clean(options, pairs, losses) if split == "train" else whole(pairs, str(source))
        yield from ((split, pair) for pair in fit)


def _in_words(options: Options, source: str, target: str) -> Pair:
    """Return a pair, its words separated by single spaces."""
    sides = (" ".join(side.split()) for side in (source, target))
    return Pair(*(side.lower() if options.lowercase else side for side in sides))
