"""Multiview arithmetic: expressions in infix and prefix notation, to be evaluated modulo 5.

kinley2020 section 5.2, 6.3, table 6.5. The thesis names the depths and the numbers
but not how its expressions were drawn: that is the option `sampler`.
"""

import random
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workflow.datasets.grammars.arithmetic_expressions import (
    HIGHEST,
    SAMPLERS,
    SYMBOLS,
    height,
    infix,
    parse_infix,
    parse_prefix,
    prefix,
    value,
)
from workflow.datasets.io.dataset_files import (
    SPLITS,
    ExampleRecord,
    by_name,
    read_generated,
    read_splits,
    write_lines,
    write_records,
)
from workflow.datasets.kinds.dataset import Synthetic
from workflow.runtime.errors import DataError, RecipeError

WRITERS = {"infix": infix, "prefix": prefix}
READERS = {"infix": parse_infix, "prefix": parse_prefix}
VIEWS = {"infix": ["text"], "prefix": ["prefix"], "both": ["text", "prefix"]}
"""What of a record has the tokens of a view."""


@dataclass(frozen=True)
class Data(Synthetic):
    """The expressions; the defaults are the paper's where it names them."""

    files = tuple(f"{split}.{notation}.txt" for split in SPLITS for notation in WRITERS)

    view: Literal["infix", "prefix", "both"] = "both"
    """Notation of the tokens; `both` is infix and, right after it, prefix."""
    sampler: Literal["spine", "chain"] = "spine"
    """Trees of every shape, or operations one after the other from left to right."""
    min_depth: int = 1
    """Smallest nesting of parentheses inside the outermost ones."""
    max_depth: int = 3
    """Largest nesting of parentheses inside the outermost ones."""
    train: int = 30000
    dev: int = 3000
    test: int = 3000

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high, least = self.min_depth, self.max_depth, len(self.depths)
        if low < 0 or high < low:
            raise RecipeError(
                f"Dataset `multiview_arithmetic`: no expression has a depth from {low} "
                f"(`min_depth`) to {high} (`max_depth`); set 0 <= min_depth <= max_depth."
            )
        if high >= HIGHEST:
            raise RecipeError(
                f"Option `max_depth` of dataset `multiview_arithmetic` is {high}; it must be less "
                f"than {HIGHEST}."
            )
        for split in SPLITS:
            if getattr(self, split) < least:
                raise RecipeError(
                    f"Option `{split}` of dataset `multiview_arithmetic` is {getattr(self, split)};"
                    f" it must be {least} or more, one expression of each depth."
                )

    @property
    def depths(self) -> range:
        """The depths from `min_depth` to `max_depth`."""
        return range(self.min_depth, self.max_depth + 1)

    @property
    def columns(self) -> Sequence[str]:
        """Columns that `encode` writes beside the tokens."""
        columns = ["label", "depth", "seen"]
        return [*columns, "infix_length"] if self.view == "both" else columns

    def synthesise(self, out: Path) -> None:
        """Write one expression a line, in both notations, for every split.

        Every depth has as many expressions, in random order; where that is impossible the first
        depths have one more, which a sentence on stderr says.
        """
        uneven = []
        for split in SPLITS:
            generator, size = random.Random(f"{self.seed} {split}"), getattr(self, split)
            each, rest = divmod(size, len(self.depths))
            order = [depth for i, depth in enumerate(self.depths) for _ in range(each + (i < rest))]
            generator.shuffle(order)
            expressions = [SAMPLERS[self.sampler](depth + 1, generator) for depth in order]
            for notation, write in WRITERS.items():
                write_lines(out / f"{split}.{notation}.txt", map(write, expressions))
            if rest:
                uneven.append(f"{split}'s {size}")
        if uneven:
            print(
                f"multiview_arithmetic: {', '.join(uneven)} expressions do not divide evenly over "
                f"{len(self.depths)} depths, so the first depths have one more.",
                file=sys.stderr,
            )

    def prepare(self, files: Sequence[Path], out: Path) -> None:
        """Check every expression and write both notations with its value and depth as a record."""
        for split in SPLITS:
            paths = [by_name(files, f"{split}.{notation}.txt") for notation in READERS]
            count = getattr(self, split)
            lines = (read_generated(path, count, "expressions") for path in paths)
            write_records(out / f"{split}.jsonl", map(self._record, *lines))

    def encode(self, prepared: Path, out: Path) -> None:
        """Write the expressions as arrays with `label`, `depth` and `seen`, all per expression.

        `seen` is 1 where train has the same expression, for train itself where it has it before.
        View `both` has `infix_length` too, the number of tokens before the prefix notation starts.
        """
        import numpy as np

        from workflow.datasets.encoded.encoding import EncodedSplit, numbered, write_encoded

        splits, counts, repeated = {}, {}, {}
        known: set[str] = set()
        for split, records in read_splits(prepared).items():
            for record in records:
                record["seen"] = int(record["text"] in known)
                record["infix_length"] = record["text"].count(" ") + 1
                if split == "train":
                    known.add(record["text"])
            parts = VIEWS[self.view]
            texts = [" ".join(record[part] for part in parts).split(" ") for record in records]
            columns = {
                name: np.array([record[name] for record in records], dtype=np.int32)
                for name in self.columns
            }
            splits[split] = EncodedSplit.of(texts, numbered(SYMBOLS), columns)
            counts[split] = self._count(records)
            repeated[split] = self._count(record for record in records if record["seen"])
        statistics = {"examples_per_depth": counts, "duplicates": repeated}
        write_encoded(self, out, SYMBOLS, splits, statistics)

    def _record(self, infix_line: tuple[str, str], prefix_line: tuple[str, str]) -> ExampleRecord:
        """Return an expression that stands in both notations as a record."""
        read = {}
        for notation, (place, text) in {"infix": infix_line, "prefix": prefix_line}.items():
            try:
                read[notation] = READERS[notation](text)
            except ValueError as error:
                raise DataError(
                    f"{place}: {text!r} is no expression in {notation} notation: {error}; delete "
                    "the file and generate it again."
                ) from None
        expression = read["infix"]
        if expression != read["prefix"]:
            raise DataError(
                f"{prefix_line[0]}: {prefix_line[1]!r} is another expression than "
                f"{infix_line[1]!r} at {infix_line[0]}; delete both files and generate them again."
            )
        depth = height(expression) - 1
        if depth not in self.depths:
            raise DataError(
                f"{infix_line[0]}: {infix_line[1]!r} has depth {depth}, but the recipe has depths "
                f"{self.min_depth} to {self.max_depth}; delete the file and generate it again."
            )
        return {
            "text": infix_line[1],
            "prefix": prefix_line[1],
            "label": value(expression),
            "depth": depth,
        }

    def _count(self, records: Iterable[ExampleRecord]) -> dict[str, int]:
        """Count how often each of the recipe's depths is there."""
        counts = Counter(record["depth"] for record in records)
        return {str(depth): counts[depth] for depth in self.depths}
