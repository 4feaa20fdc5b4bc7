"""The SMS Spam Collection v.1 (Almeida and Hidalgo): short messages, ham 0 or spam 1.

A line is label, tab, message. There are no official splits: 3,500 messages are drawn to train on,
the size that Attention Learning gives (A.9); the others that have a word are both dev and test.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from workflow.datasets import labelled_text
from workflow.datasets.errors import DataError
from workflow.datasets.files import by_name
from workflow.datasets.labelled_text import (
    Example,
    Losses,
    TextOptions,
    hold_out,
    plain_words,
    read_decoded,
    worded,
    write_prepared,
)

FILE = "SMSSpamCollection"
LABELS = {"ham": 0, "spam": 1}
TRAIN, HELD_OUT = 3500, 2072


@dataclass(frozen=True)
class Options(TextOptions):
    """How the messages are encoded."""

    dataset: ClassVar[str] = "sms_spam"


def sources(options: Options) -> list[str]:
    """Return the official file to fetch."""
    return [FILE]


def raw(options: Options) -> list[str]:
    """Return the files that are generated: none."""
    return []


def columns(options: Options) -> list[str]:
    """Return the columns that `encode` writes beside the tokens."""
    return ["label"]


def prepare(options: Options, files: Sequence[Path], out: Path) -> None:
    """Write every distinct message as a record with its label.

    Raises DataError naming the line with a wrong label or an empty text.
    """
    losses = Losses()
    messages: list[Example] = []
    for place, line in read_decoded(by_name(files, FILE), "utf-8", losses):
        label, _, text = line.partition("\t")
        if label not in LABELS:
            raise DataError(
                f"{place}: expected ham or spam and a tab before the message, found {label!r}; "
                "correct the line or fetch the file again."
            )
        messages += worded(place, text, plain_words(text), LABELS[label], losses)
    write_prepared(out, hold_out(messages, TRAIN, HELD_OUT, losses), losses)


def encode(options: Options, prepared: Path, out: Path) -> None:
    """Write the messages as arrays; the vocabulary is the words of the training set."""
    labelled_text.encode(options, columns(options), prepared, out)
