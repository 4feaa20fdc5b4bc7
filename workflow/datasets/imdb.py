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

from workflow.datasets.io.archives import members
from workflow.datasets.io.files import by_name
from workflow.datasets.io.left_out import LeftOut
from workflow.datasets.kinds.labelled_text import (
    Example,
    GenerableText,
    at_most,
    dev_and_test,
    divide,
    plain_words,
    shuffled,
    worded,
)
from workflow.errors import FETCH_AGAIN, DataError

ARCHIVE = "aclImdb_v1.tar.gz"
MEMBER = re.compile(r"aclImdb/(train|test)/(neg|pos)/(\d+_\d+)\.txt")
LABELS = {"neg": 0, "pos": 1}
LONGEST = 400
"""Jain and Wallace keep reviews of fewer words than this."""
TEST = 4363
"""Test reviews of Jain and Wallace: they report this many, not which."""


@dataclass(frozen=True)
class Data(GenerableText):
    """The reviews; the defaults are the Discrete Transformer's.

    `jain_wallace`: reviews of fewer than 400 words, a fifth of the official train half for dev,
    and a random 4,363 of the official test half. `attention_learning`: the whole train half, and a
    random 4,000 of the test half as both dev and test.
    """

    files = (ARCHIVE,)

    def synthesise(self, out: Path) -> None:
        """Write generated reviews in the official format, and the list of their salient words."""
        from workflow.datasets.kinds.generated import write_imdb

        write_imdb(out, train=self.train + self.dev, test=self.test, seed=self.seed)

    def examples(self, files: Sequence[Path], left_out: LeftOut) -> dict[str, list[Example]]:
        """Return the reviews of every split.

        Raises DataError when the archive is damaged, has no reviews or an empty one.
        """
        path = by_name(files, ARCHIVE)
        halves: dict[str, list[Example]] = {"train": [], "test": []}
        for name, content in sorted(members(path, lambda name: bool(MEMBER.fullmatch(name)))):
            _, half, opinion, _ = name.split("/")
            text = left_out.decode(content, "utf-8")
            if self.protocol == "jain_wallace" and _length(text) >= LONGEST:
                left_out.dropped[f"{LONGEST} words or more"] += 1
            else:
                words, label = self.words(text), LABELS[opinion]
                halves[half] += worded(f"{path}: {name}", text, words, label, left_out)
        for half, examples in halves.items():
            if not examples:
                raise DataError(f"{path}: there are no reviews in aclImdb/{half}; {FETCH_AGAIN}.")
        return self._splits(halves, left_out)

    def _splits(
        self, halves: Mapping[str, Sequence[Example]], left_out: LeftOut
    ) -> dict[str, list[Example]]:
        """Return the texts of every split, in random order, as the protocol has them."""
        train, test = shuffled(halves["train"]), shuffled(halves["test"])
        if self.protocol == "attention_learning":
            return dev_and_test(train, test, left_out)
        train, dev = divide(train, self.dev or math.ceil(len(train) / 5))
        return {"train": train, "dev": dev, "test": at_most(TEST, test, left_out)}


def _length(text: str) -> int:
    """Return the number of words, line breaks in HTML not being any."""
    return len(plain_words(re.sub(r"<br\s*/?>", " ", text)))
