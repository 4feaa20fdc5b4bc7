"""The Large Movie Review Dataset (Maas et al., 2011): film reviews, negative 0 or positive 1.

The archive has one review a file, `aclImdb/<train or test>/<neg or pos>/<id>_<stars>.txt`; its
unlabelled reviews and its other files are passed over. A review that the archive has twice stays
twice, as released; the manifest counts those that train and test share.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from workflow.datasets import labelled_text
from workflow.datasets.archives import members
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
    plain_words,
    salient_words,
    shuffled,
    splitter,
    worded,
    write_prepared,
)

ARCHIVE = "aclImdb_v1.tar.gz"
MEMBER = re.compile(r"aclImdb/(train|test)/(neg|pos)/(\d+_\d+)\.txt")
LABELS = {"neg": 0, "pos": 1}
LONGEST = 400
"""Jain and Wallace keep reviews of fewer words than this."""
TEST = 4363
"""Test reviews of Jain and Wallace: they report this many, not which."""


@dataclass(frozen=True)
class Options(GeneratedOptions):
    """What the reviews are made from; the defaults are the Discrete Transformer's.

    `jain_wallace`: reviews of fewer than 400 words, a fifth of the official train half for dev,
    and a random 4,363 of the official test half. `attention_learning`: the whole train half, and a
    random 4,000 of the test half as both dev and test.
    """

    dataset: ClassVar[str] = "imdb"

    source: Literal["official", "generated"] = "official"
    """The official archive, or a generated one whose salient words are known."""


def sources(options: Options) -> list[str]:
    """Return the official file to fetch; none for the generated corpus."""
    return [ARCHIVE] if options.source == "official" else []


def raw(options: Options) -> list[str]:
    """Return the files that `synthesise` writes."""
    return [] if options.source == "official" else [ARCHIVE, SALIENT_WORDS]


def columns(options: Options) -> list[str]:
    """Return the columns that `encode` writes beside the tokens."""
    return ["label"] if options.source == "official" else ["label", "salient"]


def synthesise(options: Options, out: Path) -> None:
    """Write generated reviews in the official format, and the list of their salient words."""
    from workflow.datasets.generated_text import write_imdb

    assert options.train and options.dev and options.test and options.seed is not None
    write_imdb(out, train=options.train + options.dev, test=options.test, seed=options.seed)


def prepare(options: Options, files: Sequence[Path], out: Path) -> None:
    """Write every review as a record with its label and, where known, which words are salient.

    Raises DataError when the archive is damaged, has no reviews or an empty one.
    """
    path = by_name(files, ARCHIVE)
    losses = Losses()
    halves: dict[str, list[Example]] = {"train": [], "test": []}
    for name, content in sorted(members(path, lambda name: bool(MEMBER.fullmatch(name)))):
        _, half, opinion, _ = name.split("/")
        text = losses.decode(content, "utf-8")
        if options.protocol == "jain_wallace" and _length(text) >= LONGEST:
            losses.dropped[f"{LONGEST} words or more"] += 1
        else:
            words, label = splitter(options)(text), LABELS[opinion]
            halves[half] += worded(f"{path}: {name}", text, words, label, losses)
    for half, examples in halves.items():
        if not examples:
            raise DataError(f"{path}: there are no reviews in aclImdb/{half}; fetch it again.")
    salient = salient_words(files) if options.source == "generated" else None
    write_prepared(out, _splits(options, halves, losses), losses, salient)


def encode(options: Options, prepared: Path, out: Path) -> None:
    """Write the reviews as arrays; the vocabulary is the words of the training set."""
    labelled_text.encode(options, columns(options), prepared, out)


def _length(text: str) -> int:
    """Return the number of words, line breaks in HTML not being any."""
    return len(plain_words(re.sub(r"<br\s*/?>", " ", text)))


def _splits(
    options: Options, halves: Mapping[str, Sequence[Example]], losses: Losses
) -> dict[str, list[Example]]:
    """Return the texts of every split, in random order, as the protocol has them."""
    train, test = shuffled(halves["train"]), shuffled(halves["test"])
    if options.protocol == "attention_learning":
        held_out = at_most(HELD_OUT, test, losses)
        return {"train": train, "dev": held_out, "test": held_out}
    train, dev = divide(train, options.dev or math.ceil(len(train) / 5))
    return {"train": train, "dev": dev, "test": at_most(TEST, test, losses)}
