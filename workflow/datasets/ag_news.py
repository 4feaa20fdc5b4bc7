"""AG News (Zhang et al., 2015): short news items, World 0 or Business 1.

A row of `train.csv` and `test.csv` is class, title, description, the class from 1 to 4; Sports and
Sci/Tech are passed over. Where the official train file can't be had, `source: subset` puts a
reduced train set together from four public extracts of it, about a sixth of the whole. Three of
them join title and description; the fourth has descriptions only, tokenized and partly cut short.
They overlap, so an item is left out when one before it, or of the test file, begins with the same
60 letters; a description also when such a text contains its first 60 letters.
"""

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from workflow.datasets.io.files import by_name
from workflow.datasets.io.left_out import LeftOut
from workflow.datasets.kinds.labelled_text import (
    Example,
    GenerableText,
    dev_and_test,
    divide,
    shuffled,
    tokenise,
    without_integers,
)
from workflow.errors import FETCH_AGAIN, DataError

WORLD, BUSINESS, OTHER = 0, 1, None
LETTERS = 60
"""As many first letters, case and punctuation left out, make two items the same."""


@dataclass(frozen=True)
class RowFormat:
    """How a file writes its rows."""

    labels: dict[str, int | None]
    """Our label of each of the file's; None for those that are passed over."""
    label: int
    """Column of the label."""
    texts: tuple[int, ...]
    """Columns of the text."""
    whole: bool = True
    """Whether texts begin with the title; else they are descriptions that may be cut short."""
    header: tuple[str, ...] = ()
    """The first row, where it is no item."""


NUMBERS = {"0": WORLD, "1": OTHER, "2": BUSINESS, "3": OTHER}
OFFICIAL = RowFormat({"1": WORLD, "2": OTHER, "3": BUSINESS, "4": OTHER}, label=0, texts=(1, 2))
SUBSETS = {
    "subset_1.csv": RowFormat(
        {f"{number}.0": label for number, label in NUMBERS.items()},
        label=1,
        texts=(0,),
        header=("text", "label"),
    ),
    "subset_2_train.csv": RowFormat(NUMBERS, label=1, texts=(0,)),
    "subset_2_dev.csv": RowFormat(NUMBERS, label=1, texts=(0,)),
    "subset_3.csv": RowFormat({"world": WORLD, "sci_tech": OTHER}, label=1, texts=(0,)),
    "subset_4.csv": RowFormat(NUMBERS, label=0, texts=(1,), whole=False),
    "subset_4_ub.csv": RowFormat(NUMBERS, label=0, texts=(1,), whole=False),
}
TRAIN = {"train.csv": OFFICIAL}
TEST = "test.csv"


class _Item(NamedTuple):
    """A World or Business item."""

    text: str
    label: int
    letters: str
    """The letters and digits of the text, by which items are compared."""
    whole: bool
    """Whether the text begins with the title."""


def _distinct(items: Iterable[_Item], test: Iterable[_Item], left_out: LeftOut) -> list[_Item]:
    """Return the items that are not in `test` and come for the first time; count the others.

    An item is another one where it begins like it; a description where it is a part of it.
    """
    kept: list[_Item] = []
    known = {"in the test set too": [*test], "more than once in the train set": kept}
    starts = {why: {one.letters[:LETTERS] for one in others} for why, others in known.items()}
    for item in items:
        start = item.letters[:LETTERS]
        for why, others in known.items():
            if start in starts[why] or (
                not item.whole and any(start in other.letters for other in others)
            ):
                left_out.dropped[why] += 1
                break
        else:
            starts[why].add(start)
            kept.append(item)
    return kept


@dataclass(frozen=True)
class Data(GenerableText):
    """The news items; the defaults are the Discrete Transformer's.

    Items that repeat stay, as released, but for those of the reduced train set: they are left out.
    `jain_wallace`: a tenth of the train items for dev. `attention_learning`: all of them for train,
    the test items as both dev and test; whole numbers of more than one digit are unknown.
    """

    source: Literal["official", "subset", "generated"] = "official"
    """The official files, the reduced train set, or a generated corpus in the official format."""

    @property
    def formats(self) -> Mapping[str, RowFormat]:
        """The train files and their formats."""
        return SUBSETS if self.source == "subset" else TRAIN

    @property
    def files(self) -> Sequence[str]:
        """The train files and the test file."""
        return [*self.formats, TEST]

    def synthesise(self, out: Path) -> None:
        """Write generated items in the official format, and the list of their salient words."""
        from workflow.datasets.kinds.generated import write_ag_news

        write_ag_news(out, train=self.train + self.dev, test=self.test, seed=self.seed)

    def examples(self, files: Sequence[Path], left_out: LeftOut) -> dict[str, list[Example]]:
        """Return every World or Business item.

        Raises DataError naming the row with a wrong label, too few columns or an empty text.
        """
        test = list(_items(by_name(files, TEST), OFFICIAL, left_out))
        train = [
            item
            for name, written in self.formats.items()
            for item in _items(by_name(files, name), written, left_out)
        ]
        if self.source == "subset":
            train = _distinct(train, test, left_out)
        return self._splits(self._examples(train), self._examples(test), left_out)

    def _splits(
        self, train: list[Example], test: list[Example], left_out: LeftOut
    ) -> dict[str, list[Example]]:
        """Return the texts of every split as the protocol has them."""
        if self.protocol == "attention_learning":
            return dev_and_test(train, test, left_out)
        train, dev = divide(train, self.dev or math.ceil(len(train) / 10))
        return {"train": train, "dev": dev, "test": test}

    def _examples(self, items: Iterable[_Item]) -> list[Example]:
        """Split items into words as the protocol does, and put them in random order."""
        examples = []
        for item in items:
            words = self.words(item.text)
            if self.protocol == "attention_learning":
                words = without_integers(words)
            examples.append(Example(words, item.label))
        return shuffled(examples)


def _items(path: Path, written: RowFormat, left_out: LeftOut) -> Iterator[_Item]:
    """Yield the World and Business items of a file."""
    for number, (place, row) in enumerate(_rows(path, left_out)):
        if number == 0 and tuple(row) == written.header:
            continue
        if len(row) <= max(written.label, *written.texts):
            raise DataError(
                f"{place}: expected {1 + len(written.texts)} columns, found {len(row)}; "
                f"{FETCH_AGAIN}."
            )
        if row[written.label] not in written.labels:
            raise DataError(
                f"{place}: expected one of the labels {', '.join(written.labels)}, found "
                f"{row[written.label]!r}; {FETCH_AGAIN}."
            )
        label = written.labels[row[written.label]]
        if label is None:
            continue
        text = " ".join(row[column] for column in written.texts).replace("\\", " ")
        letters = re.sub(r"[\W_]", "", "".join(tokenise(text)))
        if not letters:
            raise DataError(f"{place}: the text is empty; {FETCH_AGAIN}.")
        yield _Item(text, label, letters, written.whole)


def _rows(path: Path, left_out: LeftOut) -> Iterator[tuple[str, list[str]]]:
    """Yield (place, columns) for every row of a file."""
    if not path.is_file():
        raise DataError(f"{path}: this dataset file does not exist; run the step that writes it.")
    text = left_out.decode(path.read_bytes(), "utf-8")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            yield f"{path}, line {reader.line_num}", row
    except csv.Error as error:
        raise DataError(
            f"{path}, line {reader.line_num}: this row is damaged or cut short ({error}); "
            f"{FETCH_AGAIN}."
        ) from None
