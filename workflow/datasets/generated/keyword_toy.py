"""Keyword toy: a sequence of words is positive if one of them is the keyword.

(snell2021 section 6.1, figure 5).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workflow.datasets.io.dataset_files import write_lines
from workflow.datasets.kinds.numbered_sequences import NumberedSequences

if TYPE_CHECKING:  # numpy is loaded by the stages only
    import numpy as np

KEYWORD = 1


@dataclass(frozen=True)
class Data(NumberedSequences):
    """The sequences; the defaults are the paper's."""

    columns = ("label", "keyword")
    """`label` is 1 for a positive sequence, and `keyword` 1 at the keyword and 0 at other words."""

    length: int = 40
    """Words in a sequence."""
    words: int = 40
    """Words in all, called 1, 2, ...; the first is the keyword."""
    train: int = 9600

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(2, "words")
        self.require_at_least(1, "length")

    def synthesise(self, out: Path) -> None:
        """Write one sequence a line, its words separated by spaces, for every split.

        Half of the sequences of a split are positive, up to one, in random order; the keyword's
        position is uniform, and so is every other word. Rejecting sequences with two keywords, and
        then as many as it takes to have both classes alike often, comes to the same distribution.
        """
        for split, count, generator in self.streams():
            words = generator.integers(KEYWORD + 1, self.words + 1, size=(count, self.length))
            positive = generator.permutation(count)[: count // 2]
            words[positive, generator.integers(self.length, size=len(positive))] = KEYWORD
            write_lines(out / f"{split}.txt", map(" ".join, words.astype(str).tolist()))

    @property
    def alphabet(self) -> Sequence[str]:
        """The words."""
        return [str(word) for word in range(1, self.words + 1)]

    def fault(self, symbols: Sequence[int]) -> str:
        """Say what is wrong with a sequence; empty if nothing is."""
        right = len(symbols) == self.length and 0 not in symbols and symbols.count(KEYWORD) < 2
        wanted = f"expected {self.length} words out of 1 to {self.words}"
        return "" if right else f"{wanted}, the keyword {KEYWORD} once at most"

    def label(self, symbols: Sequence[int]) -> dict[str, int]:
        """Return the label of a sequence."""
        return {"label": int(KEYWORD in symbols)}

    def marks(self, symbols: "np.ndarray") -> "dict[str, np.ndarray]":
        """Return the label, and where the keyword is."""
        keyword = symbols == KEYWORD
        return {"label": keyword.any(axis=1).astype("int64"), "keyword": keyword.ravel()}
