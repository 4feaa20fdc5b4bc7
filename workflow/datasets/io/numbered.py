"""Sequences of symbols called 1, 2, ..., separated by spaces."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from workflow.datasets.io.files import read_records


def names(symbols: int) -> list[str]:
    """Return the written form of every symbol."""
    return [str(symbol) for symbol in range(1, symbols + 1)]


def numbered(
    lines: Iterable[tuple[str, str]], symbols: int
) -> Iterator[tuple[str, str, list[int]]]:
    """Yield (place, sequence, symbols) of each (place, sequence); 0 is none of the symbols."""
    numbers = {name: number for number, name in enumerate(names(symbols), start=1)}
    for place, text in lines:
        yield place, text, [numbers.get(name, 0) for name in text.split(" ")]


def sequences_of(path: Path) -> list[tuple[str, str]]:
    """Return (place, sequence) of a split as `prepare` wrote it."""
    records = enumerate(read_records(path), start=1)
    return [(f"{path}, line {line}", record["text"]) for line, record in records]
