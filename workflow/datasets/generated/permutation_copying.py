"""Permutation copying: sequences of different symbols, to be repeated as they are.

(snell2021 section 3.3, figure 2, appendix A.3): where every
sequence is a permutation of the same symbols, which symbols occur together says nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workflow.datasets.io.dataset_files import write_lines
from workflow.datasets.kinds.numbered_sequences import NumberedSequences
from workflow.runtime.errors import RecipeError


@dataclass(frozen=True)
class Data(NumberedSequences):
    """The sequences; the defaults are the paper's permutations of 40 symbols.

    Its control is `symbols: 60`, its mixture of permutations `symbols: 80` with `sets: 2`.
    As in the authors' code the vocabulary is the symbols and two marks: no sequence is padded and
    no symbol unknown, and outputs that are never a target slow learning.
    """

    end = "<end>"

    length: int = 40
    """Symbols in a sequence."""
    symbols: int = 40
    """Symbols in all, called 1, 2, ..."""
    sets: int = 1
    """Equal sets of neighbouring symbols; a sequence takes its symbols from one of them."""
    unused: int = 0
    """Entries of the vocabulary that stand in no sequence; of two or more the first are the marks
    that other datasets have, `<pad>` and `<unk>`."""
    train: int = 25600

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(0, "unused")
        self.require_at_least(1, "symbols", "sets", "length")
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

        for split, count, generator in self.streams():
            chosen = generator.integers(self.sets, size=(count, 1))
            members = np.tile(np.arange(1, self.set_size + 1), (count, 1))
            orders = generator.permuted(members, axis=1)[:, : self.length]
            sequences = (chosen * self.set_size + orders).astype(str)
            write_lines(out / f"{split}.txt", map(" ".join, sequences.tolist()))

    @property
    def alphabet(self) -> Sequence[str]:
        """The symbols."""
        return [str(symbol) for symbol in range(1, self.symbols + 1)]

    @property
    def reserved(self) -> tuple[str, ...]:
        """The marks, which stand before the symbols in the vocabulary."""
        return ("<end>", "<bos>") if self.unused < 2 else (*super().reserved, "<end>")

    @property
    def spare(self) -> Sequence[str]:
        """What stands in the vocabulary after the symbols, and in no sequence."""
        return [f"<unused {n + 1}>" for n in range(self.unused - (2 if self.unused > 1 else 0))]

    def fault(self, symbols: Sequence[int]) -> str:
        """Say what is wrong with a sequence; empty if nothing is."""
        if not len(symbols) == len(set(symbols)) == self.length or 0 in symbols:
            return f"expected {self.length} different symbols out of 1 to {self.symbols}"
        if len({(symbol - 1) // self.set_size for symbol in symbols}) > 1:
            return f"expected symbols of one of the {self.sets} sets of {self.set_size} neighbours"
        return ""
