"""The stack language: generated sequences whose true dependencies are known."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from workflow.datasets.io.files import (
    SPLITS,
    by_name,
    duplicates,
    read_generated,
    read_records,
    write_lines,
    write_records,
)
from workflow.datasets.kinds.dataset import Synthetic
from workflow.errors import DataError

if TYPE_CHECKING:  # numpy is loaded by the stages only: planning needs the options alone
    from workflow.datasets.grammars.stack_grammar import Grammar, Symbols


@dataclass(frozen=True)
class Data(Synthetic):
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

        from workflow.datasets.grammars.stack_grammar import sample, symbol_names

        grammar = self._grammar()
        names = np.array(symbol_names(grammar), dtype=object)
        for split, count, generator in self.streams():
            symbols = sample(grammar, count, generator)
            write_lines(out / f"{split}.txt", map(" ".join, names[symbols].tolist()))

    def prepare(self, files: Sequence[Path], out: Path) -> None:
        """Check every sequence against the grammar and write it as a record.

        Raises DataError naming the line of an illegal sequence, or a file with too few of them.
        """
        from workflow.datasets.grammars.stack_grammar import illegal

        grammar = self._grammar()
        for split in SPLITS:
            path = by_name(files, f"{split}.txt")
            lines = read_generated(path, getattr(self, split), "sequences")
            texts = [text for _, text in lines]
            wrong = illegal(grammar, _symbols(grammar, path, texts)).any(axis=1)
            if wrong.any():
                raise DataError(
                    f"{path}, line {wrong.argmax() + 1}: this sequence breaks the grammar; "
                    "delete the file and generate it again."
                )
            write_records(out / f"{split}.jsonl", ({"text": text} for text in texts))

    def encode(self, prepared: Path, out: Path) -> None:
        """Write the sequences as arrays, with `span_start` per token.

        The manifest has the exact entropy floor.
        """
        import numpy as np

        from workflow.datasets.encoded.encoding import RESERVED, EncodedSplit, write_encoded
        from workflow.datasets.grammars.stack_grammar import (
            entropy_floor,
            span_starts,
            symbol_names,
        )

        grammar = self._grammar()
        splits = {}
        sequences = {}
        for split in SPLITS:
            path = prepared / f"{split}.jsonl"
            sequences[split] = [record["text"] for record in read_records(path)]
            symbols = _symbols(grammar, path, sequences[split])
            splits[split] = EncodedSplit(
                tokens=symbols.ravel() + len(RESERVED),
                lengths=np.full(len(symbols), grammar.length),
                columns={"span_start": span_starts(symbols).ravel().astype(np.int32)},
            )
        statistics = {
            "entropy_floor": entropy_floor(grammar),
            "duplicates": duplicates(sequences),
        }
        write_encoded(out, self.name, self.options, symbol_names(grammar), splits, statistics)

    def _grammar(self) -> "Grammar":
        from workflow.datasets.grammars.stack_grammar import WEIGHTS, Grammar

        return Grammar(WEIGHTS[self.grammar], self.balanced, self.max_depth, self.length)


def _symbols(grammar: "Grammar", path: Path, texts: Sequence[str]) -> "Symbols":
    """Return the numbers (count, length) of the symbols that are written in `texts`."""
    import numpy as np

    from workflow.datasets.grammars.stack_grammar import symbol_names

    numbers = {name: number for number, name in enumerate(symbol_names(grammar))}

    def rows() -> Iterator[list[int]]:
        for line, text in enumerate(texts, start=1):
            row = [numbers.get(name, -1) for name in text.split(" ")]
            if len(row) != grammar.length or min(row) < 0:
                raise DataError(
                    f"{path}, line {line}: expected {grammar.length} symbols out of "
                    f"{' '.join(numbers)}, found {text!r}; delete the file and make it again."
                )
            yield row

    return np.array(list(rows()), dtype=np.int64)
