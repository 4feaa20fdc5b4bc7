"""Permutation copying: sequences of different symbols, to be repeated as they are.

(snell2021 section 3.3, figure 2 and A.3): where every
sequence is a permutation of the same symbols, which symbols occur together says nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workflow.datasets.io.files import write_lines
from workflow.datasets.kinds.numbered_sequences import NumberedSequences
from workflow.errors import RecipeError

if TYPE_CHECKING:  # numpy is loaded by the stages only
    import numpy as np

    from workflow.datasets.encoded.encoding import EncodedSplit


@dataclass(frozen=True)
class Data(NumberedSequences):
    """The sequences; the defaults are the paper's permutations of 40 symbols.

    Its control is `symbols: 60`, its mixture of permutations `symbols: 80` with `sets: 2`.
    As in the authors' code the vocabulary is the symbols and two marks: no sequence is padded and
    no symbol unknown, and outputs that are never a target slow learning.
    """

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
    def alphabet(self) -> int:
        """How many symbols there are."""
        return self.symbols

    @property
    def reserved(self) -> tuple[str, ...]:
        """The marks, which stand before the symbols in the vocabulary."""
        return ("<end>", "<bos>") if self.unused < 2 else (*super().reserved, "<end>")

    def names(self) -> list[str]:
        """Return the symbols, and what stands in no sequence and is no mark."""
        others = self.unused if self.unused < 2 else self.unused - 2
        return super().names() + [f"<unused {number}>" for number in range(1, others + 1)]

    def fault(self, symbols: Sequence[int]) -> str:
        """Say what is wrong with a sequence; empty if nothing is."""
        if not len(symbols) == len(set(symbols)) == self.length or 0 in symbols:
            return f"expected {self.length} different symbols out of 1 to {self.symbols}"
        if len({(symbol - 1) // self.set_size for symbol in symbols}) > 1:
            return f"expected symbols of one of the {self.sets} sets of {self.set_size} neighbours"
        return ""

    def encoded_split(self, symbols: "np.ndarray") -> "EncodedSplit":
        """Return every sequence and the end symbol after it, `length` + 1 tokens."""
        import numpy as np

        from workflow.datasets.encoded.encoding import EncodedSplit

        first, end = len(self.reserved), self.reserved.index("<end>")
        tokens = np.pad(first - 1 + symbols, ((0, 0), (0, 1)), constant_values=end)
        return EncodedSplit(tokens.ravel(), np.full(len(tokens), self.length + 1))
