"""CoNLL-2000 (Tjong Kim Sang and Buchholz, 2000): English sentences with parts of speech and
chunks, and a generated corpus in the same file format.

A line is word, part of speech and chunk tag, with an empty line after each sentence. There is no
dev set. Words stay as they are; the vocabulary has all of them, those of the test set too, so that
who reads the corpus can write them in its own way.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workflow.datasets.io.files import Record, by_name, read_lines, read_records, write_records
from workflow.datasets.kinds.dataset import Dataset
from workflow.errors import FETCH_AGAIN, DataError

SPLITS = ("train", "test")
COLUMNS = ("pos", "chunk")
CHUNK = re.compile(r"O|[BI]-[A-Z]+")


@dataclass(frozen=True)
class Data(Dataset):
    """The sentences."""

    splits = SPLITS
    files = tuple(f"{split}.txt" for split in SPLITS)
    columns = COLUMNS

    source: Literal["official", "generated"] = "official"
    """The official files, or a small corpus in their format."""
    train: int | None = None
    """Generated sentences to train on."""
    test: int | None = None
    """Generated sentences to report on."""
    seed: int | None = None
    """Seed of the generator."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_generator(least=1)

    @property
    def generated(self) -> bool:
        """Whether the sentences are generated."""
        return self.source == "generated"

    def synthesise(self, out: Path) -> None:
        """Write generated sentences in the official format."""
        from workflow.datasets.kinds.generated import write_conll2000

        sizes = {f"{split}.txt": getattr(self, split) for split in SPLITS}
        write_conll2000(out, sizes, self.seed)

    def prepare(self, files: Sequence[Path], out: Path) -> None:
        """Write every sentence as a record with its tags.

        Raises DataError naming a line that is not a word, a part of speech and a chunk tag, or a
        file without a sentence.
        """
        records = {split: list(_sentences(by_name(files, f"{split}.txt"))) for split in SPLITS}
        for split in SPLITS:
            if not records[split]:
                raise DataError(f"{by_name(files, f'{split}.txt')} has no sentence; {FETCH_AGAIN}.")
        for split in SPLITS:
            write_records(out / f"{split}.jsonl", records[split])

    def encode(self, prepared: Path, out: Path) -> None:
        """Write words and tags as arrays; the tags' names are in the manifest's statistics.

        Names are in alphabetical order.
        """
        import numpy as np

        from workflow.datasets.encoded.encoding import EncodedSplit, numbered, write_encoded

        records = {split: list(read_records(prepared / f"{split}.jsonl")) for split in SPLITS}
        every = [record for split in SPLITS for record in records[split]]
        vocabulary = sorted({word for record in every for word in record["text"].split(" ")})
        names = {
            column: sorted({name for record in every for name in record[column]})
            for column in COLUMNS
        }
        places = {
            column: {name: place for place, name in enumerate(names[column])} for column in COLUMNS
        }
        splits = {}
        for split in SPLITS:
            tags = {
                column: [
                    places[column][name] for record in records[split] for name in record[column]
                ]
                for column in COLUMNS
            }
            splits[split] = EncodedSplit.of(
                [record["text"].split(" ") for record in records[split]],
                numbered(vocabulary),
                {column: np.array(tags[column], dtype=np.uint8) for column in COLUMNS},
            )
        write_encoded(out, self.name, self.options, vocabulary, splits, names)


def _sentences(path: Path) -> Iterator[Record]:
    """Yield the sentences of an official file."""
    lines: list[list[str]] = []
    for place, line in read_lines(path):
        fields = line.split()
        if fields:
            if len(fields) != 3 or not CHUNK.fullmatch(fields[2]):
                raise DataError(
                    f"{place}: expected a word, its part of speech and a chunk tag such as B-NP, "
                    f"found {line!r}; {FETCH_AGAIN}."
                )
            lines.append(fields)
        elif lines:
            yield _record(lines)
            lines = []
    if lines:
        yield _record(lines)


def _record(lines: Iterable[Sequence[str]]) -> Record:
    words, parts, chunks = zip(*lines, strict=True)
    return {"text": " ".join(words), "pos": parts, "chunk": chunks}
