"""Keyword toy: a sequence of words is positive if one of them is the keyword.

"Approximating how single head attention learns" (004, section 6.1, Figure 5).
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from workflow.datasets.errors import DataError
from workflow.datasets.files import (
    SPLITS,
    by_name,
    duplicates,
    read_generated,
    write_lines,
    write_records,
)
from workflow.datasets.numbered import names, numbered, sequences_of
from workflow.datasets.recipe import require_at_least

KEYWORD = 1


@dataclass(frozen=True)
class Options:
    """What the sequences are drawn from; the defaults are the paper's."""

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
        sizes = {"train": self.train, "dev": self.dev, "test": self.test}
        require_at_least("keyword_toy", 2, {"words": self.words})
        require_at_least("keyword_toy", 1, {"length": self.length, **sizes})
        require_at_least("keyword_toy", 0, {"seed": self.seed})


def sources(options: Options) -> list[str]:
    """Return the files to fetch: none, the sequences are generated."""
    return []


def raw(options: Options) -> list[str]:
    """Return the files that `synthesise` writes."""
    return [f"{split}.txt" for split in SPLITS]


def columns(options: Options) -> list[str]:
    """Return the columns that `encode` writes beside the tokens.

    `label` is 1 for a positive sequence, and `keyword` 1 at the keyword and 0 at other words.
    """
    return ["label", "keyword"]


def synthesise(options: Options, out: Path) -> None:
    """Write one sequence a line, its words separated by spaces, for every split.

    Half of the sequences of a split are positive, up to one, in random order; the keyword's
    position is uniform, and so is every other word. Rejecting sequences with two keywords, and then
    as many as it takes to have both classes alike often, comes to the same distribution.
    """
    import numpy as np

    for stream, split in enumerate(SPLITS):
        generator = np.random.default_rng([options.seed, stream])
        count = getattr(options, split)
        words = generator.integers(KEYWORD + 1, options.words + 1, size=(count, options.length))
        positive = generator.permutation(count)[: count // 2]
        words[positive, generator.integers(options.length, size=len(positive))] = KEYWORD
        write_lines(out / f"{split}.txt", map(" ".join, words.astype(str).tolist()))


def prepare(options: Options, files: Sequence[Path], out: Path) -> None:
    """Check every sequence and write it as a record with its label.

    Raises DataError naming the line of a sequence that is none of the dataset's, or a file with
    another number of them.
    """
    for split in SPLITS:
        path = by_name(files, f"{split}.txt")
        lines = read_generated(path, getattr(options, split), "sequences")
        labels = [KEYWORD in words for words in _words(options, lines)]
        records = (
            {"text": text, "label": int(label)}
            for (_, text), label in zip(lines, labels, strict=True)
        )
        write_records(out / f"{split}.jsonl", records)


def encode(options: Options, prepared: Path, out: Path) -> None:
    """Write every sequence with its label, and where its keyword is, as arrays."""
    import numpy as np

    from workflow.datasets.encoding import RESERVED, Split, write_encoded

    splits = {}
    sequences = {}
    for split in SPLITS:
        lines = sequences_of(prepared / f"{split}.jsonl")
        sequences[split] = [text for _, text in lines]
        words = np.array(_words(options, lines))
        keyword = words == KEYWORD
        splits[split] = Split(
            (len(RESERVED) - 1 + words).ravel(),
            np.full(len(words), options.length),
            {"label": keyword.any(axis=1).astype(np.int64), "keyword": keyword.ravel()},
        )
    statistics = {"duplicates": duplicates(sequences)}
    write_encoded(out, "keyword_toy", asdict(options), names(options.words), splits, statistics)


def _words(options: Options, lines: Iterable[tuple[str, str]]) -> list[list[int]]:
    """Return the words of each (place, sequence); raise DataError naming a wrong one's place."""
    sequences = []
    for place, text, words in numbered(lines, options.words):
        if len(words) != options.length or 0 in words or words.count(KEYWORD) > 1:
            raise DataError(
                f"{place}: expected {options.length} words out of 1 to {options.words}, the "
                f"keyword {KEYWORD} once at most, found {text!r}; delete the file and make it "
                "again."
            )
        sequences.append(words)
    return sequences
