"""Labelled texts: from what an official file holds to the arrays of a classifier.

Each dataset reads its own files and says which texts go to which split (`examples`); what they have
in common is here: words, splits, checks and statistics.
"""

import math
import random
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import median
from typing import ClassVar, Literal, NamedTuple

from workflow.datasets.grammars.labelled_clauses import Lexicon
from workflow.datasets.io.dataset_files import (
    SPLITS,
    ExampleRecord,
    Statistics,
    by_name,
    duplicates,
    read_lines,
    read_splits,
    write_lines,
    write_records,
)
from workflow.datasets.io.left_out import Dropped, invisible, read_left_out
from workflow.datasets.kinds.dataset import Dataset, Generable
from workflow.datasets.kinds.text_words import plain_words, tokenise
from workflow.runtime.errors import DataError

SALIENT_WORDS = "salient_words.txt"
SEED = 0
"""Seed of every random choice among official texts."""
HELD_OUT = 4000
"""Most test texts that Attention Learning evaluates on (snell2021 appendix A.8)."""


class LabelledExample(NamedTuple):
    """A text's words and its label, a whole number from 0."""

    words: list[str]
    label: int


@dataclass(frozen=True)
class LabelledText(Dataset):
    """Texts with a label each."""

    beside = (SALIENT_WORDS,)

    max_tokens: int = 500
    """Longer texts are cut."""
    min_count: int = 1
    """Words that the training set has fewer times become `<unk>`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_at_least(1, "max_tokens", "min_count")

    def words(self, text: str) -> list[str]:
        """Split a raw text into words."""
        return plain_words(text)

    def worded(self, text: str, label: int, left_out: Dropped) -> Iterator[LabelledExample]:
        """Yield the example of a text; none, but counted, when it is empty or has no words.

        A word has a character that can be seen.
        """
        words = self.words(left_out.visible(text))
        if not invisible("".join(words)):
            yield LabelledExample(words, label)
        else:
            left_out.dropped["no words" if text.strip() else "empty"] += 1

    @abstractmethod
    def examples(
        self, files: Sequence[Path], left_out: Dropped
    ) -> dict[str, list[LabelledExample]]:
        """Return the texts of every split.

        Raises DataError when a file is damaged, or a label or a text is wrong.
        """

    def prepare(self, files: Sequence[Path], out: Path) -> None:
        """Write every text as a record with its label and, where known, its salient words."""
        left_out = Dropped()
        splits = self.examples(files, left_out)
        salient = None
        if self.generated:
            salient = {word for _, word in read_lines(by_name(files, SALIENT_WORDS))}
        write_prepared(out, splits, left_out, salient)

    @property
    def columns(self) -> Sequence[str]:
        """Columns that `encode` writes beside the tokens."""
        return ["label", "salient"] if self.generated else ["label"]

    def encode(self, prepared: Path, out: Path) -> None:
        """Write the texts, cut to `max_tokens`, as arrays, with their labels and salient words.

        The vocabulary is the words that the training set has at least `min_count` times. All others
        become `<unk>` and are counted in dev and test, as are the texts there that are nothing
        else. Raises DataError when no word is frequent enough.
        """
        import numpy as np

        from workflow.datasets.encoded.encoding import (
            RESERVED,
            EncodedSplit,
            numbered,
            write_encoded,
        )

        records = read_splits(prepared)
        texts = {
            split: [record["text"].split(" ")[: self.max_tokens] for record in records[split]]
            for split in SPLITS
        }
        counts = Counter(chain.from_iterable(texts["train"]))
        kept = {word for word, count in counts.items() if count >= self.min_count}
        vocabulary = sorted(kept.difference(RESERVED))
        if not vocabulary:
            raise DataError(
                f"No word of dataset `{self.name}` comes {self.min_count} times in the texts to "
                "train on; lower `min_count`."
            )
        numbers = numbered(vocabulary)
        splits = {}
        for split in SPLITS:
            labels = [record["label"] for record in records[split]]
            columns = {"label": np.array(labels, dtype=np.int64)}
            if self.generated:
                marks = [record["salient"][: self.max_tokens] for record in records[split]]
                columns["salient"] = np.concatenate(marks).astype(np.uint8)
            splits[split] = EncodedSplit.of(texts[split], numbers, columns)
        unknown = {
            split: [sum(word not in numbers for word in text) for text in texts[split]]
            for split in ("dev", "test")
        }
        statistics = {
            **_statistics(records, self.max_tokens),
            **read_left_out(prepared),
            "unknown_tokens": {split: sum(unknown[split]) for split in unknown},
            "unknown_texts": {
                split: sum(
                    n == len(text) for n, text in zip(unknown[split], texts[split], strict=True)
                )
                for split in unknown
            },
        }
        write_encoded(self, out, vocabulary, splits, statistics)


@dataclass(frozen=True)
class GenerableText(Generable, LabelledText):
    """The same for a dataset that can be generated too; its salient words are known then.

    Attention Learning has no dev texts of its own, so under its protocol the generated ones go with
    those to train on.
    """

    least = 2
    lexicon: ClassVar[Lexicon]
    """Words and clauses of generated texts."""

    source: Literal["official", "generated"] = "official"
    """The official files, or a small corpus in their format whose salient words are known."""
    protocol: Literal["jain_wallace", "attention_learning"] = "jain_wallace"
    """Whose words and splits: Jain and Wallace's, or those of snell2021 appendix A.5, A.8."""

    def synthesise(self, out: Path) -> None:
        """Write generated texts in the official format, and the list of their salient words.

        The label of a text is that of most of its salient words, which `salient_words.txt` lists,
        one a line, in lower case and sorted.
        """
        self.generate(out)
        write_lines(out / SALIENT_WORDS, self.lexicon.labels)

    @abstractmethod
    def generate(self, out: Path) -> None:
        """Write generated texts in the official format."""

    def words(self, text: str) -> list[str]:
        """Split a raw text into words as the protocol does."""
        return tokenise(text) if self.protocol == "jain_wallace" else plain_words(text)

    def divided(
        self,
        train: list[LabelledExample],
        test: list[LabelledExample],
        share: int,
        left_out: Dropped,
    ) -> dict[str, list[LabelledExample]]:
        """Return the splits: one train text in `share` is dev, or by Attention Learning test is."""
        if self.protocol == "attention_learning":
            return dev_and_test(train, test, left_out)
        train, dev = divide(train, self.dev or math.ceil(len(train) / share))
        return {"train": train, "dev": dev, "test": test}


