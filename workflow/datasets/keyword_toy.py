"""Keyword toy: a sequence of words is positive if one of them is the keyword.

"Approximating how single head attention learns" (004, section 6.1, Figure 5).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workflow.datasets.io.files import (
    SPLITS,
    by_name,
    duplicates,
    read_generated,
    write_lines,
    write_records,
)
from workflow.datasets.io.numbered import names, numbered, sequences_of
from workflow.datasets.kinds.dataset import Dataset
from workflow.errors import DataError

KEYWORD = 1


@dataclass(frozen=True)
class Data(Dataset):
    """The sequences; the defaults are the paper's."""

    files = tuple(f"{split}.txt" for split in SPLITS)
    generated = True
    columns = ("label", "keyword")
    """`label` is 1 for a positive sequence, and `keyword` 1 at the keyword and 0 at other words."""

    words: int = 40
    """Words in all, called 1, 2, ...; the first is the keyword."""
    length: int = 40
    """Words in a sequence."""
    train: int = 9600
    """Sequences to train on."""
    dev: int = 1000
    """Sequences to choose settings with."""
    test: int = 1000
    """Sequences to report on."""
    seed: int = 0
    """Seed of the generator; every split has its own stream of it."""

    def __post_init__(self) -> None:
        self.require_at_least(2, "words")
        self.require_at_least(1, "length", *SPLITS)
        self.require_at_least(0, "seed")

    def synthesise(self, out: Path) -> None:
        """Write one sequence a line, its words separated by spaces, for every split.

        Half of the sequences of a split are positive, up to one, in random order; the keyword's
        position is uniform, and so is every other word. Rejecting sequences with two keywords, and
        then as many as it takes to have both classes alike often, comes to the same distribution.
        """
        import numpy as np

        for stream, split in enumerate(SPLITS):
            generator = np.random.default_rng([self.seed, stream])
            count = getattr(self, split)
            words = generator.integers(KEYWORD + 1, self.words + 1, size=(count, self.length))
            positive = generator.permutation(count)[: count // 2]
            words[positive, generator.integers(self.length, size=len(positive))] = KEYWORD
            write_lines(out / f"{split}.txt", map(" ".join, words.astype(str).tolist()))

    def prepare(self, files: Sequence[Path], out: Path) -> None:
        """Check every sequence and write it as a record with its label.

        Raises DataError naming the line of a sequence that is none of the dataset's, or a file with
        another number of them.
        """
        for split in SPLITS:
            path = by_name(files, f"{split}.txt")
            lines = read_generated(path, getattr(self, split), "sequences")
            labels = [KEYWORD in words for words in self._words(lines)]
            records = (
                {"text": text, "label": int(label)}
                for (_, text), label in zip(lines, labels, strict=True)
            )
            write_records(out / f"{split}.jsonl", records)

    def encode(self, prepared: Path, out: Path) -> None:
        """Write every sequence with its label, and where its keyword is, as arrays."""
        import numpy as np

        from workflow.datasets.encoded.encoding import RESERVED, EncodedSplit, write_encoded

        splits = {}
        sequences = {}
        for split in SPLITS:
            lines = sequences_of(prepared / f"{split}.jsonl")
            sequences[split] = [text for _, text in lines]
            words = np.array(self._words(lines))
            keyword = words == KEYWORD
            splits[split] = EncodedSplit(
                (len(RESERVED) - 1 + words).ravel(),
                np.full(len(words), self.length),
                {"label": keyword.any(axis=1).astype(np.int64), "keyword": keyword.ravel()},
            )
        statistics = {"duplicates": duplicates(sequences)}
        write_encoded(out, self.name, self.options, names(self.words), splits, statistics)

    def _words(self, lines: Iterable[tuple[str, str]]) -> list[list[int]]:
        """Return the words of each (place, sequence).

        Raises DataError naming the place of a wrong one.
        """
        sequences = []
        for place, text, words in numbered(lines, self.words):
            if len(words) != self.length or 0 in words or words.count(KEYWORD) > 1:
                raise DataError(
                    f"{place}: expected {self.length} words out of 1 to {self.words}, the "
                    f"keyword {KEYWORD} once at most, found {text!r}; delete the file and make it "
                    "again."
                )
            sequences.append(words)
        return sequences
