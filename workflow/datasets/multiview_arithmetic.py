"""Multiview arithmetic: expressions in infix and prefix notation, to be evaluated modulo 5.

kinley2020 section 5.2, 6.3, table 6.5. The thesis names the depths and the numbers
but not how its expressions were drawn: that is the option `sampler`.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
from workflow.datasets.io.files import (
    SPLITS,
    Record,
    by_name,
    read_generated,
    read_records,
    write_lines,
    write_records,
)
from workflow.datasets.kinds.dataset import Synthetic
from workflow.errors import DataError, RecipeError

WRITERS = {"infix": infix, "prefix": prefix}
READERS = {"infix": parse_infix, "prefix": parse_prefix}


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
        sizes = {split: getattr(self, split) for split in SPLITS}
        if self.min_depth < 0 or self.max_depth < self.min_depth:
            raise RecipeError(
                "Dataset `multiview_arithmetic`: no expression has a depth from "
                f"{self.min_depth} (`min_depth`) to {self.max_depth} (`max_depth`); set "
                "0 <= min_depth <= max_depth."
            )
        if self.max_depth >= HIGHEST:
            raise RecipeError(
                f"Option `max_depth` of dataset `multiview_arithmetic` is {self.max_depth}; it "
                f"must be less than {HIGHEST}."
            )
        for split, size in sizes.items():
            if size < len(self.depths):
                raise RecipeError(
                    f"Option `{split}` of dataset `multiview_arithmetic` is {size}; it must be "
                    f"{len(self.depths)} or more, one expression of each depth."
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
        import random

        sample = SAMPLERS[self.sampler]
        uneven = []
        for split in SPLITS:
            generator = random.Random(f"{self.seed} {split}")
            each, rest = divmod(getattr(self, split), len(self.depths))
            order = [depth for i, depth in enumerate(self.depths) for _ in range(each + (i < rest))]
            generator.shuffle(order)
            expressions = [sample(depth + 1, generator) for depth in order]
            for notation, write in WRITERS.items():
                write_lines(out / f"{split}.{notation}.txt", map(write, expressions))
            if rest:
                uneven.append(f"{split}'s {getattr(self, split)}")
        if uneven:
            print(
                f"multiview_arithmetic: {', '.join(uneven)} expressions do not divide evenly over "
                f"{len(self.depths)} depths, so the first depths have one more.",
                file=sys.stderr,
            )

    def prepare(self, files: Sequence[Path], out: Path) -> None:
        """Check both notations of every expression and write them as a record with value and depth.

        Raises DataError naming the line of a wrong expression, of two notations that differ or of a
        depth that the options exclude, or a file with another number of expressions.
        """
        for split in SPLITS:
            lines = {}
            for notation in WRITERS:
                path = by_name(files, f"{split}.{notation}.txt")
                lines[notation] = read_generated(path, getattr(self, split), "expressions")
            pairs = zip(lines["infix"], lines["prefix"], strict=True)
            write_records(
                out / f"{split}.jsonl",
                (self._record(infix_line, prefix_line) for infix_line, prefix_line in pairs),
            )

    def encode(self, prepared: Path, out: Path) -> None:
        """Write the expressions as arrays with `label`, `depth` and `seen`, all per expression.

        `seen` is 1 where train has the same expression, for train itself where it has it before.
        View `both` has `infix_length` too, the number of tokens before the prefix notation starts.
        """
        import numpy as np

        from workflow.datasets.encoded.encoding import EncodedSplit, numbered, write_encoded

        records = {split: list(read_records(prepared / f"{split}.jsonl")) for split in SPLITS}
        seen = _seen({split: [record["text"] for record in records[split]] for split in SPLITS})
        splits = {}
        for split in SPLITS:
            infixes = [record["text"].split(" ") for record in records[split]]
            prefixes = [record["prefix"].split(" ") for record in records[split]]
            texts = {
                "infix": infixes,
                "prefix": prefixes,
                "both": [a + b for a, b in zip(infixes, prefixes, strict=True)],
            }[self.view]
            values = {
                "label": [record["label"] for record in records[split]],
                "depth": [record["depth"] for record in records[split]],
                "seen": seen[split],
                "infix_length": [len(text) for text in infixes],
            }
            columns = {name: np.array(values[name], dtype=np.int32) for name in self.columns}
            splits[split] = EncodedSplit.of(texts, numbered(SYMBOLS), columns)
        depths = {split: [record["depth"] for record in records[split]] for split in SPLITS}
        repeated = {
            split: [depth for depth, again in zip(depths[split], seen[split], strict=True) if again]
            for split in SPLITS
        }
        statistics = {
            "examples_per_depth": {split: self._count(depths[split]) for split in SPLITS},
            "duplicates": {split: self._count(repeated[split]) for split in SPLITS},
        }
        write_encoded(out, self.name, self.options, SYMBOLS, splits, statistics)

    def _record(self, infix_line: tuple[str, str], prefix_line: tuple[str, str]) -> Record:
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

    def _count(self, depths: Iterable[int]) -> dict[str, int]:
        """Count how often each of the recipe's depths is there."""
        counts = Counter(depths)
        return {str(depth): counts[depth] for depth in self.depths}


def _seen(texts: Mapping[str, Sequence[str]]) -> dict[str, list[int]]:
    """Return 1 for every text that is in train, or for train's own that is there before; else 0."""
    known: set[str] = set()
    marks: dict[str, list[int]] = {split: [] for split in SPLITS}
    for split in SPLITS:
        for text in texts[split]:
            marks[split].append(int(text in known))
            if split == "train":
                known.add(text)
    return marks
