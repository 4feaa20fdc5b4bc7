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
import random
import re
import string
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from workflow.datasets.grammars.labelled_clauses import (
    NEWS,
    OTHERS,
    balanced,
    draw,
    name,
    prose,
    typeset,
)
from workflow.datasets.io.dataset_files import by_name, existing, write_bytes
from workflow.datasets.io.left_out import LONGEST_LINE, Dropped
from workflow.datasets.kinds.labelled_text import GenerableText, LabelledExample, shuffled
from workflow.datasets.kinds.text_words import tokenise, without_integers
from workflow.runtime.errors import CORRECT, FETCH_AGAIN, DataError

WORLD, BUSINESS, OTHER = 0, 1, None
LETTERS = 60
"""As many first letters, case and punctuation left out, make two items the same."""
AGREEING = (0.2, 0.4, 0.3, 0.1)
"""Chances of 1, 2, ... salient words of a generated item's label."""


class RowFormat(NamedTuple):
    """How a file writes its rows."""

    labels: Mapping[str, int | None]
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
DECIMALS = {f"{number}.0": label for number, label in NUMBERS.items()}
NAMES = {"world": WORLD, "sci_tech": OTHER}
OFFICIAL = RowFormat({"1": WORLD, "2": OTHER, "3": BUSINESS, "4": OTHER}, label=0, texts=(1, 2))
SUBSETS = {
    "subset_1.csv": RowFormat(DECIMALS, label=1, texts=(0,), header=("text", "label")),
    "subset_2_train.csv": RowFormat(NUMBERS, label=1, texts=(0,)),
    "subset_2_dev.csv": RowFormat(NUMBERS, label=1, texts=(0,)),
    "subset_3.csv": RowFormat(NAMES, label=1, texts=(0,)),
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


@dataclass(frozen=True)
class Data(GenerableText):
    """The news items; the defaults are the Discrete Transformer's.

    Items that repeat stay, as released, but for those of the reduced train set: they are left out.
    `jain_wallace`: a tenth of the train items for dev. `attention_learning`: all of them for train,
    the test items as both dev and test; whole numbers of more than one digit are unknown.
    """

    lexicon = NEWS

    source: Literal["official", "subset", "generated"] = "official"  # type: ignore[assignment]
    """The official files, the reduced train set, or a generated corpus in the official format."""

    @property
    def formats(self) -> Mapping[str, RowFormat]:
        """The train files and their formats."""
        return SUBSETS if self.source == "subset" else TRAIN

    @property
    def files(self) -> Sequence[str]:
        """The train files and the test file."""
        return [*self.formats, TEST]

    def generate(self, out: Path) -> None:
        """Write items of World and Business, and some of the other two classes."""
        for split, count in (("train", self.size("train", "dev")), ("test", self.size("test"))):
            generator = random.Random(f"{self.seed} ag_news {split}")
            items = [((1, 3)[label], label) for label in balanced(count, generator)]
            items += [
                (generator.choice((2, 4)), generator.randrange(2))
                for _ in range(1 + count // OTHERS)
            ]
            generator.shuffle(items)
            rows = io.StringIO()
            writer = csv.writer(rows, quoting=csv.QUOTE_ALL, lineterminator="\n")
            writer.writerows((number, *_generated(label, generator)) for number, label in items)
            write_bytes(out / f"{split}.csv", rows.getvalue().encode())

    def examples(
        self, files: Sequence[Path], left_out: Dropped
    ) -> dict[str, list[LabelledExample]]:
        """Return every World or Business item."""
        test = list(_items(by_name(files, TEST), OFFICIAL, left_out))
        train = [
            item
            for file, written in self.formats.items()
            for item in _items(by_name(files, file), written, left_out)
        ]
        if self.source == "subset":
            train = _distinct(train, test, left_out)
        return self.divided(self._examples(train), self._examples(test), 10, left_out)

    def _examples(self, items: Iterable[_Item]) -> list[LabelledExample]:
        """Split items into words as the protocol does, and put them in random order."""
        numbers = without_integers if self.protocol == "attention_learning" else list[str]
        return shuffled(
            LabelledExample(numbers(self.words(item.text)), item.label) for item in items
        )


def _items(path: Path, written: RowFormat, left_out: Dropped) -> Iterator[_Item]:
    """Yield the World and Business items of a file."""
    for number, (place, row) in enumerate(_rows(path, left_out)):
        if number == 0 and tuple(row) == written.header:
            continue
        if not "".join(row).strip():
            left_out.dropped["an empty line"] += 1
            continue
        if len(row) != 1 + len(written.texts):
            raise DataError(
                f"{place}: expected {1 + len(written.texts)} columns, found {len(row)}; {CORRECT}."
            )
        if row[written.label] not in written.labels:
            raise DataError(
                f"{place}: expected one of the labels {', '.join(written.labels)}, found "
                f"{row[written.label]!r}; {CORRECT}."
            )
        label = written.labels[row[written.label]]
        if label is OTHER:
            continue
        text = " ".join(row[column] for column in written.texts).replace("\\", " ")
        text = left_out.visible(text)
        letters = re.sub(r"[\W_]", "", "".join(tokenise(text)))
        if not letters:
            left_out.dropped["no words" if text.strip() else "empty"] += 1
            continue
        yield _Item(text, label, letters, written.whole)


def _rows(path: Path, left_out: Dropped) -> Iterator[tuple[str, list[str]]]:
    """Yield (place, columns) for every row of a file."""
    text = left_out.decode(path, existing(path).read_bytes())
    csv.field_size_limit(LONGEST_LINE)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            yield f"{path}, line {reader.line_num}", row
    except csv.Error as error:
        fault, remedy = "has a wrong quote", CORRECT
        if "unexpected end" in str(error):
            fault = "is cut short, or a quote in it has no end"
            remedy = f"{FETCH_AGAIN}, or end the quote there if that gives the same file"
        raise DataError(
            f"{path}, line {reader.line_num}: this row {fault} ({error}); {remedy}."
        ) from None


def _distinct(items: Iterable[_Item], test: Iterable[_Item], left_out: Dropped) -> list[_Item]:
    """Return the items that are not in `test` and come for the first time; count the others.

    An item is another one where it begins like it; a description where it is a part of it.
    """
    kept: list[_Item] = []
    known = {"in the test set too": [*test], "more than once in the train set": kept}
    starts = {why: {one.letters[:LETTERS] for one in others} for why, others in known.items()}
    # All letters in one text each, which is searched much faster than one item after the other.
    texts = {
        why: bytearray("\n".join(one.letters for one in others).encode())
        for why, others in known.items()
    }
    for item in items:
        start = item.letters[:LETTERS]
        for why, text in texts.items():
            if start in starts[why] or (not item.whole and start.encode() in text):
                left_out.dropped[why] += 1
                break
        else:
            starts[why].add(start)
            texts[why] += f"\n{item.letters}".encode()
            kept.append(item)
    return kept


def _generated(label: int, generator: random.Random) -> tuple[str, str]:
    """Return the title and the description of a news item, with leftovers of mark-up."""
    told = label if generator.random() < 0.5 else None
    title = string.capwords(typeset(NEWS.clause(told, generator)))
    neutral = 1 + generator.randrange(2)
    text = prose(NEWS.story(label, draw(AGREEING, generator) + 1, neutral, generator))
    agency = generator.choice(("Reuters", "AP", "AFP"))
    if agency == "Reuters":
        title, text = f"{title} (Reuters)", "\\".join(textwrap.wrap(f"Reuters - {text}", 60))
    else:
        text = f"{name(generator).upper()} ({agency}) - {text}"
    if generator.random() < 0.5:
        title, text = title.replace("'", " #39;"), text.replace("'", " #39;")
    if generator.random() < 0.1:
        text += " &lt;b&gt;...&lt;/b&gt;"
    return title, text
