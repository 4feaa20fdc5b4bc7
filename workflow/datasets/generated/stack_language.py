"""The stack language: generated sequences whose true dependencies are known."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from workflow.datasets.io.dataset_files import Statistics, write_lines
from workflow.datasets.kinds.numbered_sequences import NumberedSequences
from workflow.runtime.errors import DataError

if TYPE_CHECKING:  # numpy is loaded by the stages only: planning needs the options alone
    import numpy as np

    from workflow.datasets.grammars.stack_grammar import Grammar


@dataclass(frozen=True)
class Data(NumberedSequences):
    """The sequences of a stack language; the defaults are the paper's."""

    columns = ("span_start",)

    grammar: Literal["uniform", "half_digits"] = "uniform"
    """Weights of the legal symbols: equal, or digit .5 and each parenthesis .25, renormalised."""
    balanced: bool = False
    """Whether every sequence must end at depth 0."""
    max_depth: int = 4
    """Largest number of open parentheses."""
    length: int = 30
    """Symbols in a sequence."""
    train: int = 50000
    dev: int = 5000
    test: int = 5000

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "max_depth", "length")

    def synthesise(self, out: Path) -> None:
        """Write one sequence a line, its symbols separated by spaces, for every split."""
        import numpy as np

        from workflow.datasets.grammars.stack_grammar import sample

        names = np.array(self.alphabet, dtype=object)
        for split, count, generator in self.streams():
            symbols = sample(self._grammar(), count, generator)
            write_lines(out / f"{split}.txt", map(" ".join, names[symbols].tolist()))

    @property
    def alphabet(self) -> Sequence[str]:
        """The parentheses and a digit for every depth."""
        return ["(", ")", *(str(depth) for depth in range(self.max_depth + 1))]

    def fault(self, symbols: Sequence[int]) -> str:
        """Say what is wrong with the form of a sequence; empty if nothing is."""
        right = len(symbols) == self.length and 0 not in symbols
        return "" if right else f"expected {self.length} symbols out of {' '.join(self.alphabet)}"

    def check(self, path: Path, sequences: Sequence[Sequence[int]]) -> None:
        """Raise DataError naming the line of a sequence that breaks the grammar."""
        import numpy as np

        from workflow.datasets.grammars.stack_grammar import illegal

        wrong = illegal(self._grammar(), np.array(sequences) - 1).any(axis=1)
        if wrong.any():
            raise DataError(
                f"{path}, line {wrong.argmax() + 1}: this sequence breaks the grammar; "
                "delete the file and generate it again."
            )

    def marks(self, symbols: "np.ndarray") -> "dict[str, np.ndarray]":
        """Return `span_start` per token."""
        from workflow.datasets.grammars.stack_grammar import span_starts

        return {"span_start": span_starts(symbols - 1).ravel().astype("int32")}

    def statistics(self) -> Statistics:
        """Return the exact entropy floor."""
        from workflow.datasets.grammars.stack_grammar import entropy_floor

        return {"entropy_floor": entropy_floor(self._grammar())}

    def _grammar(self) -> "Grammar":
        from workflow.datasets.grammars.stack_grammar import WEIGHTS, Grammar

        return Grammar(WEIGHTS[self.grammar], self.balanced, self.max_depth, self.length)
