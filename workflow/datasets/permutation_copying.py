"""Permutation copying: sequences of different symbols, to be repeated as they are.

"Approximating how single head attention learns" (004, section 3.3, Figure 2 and A.3): where every
sequence is a permutation of the same symbols, which symbols occur together says nothing.
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
from workflow.errors import DataError, RecipeError

END = "<end>"


@dataclass(frozen=True)
class Data(Dataset):
    """The sequences; the defaults are the paper's permutations of 40 symbols.

    Its control is `symbols: 60`, its mixture of permutations `symbols: 80` with `sets: 2`.
    """

    files = tuple(f"{split}.txt" for split in SPLITS)
    generated = True

    symbols: int = 40
    """Symbols in all, called 1, 2, ..."""
    sets: int = 1
    """Equal sets of neighbouring symbols; a sequence takes its symbols from one of them."""
    length: int = 40
    """Symbols in a sequence, all different."""
    train: int = 25600
    """Sequences to train on."""
    dev: int = 1000
    """Sequences to choose settings with."""
    test: int = 1000
    """Sequences to report on."""
    seed: int = 0
    """Seed of the generator; every split has its own stream of it."""

    def __post_init__(self) -> None:
        self.require_at_least(1, "symbols", "sets", "length", *SPLITS)
        self.require_at_least(0, "seed")
        if self.symbols % self.sets:
            raise RecipeError(
                f"Dataset `permutation_copying` cannot cut {self.symbols} symbols into {self.sets} "
                "equal sets; make `symbols` a multiple of `sets`."
            )
        if self.length > self.set_size:
            raise RecipeError(
                "Dataset `permutation_copying` has more symbols per sequence (`length` is "
                f"{self.length}) than in a set ({self.set_size}); lower `length` or `sets`, or "
                "raise `symbols`."
            )

    @property
    def set_size(self) -> int:
        """Symbols in each set."""
        return self.symbols // self.sets

    def synthesise(self, out: Path) -> None:
        """Write one sequence a line, its symbols separated by spaces, for every split.

        The set of a sequence, the symbols out of it and their order are uniformly random.
        """
        import numpy as np

        for stream, split in enumerate(SPLITS):
            generator = np.random.default_rng([self.seed, stream])
            count = getattr(self, split)
            chosen = generator.integers(self.sets, size=(count, 1))
            members = np.tile(np.arange(1, self.set_size + 1), (count, 1))
            orders = generator.permuted(members, axis=1)[:, : self.length]
            sequences = (chosen * self.set_size + orders).astype(str)
            write_lines(out / f"{split}.txt", map(" ".join, sequences.tolist()))

    def prepare(self, files: Sequence[Path], out: Path) -> None:
        """Check every sequence and write it as a record.

        Raises DataError naming the line of a sequence that is none of the dataset's, or a file with
        another number of them.
        """
        for split in SPLITS:
            path = by_name(files, f"{split}.txt")
            lines = read_generated(path, getattr(self, split), "sequences")
            self._symbols(lines)
            write_records(out / f"{split}.jsonl", ({"text": text} for _, text in lines))

    def encode(self, prepared: Path, out: Path) -> None:
        """Write every sequence and the end symbol after it, `length` + 1 tokens, as arrays.

        The end symbol is the first of the vocabulary after the reserved ones.
        """
        import numpy as np

        from workflow.datasets.encoded.encoding import RESERVED, EncodedSplit, write_encoded

        end = len(RESERVED)
        splits = {}
        sequences = {}
        for split in SPLITS:
            lines = sequences_of(prepared / f"{split}.jsonl")
            sequences[split] = [text for _, text in lines]
            symbols = np.array(self._symbols(lines))
            tokens = np.pad(end + symbols, ((0, 0), (0, 1)), constant_values=end)
            splits[split] = EncodedSplit(tokens.ravel(), np.full(len(tokens), self.length + 1))
        statistics = {"duplicates": duplicates(sequences)}
        vocabulary = [END, *names(self.symbols)]
        write_encoded(out, self.name, self.options, vocabulary, splits, statistics)

    def _symbols(self, lines: Iterable[tuple[str, str]]) -> list[list[int]]:
        """Return the symbols of each (place, sequence).

        Raises DataError naming the place of a wrong one.
        """
        sequences = []
        for place, text, symbols in numbered(lines, self.symbols):
            if not len(symbols) == len(set(symbols)) == self.length or 0 in symbols:
                raise DataError(
                    f"{place}: expected {self.length} different symbols out of 1 to "
                    f"{self.symbols}, found {text!r}; delete the file and make it again."
                )
            if len({(symbol - 1) // self.set_size for symbol in symbols}) > 1:
                raise DataError(
                    f"{place}: the symbols are not all of one of the {self.sets} sets of "
                    f"{self.set_size} neighbours; delete the file and make it again."
                )
            sequences.append(symbols)
        return sequences
