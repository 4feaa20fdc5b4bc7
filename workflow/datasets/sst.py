"""The Stanford Sentiment Treebank's sentences, and a generated corpus in the same file format.

A line of a file is `label text`: tokens separated by spaces, label 0 (negative) or 1 (positive) of
the binary task, 0 to 4 of the fine one.

Attention Learning reports 5,130 sentences to train on and 1,421 to evaluate on, with median lengths
16 and 17. These are the fine files' sentences with labels 1, 2 and 4, to the sentence: its text
counts labels from 1 (1 or 2 against 4 or 5), the files from 0. Its protocol here is that one, so
label 0 holds negative and neutral sentences, label 1 very positive ones.
"""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from unicodedata import normalize

from workflow.datasets.grammars.labelled_clauses import SENTIMENT
from workflow.datasets.io.dataset_files import SPLITS, by_name, write_lines
from workflow.datasets.io.left_out import Dropped, read_rows
from workflow.datasets.kinds.labelled_text import GenerableText, LabelledExample, dev_and_test
from workflow.runtime.errors import CORRECT, DataError, RecipeError

LABELS = {"binary": 2, "fine": 5}
SPACES = re.compile(r"[ \t\v\f]")
"""What is between words: a space that does not break a line (U+00A0) is inside of them."""
ATTENTION_LEARNING = {1: 0, 2: 0, 4: 1}


@dataclass(frozen=True)
class Data(GenerableText):
    """The sentences; the defaults are the Discrete Transformer's.

    `jain_wallace`: the official splits. `attention_learning`: the official train file, and at most
    4,000 sentences of the test file as both dev and test.
    """

    lexicon = SENTIMENT

    classes: Literal["binary", "fine"] = "binary"
    """Two labels without the neutral sentences, or five labels."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.generated and self.classes != "binary":
            raise RecipeError(
                "Dataset `sst` with `source: generated` has two labels: set `classes: binary`."
            )
        official = self.source == "official" and self.classes == "binary"
        if self.protocol == "attention_learning" and not official:
            raise RecipeError(
                "Dataset `sst` with `protocol: attention_learning` has two labels and is made from "
                "the official files: set `classes: binary` and `source: official`."
            )

    @property
    def by_split(self) -> Mapping[str, str]:
        """The official name of each split's file."""
        if self.protocol == "attention_learning":
            return {split: f"stsa.fine.{split}" for split in ("train", "test")}
        return {split: f"stsa.{self.classes}.{split}" for split in SPLITS}

    @property
    def files(self) -> Sequence[str]:
        """The files of all splits."""
        return list(self.by_split.values())

    def generate(self, out: Path) -> None:
        """Write a file of sentences for every split."""
        for split, file in self.by_split.items():
            pairs = SENTIMENT.sentences(getattr(self, split), random.Random(f"{self.seed} {split}"))
            write_lines(out / file, (f"{label} {text}" for label, text in pairs))

    def examples(
        self, files: Sequence[Path], left_out: Dropped
    ) -> dict[str, list[LabelledExample]]:
        """Return the sentences of every split."""
        splits = {
            split: self._sentences(by_name(files, file), left_out)
            for split, file in self.by_split.items()
        }
        if self.protocol == "attention_learning":
            return dev_and_test(splits["train"], splits["test"], left_out)
        return splits

    def _sentences(self, path: Path, left_out: Dropped) -> list[LabelledExample]:
        """Return the sentences of a file that belong to the task, in its order."""
        others = self.protocol == "attention_learning"
        labels = LABELS["fine" if others else self.classes]
        sentences: list[LabelledExample] = []
        for place, line in read_rows(path, left_out):
            label, text = _labelled(place, line, labels)
            if others and label not in ATTENTION_LEARNING:
                left_out.dropped[f"label {label}"] += 1
            else:
                own = ATTENTION_LEARNING[label] if others else label
                sentences += self.worded(text, own, left_out)
        return sentences

    def words(self, text: str) -> list[str]:
        """Split a text into words: it is in words and marks already."""
        if self.protocol == "attention_learning":
            return super().words(text)
        return [word for word in SPACES.split(normalize("NFC", text)) if word.strip()]


def _labelled(place: str, line: str, labels: int) -> tuple[int, str]:
    """Return the label and the text of a line."""
    label, _, text = line.partition(" ")
    if label not in {str(number) for number in range(labels)}:
        raise DataError(
            f"{place}: expected a label from 0 to {labels - 1} before the text, found {label!r}; "
            f"{CORRECT}."
        )
    return int(label), text