def shuffled(examples: Iterable[LabelledExample]) -> list[LabelledExample]:
    """Return the examples in a random order that is always the same."""
    order = list(examples)
    random.Random(SEED).shuffle(order)
    return order


def divide(
    examples: Sequence[LabelledExample], count: int
) -> tuple[list[LabelledExample], list[LabelledExample]]:
    """Return all examples but `count`, and these: a random choice with the labels' proportions.

    The choice is always the same; both parts keep the order of the whole. Parts of an example go
    to the labels with the largest remainders.
    """
    places: dict[int, list[int]] = {}
    for place, (_, label) in enumerate(examples):
        places.setdefault(label, []).append(place)
    shares = {label: count * len(places[label]) / len(examples) for label in sorted(places)}
    takes = {label: math.floor(share) for label, share in shares.items()}
    by_remainder = sorted(shares, key=lambda label: takes[label] - shares[label])
    for label in by_remainder[: count - sum(takes.values())]:
        takes[label] += 1
    generator = random.Random(SEED)
    taken = {place for label in takes for place in generator.sample(places[label], takes[label])}
    rest = [example for place, example in enumerate(examples) if place not in taken]
    return rest, [example for place, example in enumerate(examples) if place in taken]


def at_most(
    count: int, examples: Sequence[LabelledExample], left_out: Dropped
) -> list[LabelledExample]:
    """Return the examples, or `count` of them by `divide`; the others count as dropped."""
    if len(examples) <= count:
        return list(examples)
    left_out.dropped["not in the sample of the test set"] += len(examples) - count
    return divide(examples, count)[1]


def dev_and_test(
    train: list[LabelledExample], test: Sequence[LabelledExample], left_out: Dropped
) -> dict[str, list[LabelledExample]]:
    """Return the splits of Attention Learning, at most 4,000 test texts being both dev and test."""
    held_out = at_most(HELD_OUT, test, left_out)
    return {"train": train, "dev": held_out, "test": held_out}


def hold_out(
    examples: Sequence[LabelledExample], train: int, held_out: int, left_out: Dropped
) -> dict[str, list[LabelledExample]]:
    """Return splits of these sizes, dev and test being the same; smaller ones of their proportion.

    For datasets without official splits. Texts beyond the two sizes are left out and counted.
    """
    pool = shuffled(examples)
    whole = train + held_out
    if len(pool) > whole:
        left_out.dropped["not in the sample"] += len(pool) - whole
        pool = divide(pool, whole)[1]
    rest, taken = divide(pool, math.ceil(len(pool) * held_out / whole))
    return {"train": rest, "dev": taken, "test": taken}


def write_prepared(
    out: Path,
    splits: Mapping[str, Sequence[LabelledExample]],
    left_out: Dropped,
    salient: set[str] | None = None,
) -> None:
    """Write every split's texts, with the marks of the salient words where these are known.

    Raises DataError when a file has another encoding than it should have, the texts of a split all
    have the same label, or there are none.
    """
    left_out.check()
    for split in SPLITS:
        labels = sorted({example.label for example in splits[split]})
        if len(labels) < 2:
            fault = f"has the label {labels[0]} only" if labels else "is empty"
            raise DataError(
                f"{out}: the split `{split}` {fault}; a classifier needs texts of two labels, so "
                "check the files that it is made from."
            )
    for split in SPLITS:
        write_records(out / f"{split}.jsonl", (_record(it, salient) for it in splits[split]))
    left_out.write(out)


def _record(example: LabelledExample, salient: set[str] | None) -> ExampleRecord:
    """Return the record of a text."""
    words, label = example
    marks = {} if salient is None else {"salient": [int(word in salient) for word in words]}
    return {"text": " ".join(words), "label": label, **marks}


def _statistics(records: Mapping[str, Sequence[ExampleRecord]], max_tokens: int) -> Statistics:
    """Describe the texts of every split before they are cut."""
    texts = {split: [record["text"] for record in records[split]] for split in SPLITS}
    lengths = {split: [text.count(" ") + 1 for text in texts[split]] for split in SPLITS}
    labels = {split: Counter(str(record["label"]) for record in records[split]) for split in SPLITS}
    return {
        "cut_texts": sum(n > max_tokens for split in SPLITS for n in lengths[split]),
        "median_length": {split: float(median(lengths[split])) for split in SPLITS},
        "labels": {split: dict(sorted(labels[split].items())) for split in SPLITS},
        "duplicates": duplicates(texts),
    }
