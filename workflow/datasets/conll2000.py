"""CoNLL-2000 (Tjong Kim Sang and Buchholz, 2000): English sentences with parts of speech and
chunks, and a generated corpus in the same file format.

A line is word, part of speech and chunk tag, with an empty line after each sentence. There is no
dev set. Words stay as they are; the vocabulary has all of them, those of the test set too, so that
who reads the corpus can write them in its own way.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import ClassVar, Literal

from workflow.datasets.grammars import translations
from workflow.datasets.io.dataset_files import (
    ExampleRecord,
    by_name,
    read_splits,
    write_lines,
    write_records,
)
from workflow.datasets.io.left_out import read_exact
from workflow.datasets.kinds.dataset import Generable
from workflow.runtime.errors import CORRECT, FETCH_AGAIN, DataError

SPLITS = ("train", "test")
COLUMNS = {"pos": "parts of speech", "chunk": "chunk tags"}
MOST_TAGS = 256
"""Each column's numbers are bytes."""
ODD_SPACE = re.compile(r"[^\S \t\r]")
"""White space that may be within a word, such as U+00A0 in a number, and would end a column."""
CHUNK = re.compile(r"O|[BI]-[A-Z]+")


@dataclass(frozen=True)
class Data(Generable):
    """The sentences."""

    splits = SPLITS
    files = tuple(f"{split}.txt" for split in SPLITS)
    columns = tuple(COLUMNS)

    source: Literal["official", "generated"] = "official"
    dev: ClassVar[None] = None  # type: ignore[misc]
    """There is none, so it is no option."""

    def synthesise(self, out: Path) -> None:
        """Write generated sentences in the official format."""
        for split in SPLITS:
            generator = random.Random(f"{self.seed} conll2000 {split}.txt")
            drawn = (translations.sentence(generator)[0] for _ in range(getattr(self, split)))
            write_lines(out / f"{split}.txt", chain.from_iterable(map(_tagged, drawn)))

    def prepare(self, files: Sequence[Path], out: Path) -> None:
        """Write every sentence as a record with its tags."""
        paths = {split: by_name(files, f"{split}.txt") for split in SPLITS}
        records = {split: list(_sentences(path)) for split, path in paths.items()}
        for split in SPLITS:
            if not records[split]:
                raise DataError(f"{paths[split]} has no sentence; {FETCH_AGAIN}.")
        for column, what in COLUMNS.items():
            tags = {tag for split in SPLITS for one in records[split] for tag in one[column]}
            if len(tags) > MOST_TAGS:
                raise DataError(
                    f"{paths['train']} and {paths['test'].name} have {len(tags)} {what}, of which "
                    f"{MOST_TAGS} can be numbered; take a coarser set, or put the columns in the "
                    "order word, part of speech, chunk tag."
                )
        for split in SPLITS:
            write_records(out / f"{split}.jsonl", records[split])

    def encode(self, prepared: Path, out: Path) -> None:
        """Write words and tags as arrays; the tags' names are in the manifest's statistics.

        Names are in alphabetical order.
        """
        import numpy as np

        from workflow.datasets.encoded.encoding import (
            RESERVED,
            EncodedSplit,
            numbered,
            write_encoded,
        )

        records = read_splits(prepared, SPLITS)
        texts = {split: [one["text"].split(" ") for one in records[split]] for split in SPLITS}
        words = {word for split in SPLITS for text in texts[split] for word in text}
        vocabulary = sorted(words.difference(RESERVED))
        numbers = numbered(vocabulary)
        names: dict[str, list[str]] = {}
        columns: dict[str, dict[str, np.ndarray]] = {split: {} for split in SPLITS}
        for column in COLUMNS:
            tags = {s: [*chain(*(one[column] for one in records[s]))] for s in SPLITS}
            names[column] = sorted({*chain(*tags.values())})
            for split in SPLITS:
                places = np.searchsorted(names[column], tags[split])
                columns[split][column] = places.astype(np.uint8)
        splits = {s: EncodedSplit.of(texts[s], numbers, columns[s]) for s in SPLITS}
        write_encoded(self, out, vocabulary, splits, names)


def _sentences(path: Path) -> Iterator[ExampleRecord]:
    """Yield the sentences of an official file."""
    for filled, lines in groupby(_fields(path), key=bool):
        if filled:
            words, parts, chunks = zip(*lines, strict=True)
            yield {"text": " ".join(words), "pos": parts, "chunk": chunks}


def _fields(path: Path) -> Iterator[list[str]]:
    """Yield the word, its part of speech and its chunk tag of every line; of an empty one none."""
    for place, line in read_exact(path):
        fields = line.split()
        if fields and (
            len(fields) != 3 or ODD_SPACE.search(line) or not CHUNK.fullmatch(fields[2])
        ):
            raise DataError(
                f"{place}: expected a word, its part of speech and a chunk tag such as B-NP, "
                f"found {line!r}; {CORRECT}."
            )
        yield fields


def _tagged(words: Sequence[translations.TranslatedPair]) -> Iterator[str]:
    """Yield the lines of a sentence, an empty one last."""
    for word, tag in zip(words, translations.chunk_tags(words), strict=True):
        yield f"{word.english} {word.tag} {tag}"
    yield ""
