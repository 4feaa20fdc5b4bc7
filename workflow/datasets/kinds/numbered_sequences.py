"""Sequences of symbols called 1, 2, ..., one a line, separated by spaces."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workflow.datasets.io.files import (
    SPLITS,
    by_name,
    duplicates,
    read_generated,
    read_records,
    write_records,
)
from workflow.datasets.kinds.dataset import Synthetic
from workflow.errors import DataError

if TYPE_CHECKING:  # numpy is loaded by the stages only
    import numpy as np

    from workflow.datasets.encoded.encoding import EncodedSplit


@dataclass(frozen=True)
class NumberedSequences(Synthetic):
    """Sequences of one length; a dataset says which are right, and how they are encoded."""

    length: int = 40
    """Symbols in a sequence."""

    @property
    def reserved(self) -> tuple[str, ...]:
        """The marks, which stand before the symbols in the vocabulary."""
        return ("<pad>", "<bos>", "<unk>")

    @property
    @abstractmethod
    def alphabet(self) -> int:
        """How many symbols there are."""

    @abstractmethod
    def fault(self, symbols: Sequence[int]) -> str:
        """Say what is wrong with a sequence, 0 being none of the symbols; empty if nothing is."""

    @abstractmethod
    def encoded_split(self, symbols: "np.ndarray") -> "EncodedSplit":
        """Return the arrays of the sequences (N, length) of a split."""

    def names(self) -> list[str]:
        """Return what stands in the vocabulary after the reserved symbols."""
        return [str(number) for number in range(1, self.alphabet + 1)]

    def label(self, symbols: Sequence[int]) -> dict[str, int]:
        """Return what the record of a sequence has beside it."""
        return {}

    def prepare(self, files: Sequence[Path], out: Path) -> None:
        """Check every sequence and write it as a record.

        Raises DataError naming the line of a sequence that is none of the dataset's, or a file with
        another number of them.
        """
        for split in SPLITS:
            path = by_name(files, f"{split}.txt")
            lines = read_generated(path, getattr(self, split), "sequences")
            sequences = zip(lines, self._symbols(lines), strict=True)
            records = [{"text": text, **self.label(symbols)} for (_, text), symbols in sequences]
            write_records(out / f"{split}.jsonl", records)

    def encode(self, prepared: Path, out: Path) -> None:
        """Write every sequence as arrays."""
        import numpy as np

        from workflow.datasets.encoded.encoding import write_encoded

        splits, texts = {}, {}
        for split in SPLITS:
            path = prepared / f"{split}.jsonl"
            texts[split] = [record["text"] for record in read_records(path)]
            lines = [(f"{path}, line {n}", text) for n, text in enumerate(texts[split], start=1)]
            splits[split] = self.encoded_split(np.array(self._symbols(lines)))
        statistics = {"duplicates": duplicates(texts)}
        write_encoded(out, self.name, self.options, self.names(), splits, statistics, self.reserved)

    def _symbols(self, lines: Iterable[tuple[str, str]]) -> list[list[int]]:
        """Return the symbols of each (place, sequence).

        Raises DataError naming the place of a wrong one.
        """
        numbers = {str(number): number for number in range(1, self.alphabet + 1)}
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
