"""Files of prepared parallel texts, how they are read side by side, and what encoding is told."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Protocol

from workflow.datasets.io.dataset_files import Option, existing
from workflow.runtime.errors import CORRECT, DataError

CODES = "codes.txt"
PIECES = "sentencepiece.model"
LEXICON = "lexicon.tsv"
SOURCE_VOCABULARY = "source_vocabulary.txt"


class EncodableCorpus(Protocol):
    """What encoding is told of every dataset; `kinds.dataset` says what each means."""

    @property
    def name(self) -> str: ...
    @property
    def options(self) -> Mapping[str, Option]: ...
    @property
    def encoded(self) -> Sequence[str]: ...


class ParallelCorpus(EncodableCorpus, Protocol):
    """What it is told of a parallel text; `kinds.parallel_text` says what each means."""

    @property
    def merges(self) -> int: ...
    @property
    def joint(self) -> bool: ...
    @property
    def threshold(self) -> int: ...
    @property
    def vocabulary(self) -> int | None: ...
    @property
    def given_codes(self) -> bool: ...
    @property
    def lowercase(self) -> bool: ...
    @property
    def splits(self) -> Sequence[str]: ...
    @property
    def languages(self) -> tuple[str, str]: ...
    @property
    def copies(self) -> Mapping[str, str]: ...


class CaptionedCorpus(EncodableCorpus, Protocol):
    """What it is told of captioned images; `kinds.captioned_images` says what each means."""

    @property
    def threshold(self) -> int: ...
    @property
    def longest(self) -> int: ...
    @property
    def columns(self) -> Sequence[str]: ...


def aligned(
    source: tuple[str, Iterable[str]], target: tuple[str, Iterable[str]]
) -> Iterator[tuple[str, str]]:
    """Yield the pairs of two sides, each its name and its lines.

    Empty lines that one side has at its end, and the other has not, are no pairs. Raises DataError
    when the sides have different numbers of other lines.
    """
    counts, surplus = [0, 0], ""
    for pair in zip_longest(source[1], target[1]):
        for side, line in enumerate(pair):
            counts[side] += line is not None
        if counts[0] == counts[1]:
            yield pair
        else:
            surplus = surplus or (pair[0] or pair[1] or "").strip()
    if surplus:
        raise DataError(
            f"{source[0]} has {counts[0]} lines and {target[0]} has {counts[1]}, so they are not "
            f"translations of each other line by line; {CORRECT}."
        )


def prepared_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file that `ParallelText.write` wrote.

    Raises DataError when it is missing or ends in the middle of a line.
    """
    line = b""
    with existing(path).open("rb") as stream:
        for line in stream:
            yield line[:-1].decode()
    if not line.endswith(b"\n"):
        raise DataError(f"{path}: the last line is cut short; delete the folder and prepare again.")
