"""AG News (Zhang et al., 2015): short news items, World 0 or Business 1.

A row of `train.csv` and `test.csv` is class, title, description, the class from 1 to 4; Sports and
Sci/Tech are passed over. Where the official train file can't be had, `source: subset` puts a
reduced train set together from four public extracts of it, about a sixth of the whole. Three of
them join title and description; the fourth has descriptions only, tokenized and partly cut short,
so an item of it is used only when no other text contains the first 60 letters of its description.
"""

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from workflow.datasets import labelled_text
from workflow.datasets.errors import DataError
from workflow.datasets.files import by_name
from workflow.datasets.labelled_text import (
    HELD_OUT,
    SALIENT_WORDS,
    Example,
    GeneratedOptions,
    Losses,
    at_most,
    divide,
    salient_words,
    shuffled,
    splitter,
    tokenise,
    without_integers,
    write_prepared,
)

WORLD, BUSINESS, OTHER = 0, 1, None
LETTERS = 60
"""As many first letters, case and punctuation left out, make two items the same."""


@dataclass(frozen=True)
class Layout:
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
OFFICIAL = Layout({"1": WORLD, "2": OTHER, "3": BUSINESS, "4": OTHER}, label=0, texts=(1, 2))
SUBSETS = {
    "subset_1.csv": Layout(
        {f"{number}.0": label for number, label in NUMBERS.items()},
        label=1,
        texts=(0,),
        header=("text", "label"),
    ),
    "subset_2_train.csv": Layout(NUMBERS, label=1, texts=(0,)),
    "subset_2_dev.csv": Layout(NUMBERS, label=1, texts=(0,)),
    "subset_3.csv": Layout({"world": WORLD, "sci_tech": OTHER}, label=1, texts=(0,)),
    "subset_4.csv": Layout(NUMBERS, label=0, texts=(1,), whole=False),
    "subset_4_ub.csv": Layout(NUMBERS, label=0, texts=(1,), whole=False),
}
TRAIN = {"train.csv": OFFICIAL}
TEST = "test.csv"


@dataclass(frozen=True)
class Options(GeneratedOptions):
    """What the items are made from; the defaults are the Discrete Transformer's.

    Items of the train file that repeat, or that the test file has too, are left out and counted.
    `jain_wallace`: a tenth of the train items for dev. `attention_learning`: all of them for train,
    the test items as both dev and test; whole numbers of more than one digit are unknown.
    """

    dataset: ClassVar[str] = "ag_news"

    source: Literal["official", "subset", "generated"] = "official"
    """The official files, the reduced train set, or a generated corpus in the official format."""


def sources(options: Options) -> list[str]:
    """Return the files to fetch; none for the generated corpus."""
    return [] if options.source == "generated" else [*_train(options), TEST]


def raw(options: Options) -> list[str]:
    """Return the files that `synthesise` writes."""
    return [*TRAIN, TEST, SALIENT_WORDS] if options.source == "generated" else []


def columns(options: Options) -> list[str]:
    """Return the columns that `encode` writes beside the tokens."""
    return ["label", "salient"] if options.source == "generated" else ["label"]


def synthesise(options: Options, out: Path) -> None:
    """Write generated items in the official format, and the list of their salient words."""
    from workflow.datasets.generated_text import write_ag_news

    assert options.train and options.dev and options.test and options.seed is not None
    write_ag_news(out, train=options.train + options.dev, test=options.test, seed=options.seed)


def prepare(options: Options, files: Sequence[Path], out: Path) -> None:
    """Write every World or Business item as a record with its label.

    Raises DataError naming the row with a wrong label, too few columns or an empty text.
    """
    losses = Losses()
    test = list(_items(by_name(files, TEST), OFFICIAL, losses))
    tested, seen = _Seen(), _Seen()
    for item in test:
        tested.add(item)
    train = []
    for name, layout in _train(options).items():
        for item in _items(by_name(files, name), layout, losses):
            if tested.has(item, layout):
                losses.dropped["in the test set too"] += 1
            elif seen.has(item, layout):
                losses.dropped["more than once in the train set"] += 1
            else:
                seen.add(item)
                train.append(item)
    splits = _splits(options, _examples(options, train), _examples(options, test), losses)
    salient = salient_words(files) if options.source == "generated" else None
    write_prepared(out, splits, losses, salient)


