"""The Stanford Sentiment Treebank's sentences, and a generated corpus in the same file format.

A line of a file is `label text`: tokens separated by spaces, label 0 (negative) or 1 (positive) of
the binary task, 0 to 4 of the fine one.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal

from workflow.datasets.errors import DataError, RecipeError
from workflow.datasets.files import (
    SPLITS,
    by_name,
    duplicates,
    read_lines,
    read_records,
    write_lines,
    write_records,
)
from workflow.datasets.recipe import require_at_least

LABELS = {"binary": 2, "fine": 5}
SALIENT_WORDS = "salient_words.txt"


@dataclass(frozen=True)
class Options:
    """What the sentences are made from; the defaults are the paper's."""

    source: Literal["official", "generated"] = "official"
    """The official files, or a small corpus in their format whose salient words are known."""
    classes: Literal["binary", "fine"] = "binary"
    """Two labels without the neutral sentences, or five labels."""
    max_tokens: int = 500
    """Longer texts are cut."""
    train: int | None = None
    """Generated sentences to train on."""
    dev: int | None = None
    """Generated sentences to choose settings with."""
    test: int | None = None
    """Generated sentences to report on."""
    seed: int | None = None
    """Seed of the generator; every split has its own stream of it."""

    def __post_init__(self) -> None:
        generator = {name: getattr(self, name) for name in (*SPLITS, "seed")}
        require_at_least("sst", 1, {"max_tokens": self.max_tokens})
        if self.source == "official":
            for name, value in generator.items():
                if value is not None:
                    raise RecipeError(
                        f"Option `{name}` of dataset `sst` is for `source: generated` only; "
                        "the official files have their own size."
                    )
            return
        if self.classes != "binary":
            raise RecipeError(
                "Dataset `sst` with `source: generated` has two labels: set `classes: binary`."
            )
        for name, value in generator.items():
            if value is None:
                raise RecipeError(
                    f"Dataset `sst` with `source: generated` needs the option `{name}`."
                )
        require_at_least("sst", 1, {name: generator[name] for name in SPLITS})
        require_at_least("sst", 0, {"seed": generator["seed"]})


def sources(options: Options) -> list[str]:
    """Return the official files to fetch; none for the generated corpus."""
    return [_file(options, split) for split in SPLITS] if options.source == "official" else []


def raw(options: Options) -> list[str]:
    """Return the files that `synthesise` writes."""
    if options.source == "official":
        return []
    return [*(_file(options, split) for split in SPLITS), SALIENT_WORDS]


def columns(options: Options) -> list[str]:
    """Return the columns that `encode` writes beside the tokens."""
    return ["label"] if options.source == "official" else ["label", "salient"]


def synthesise(options: Options, out: Path) -> None:
    """Write generated sentences in the official format, and the list of their salient words."""
    import random

    from workflow.datasets.sentiment_grammar import salient_words, sentences

    for split in SPLITS:
        generator = random.Random(f"{options.seed} {split}")
        pairs = sentences(getattr(options, split), generator)
        write_lines(out / _file(options, split), (f"{label} {text}" for label, text in pairs))
    write_lines(out / SALIENT_WORDS, salient_words())


def prepare(options: Options, files: Sequence[Path], out: Path) -> None:
    """Write every sentence as a record with its label and, where known, which words are salient.

    Raises DataError naming the line with a wrong label or an empty text.
    """
    salient = set()
    if options.source == "generated":
        salient = {word for _, word in read_lines(by_name(files, SALIENT_WORDS))}
    for split in SPLITS:
        records = []
        for place, line in read_lines(by_name(files, _file(options, split))):
            record = _record(place, line, LABELS[options.classes])
            if salient:
                record["salient"] = [int(word in salient) for word in record["text"].split(" ")]
            records.append(record)
        write_records(out / f"{split}.jsonl", records)


def encode(options: Options, prepared: Path, out: Path) -> None:
    """Write the sentences as arrays; the vocabulary is all words of the training set.

    Words of dev and test that are not in it become `<unk>` and are counted.
    """
    import numpy as np

    from workflow.datasets.encoding import RESERVED, UNKNOWN, Split, write_encoded

    records = {split: list(read_records(prepared / f"{split}.jsonl")) for split in SPLITS}
    words = {
        split: [record["text"].split(" ")[: options.max_tokens] for record in records[split]]
        for split in SPLITS
    }
    vocabulary = sorted({word for text in words["train"] for word in text})
    numbers = {word: number for number, word in enumerate(vocabulary, start=len(RESERVED))}
    splits = {}
    for split in SPLITS:
        tokens = [numbers.get(word, UNKNOWN) for text in words[split] for word in text]
        labels = [record["label"] for record in records[split]]
        extra = {"label": np.array(labels, dtype=np.int64)}
        if "salient" in columns(options):
            marks = [record["salient"][: options.max_tokens] for record in records[split]]
            extra["salient"] = np.concatenate(marks).astype(np.uint8)
        lengths = np.array([len(text) for text in words[split]])
        splits[split] = Split(np.array(tokens), lengths, extra)
    statistics = {
        **_statistics(options, records),
        "unknown_tokens": {
            split: int((splits[split].tokens == UNKNOWN).sum()) for split in ("dev", "test")
        },
    }
    write_encoded(out, "sst", asdict(options), vocabulary, splits, statistics)


def _statistics(options: Options, records: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """Describe the texts of every split before they are cut."""
    texts = {split: [record["text"] for record in records[split]] for split in SPLITS}
    lengths = {split: [text.count(" ") + 1 for text in texts[split]] for split in SPLITS}
    labels = {split: Counter(str(record["label"]) for record in records[split]) for split in SPLITS}
    return {
        "cut_texts": sum(n > options.max_tokens for split in SPLITS for n in lengths[split]),
        "median_length": {split: median(lengths[split]) for split in SPLITS},
        "labels": {split: dict(sorted(labels[split].items())) for split in SPLITS},
        "duplicates": duplicates(texts),
    }


def _file(options: Options, split: str) -> str:
    """Return the official name of a split's file."""
    return f"stsa.{options.classes}.{split}"


def _record(place: str, line: str, labels: int) -> dict[str, Any]:
    """Return a `label text` line as a record."""
    label, _, text = line.partition(" ")
    if label not in {str(number) for number in range(labels)}:
        raise DataError(
            f"{place}: expected a label from 0 to {labels - 1} before the text, found {label!r}; "
            "correct the line or fetch the file again."
        )
    words = [word for word in text.split(" ") if word.strip()]
    if not words:
        raise DataError(
            f"{place}: the text after label {label} is empty; remove the line or fetch the file "
            "again."
        )
    return {"text": " ".join(words), "label": int(label)}
