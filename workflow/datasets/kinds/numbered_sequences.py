"""Sequences of symbols, one a line, separated by spaces; the symbols are numbered from 1."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from workflow.datasets.io.dataset_files import (
    SPLITS,
    Statistics,
    by_name,
    duplicates,
    read_generated,
    read_splits,
    write_records,
)
from workflow.datasets.kinds.dataset import Synthetic
from workflow.runtime.errors import DataError

if TYPE_CHECKING:  # numpy is loaded by the stages only
    import numpy as np


@dataclass(frozen=True)
class NumberedSequences(Synthetic):
    """Sequences of one length; a dataset says which are right, and how they are encoded."""

    end: ClassVar[str] = ""
    """The mark that every encoded sequence ends in, if any."""

    @property
    def reserved(self) -> tuple[str, ...]:
        """The marks, which stand before the symbols in the vocabulary."""
        return ("<pad>", "<bos>", "<unk>")

    @property
    @abstractmethod
    def alphabet(self) -> Sequence[str]:
        """How each symbol is written, in the order of their numbers."""

    @property
    def spare(self) -> Sequence[str]:
        """What stands in the vocabulary after the symbols, and in no sequence."""
        return ()

    @abstractmethod
    def fault(self, symbols: Sequence[int]) -> str:
        """Say what is wrong with the form of a sequence, 0 being no symbol; empty if nothing is."""

    def check(self, path: Path, sequences: Sequence[Sequence[int]]) -> None:
        """Raise DataError for what is wrong with the sequences of a file beyond their form."""
        return

    def label(self, symbols: Sequence[int]) -> dict[str, int]:
        """Return what the record of a sequence has beside it."""
        return {}

    def marks(self, symbols: "np.ndarray") -> "dict[str, np.ndarray]":
        """Return the columns of the sequences (N, length) of a split."""
        return {}

    def statistics(self) -> Statistics:
        """Return what the manifest says beside the number of sequences that repeat."""
        return {}

    def prepare(self, files: Sequence[Path], out: Path) -> None:
        """Check every sequence and write it as a record."""
        for split in SPLITS:
            path = by_name(files, f"{split}.txt")
            lines = read_generated(path, getattr(self, split), "sequences")
            sequences = self._numbers(lines)
            self.check(path, sequences)
            pairs = zip(lines, sequences, strict=True)
            records = ({"text": text, **self.label(symbols)} for (_, text), symbols in pairs)
            write_records(out / f"{split}.jsonl", records)

    def encode(self, prepared: Path, out: Path) -> None:
        """Write every sequence as arrays."""
        import numpy as np

        from workflow.datasets.encoded.encoding import EncodedSplit, write_encoded

        splits, texts = {}, {}
        for split, records in read_splits(prepared).items():
            path, texts[split] = prepared / f"{split}.jsonl", [one["text"] for one in records]
            lines = [(f"{path}, line {n}", text) for n, text in enumerate(texts[split], start=1)]
            numbers = np.array(self._numbers(lines))
            tokens = numbers + len(self.reserved) - 1
            if self.end:
                last = self.reserved.index(self.end)
                tokens = np.pad(tokens, ((0, 0), (0, 1)), constant_values=last)
            lengths = np.full(len(tokens), tokens.shape[1])
            splits[split] = EncodedSplit(tokens.ravel(), lengths, self.marks(numbers))
        symbols = [*self.alphabet, *self.spare]
        statistics = {"duplicates": duplicates(texts), **self.statistics()}
        write_encoded(self, out, symbols, splits, statistics, self.reserved)

    def _numbers(self, lines: Iterable[tuple[str, str]]) -> list[list[int]]:
        """Return the symbols of each (place, sequence).

        Raises DataError naming the place of a wrong one.
        """
        numbers = {name: number for number, name in enumerate(self.alphabet, start=1)}
        sequences = []
        for place, text in lines:
            symbols = [numbers.get(name, 0) for name in text.split(" ")]
            fault = self.fault(symbols)
            if fault:
                raise DataError(
                    f"{place}: {fault}, found {text!r}; delete the file and make it again."
                )
            sequences.append(symbols)
        return sequences
