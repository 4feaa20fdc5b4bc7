"""The SMS Spam Collection v.1 (Almeida and Hidalgo): short messages, ham 0 or spam 1.

A line is label, tab, message. There are no official splits: 3,500 messages are drawn to train on,
the size that snell2021 appendix A.9 gives; the others that have a word are both dev and test.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workflow.datasets.io.dataset_files import by_name
from workflow.datasets.io.left_out import Dropped, cells, read_rows
from workflow.datasets.kinds.labelled_text import LabelledExample, LabelledText, hold_out
from workflow.runtime.errors import CORRECT, DataError

FILE = "SMSSpamCollection"
LABELS = {"ham": 0, "spam": 1}
TRAIN, HELD_OUT = 3500, 2072


@dataclass(frozen=True)
class Data(LabelledText):
    """The messages."""

    files = (FILE,)

    def examples(
        self, files: Sequence[Path], left_out: Dropped
    ) -> dict[str, list[LabelledExample]]:
        """Return every message that has a word; repeats stay."""
        messages: list[LabelledExample] = []
        for place, line in read_rows(by_name(files, FILE), left_out):
            label, text = cells(place, line)
            if label not in LABELS:
                raise DataError(
                    f"{place}: expected ham or spam and a tab before the message, found {label!r}; "
                    f"{CORRECT}."
                )
            messages += self.worded(text, LABELS[label], left_out)
        return hold_out(messages, TRAIN, HELD_OUT, left_out)
