"""Verdicts as marks: a sign that stands without colour, the word, and the class of its colour."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from workflow.reporting.tables.marks import MARKS

SIGNS = MARKS | {
    "holds": "✓",
    "no difference": "=",
    "holds elsewhere": "⊕",
    "does not hold elsewhere": "⊖",
    "no difference elsewhere": "⊜",
    "undecided": "?",
    "undecidable": "⊘",
    "does not hold": "✗",
    "not run": "·",
    "quoted": "”",
}


class Mark(NamedTuple):
    """A verdict as a reader sees it."""

    word: str
    about: str = ""
    """Of which metric, where a cell has verdicts that differ."""
    former: str = ""
    """The verdict by the tolerance before, where it was another."""

    @property
    def sign(self) -> str:
        """The sign in the place of a colour."""
        return SIGNS[self.word]

    @property
    def look(self) -> str:
        """The CSS class."""
        return self.word.replace(",", "").replace(" ", "-")


class Share(NamedTuple):
    """One part of a bar of verdicts."""

    mark: Mark
    number: int


def shares(words: Iterable[str], order: Sequence[str]) -> list[Share]:
    """Return how often each word occurs, in an order; those that don't occur are left out."""
    counted = Counter(words)
    return [Share(Mark(word), counted[word]) for word in order if counted[word]]