def encode(options: Options, prepared: Path, out: Path) -> None:
    """Write the items as arrays; the vocabulary is the words of the training set."""
    labelled_text.encode(options, columns(options), prepared, out)


class _Item(NamedTuple):
    """A World or Business item."""

    text: str
    label: int
    letters: str
    """The letters and digits of the text, by which items are compared."""


class _Seen:
    """Items to compare others with."""

    def __init__(self) -> None:
        """Begin with none."""
        self.starts: set[str] = set()
        self.letters: list[str] = []

    def add(self, item: _Item) -> None:
        """Add an item."""
        self.starts.add(item.letters[:LETTERS])
        self.letters.append(item.letters)

    def has(self, item: _Item, layout: Layout) -> bool:
        """Tell whether the item is there: its beginning, or for a description anywhere."""
        start = item.letters[:LETTERS]
        if layout.whole or start in self.starts:
            return start in self.starts
        return any(start in letters for letters in self.letters)


def _examples(options: Options, items: Iterable[_Item]) -> list[Example]:
    """Split items into words as the protocol does, and put them in random order."""
    examples = []
    for item in items:
        words = splitter(options)(item.text)
        if options.protocol == "attention_learning":
            words = without_integers(words)
        examples.append(Example(words, item.label))
    return shuffled(examples)


def _splits(
    options: Options, train: list[Example], test: list[Example], losses: Losses
) -> dict[str, list[Example]]:
    """Return the texts of every split as the protocol has them."""
    if options.protocol == "attention_learning":
        held_out = at_most(HELD_OUT, test, losses)
        return {"train": train, "dev": held_out, "test": held_out}
    train, dev = divide(train, options.dev or math.ceil(len(train) / 10))
    return {"train": train, "dev": dev, "test": test}


def _train(options: Options) -> dict[str, Layout]:
    """Return the train files and their layouts."""
    return SUBSETS if options.source == "subset" else TRAIN


def _items(path: Path, layout: Layout, losses: Losses) -> Iterator[_Item]:
    """Yield the World and Business items of a file."""
    for number, (place, row) in enumerate(_rows(path, losses)):
        if number == 0 and tuple(row) == layout.header:
            continue
        if len(row) <= max(layout.label, *layout.texts):
            raise DataError(
                f"{place}: expected {1 + len(layout.texts)} columns, found {len(row)}; correct the "
                "line or fetch the file again."
            )
        if row[layout.label] not in layout.labels:
            raise DataError(
                f"{place}: expected one of the labels {', '.join(layout.labels)}, found "
                f"{row[layout.label]!r}; correct the line or fetch the file again."
            )
        label = layout.labels[row[layout.label]]
        if label is None:
            continue
        text = " ".join(row[column] for column in layout.texts).replace("\\", " ")
        letters = re.sub(r"[\W_]", "", "".join(tokenise(text)))
        if not letters:
            raise DataError(f"{place}: the text is empty; remove the line or fetch the file again.")
        yield _Item(text, label, letters)


def _rows(path: Path, losses: Losses) -> Iterator[tuple[str, list[str]]]:
    """Yield (place, columns) for every row of a file."""
    if not path.is_file():
        raise DataError(f"{path}: this dataset file does not exist; run the step that writes it.")
    text = losses.decode(path.read_bytes(), "utf-8")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            yield f"{path}, line {reader.line_num}", row
    except csv.Error as error:
        raise DataError(
            f"{path}, line {reader.line_num}: this row is damaged or cut short ({error}); delete "
            "the file and fetch it again."
        ) from None
