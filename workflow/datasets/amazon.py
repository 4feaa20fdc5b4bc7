"""The Multi-Domain Sentiment Dataset (Blitzer et al., 2007): Amazon reviews, bad 0 or good 1.

The official archive has the files `sorted_data_acl/<category>/<negative or positive>.review`: tags
as in XML, but no valid XML, so a review's text is what stands between its `review_text` tags. Its
four categories have 8,000 reviews. `source: tokenized` is FDU-MTL (Liu et al., 2017), which has the
lower-case tokens of 14 categories of the whole collection, lines of label, tab, text; one of these
texts is empty.

Attention Learning uses reviews of fewer than 400 words, 32,514 to train on and 4,000 to evaluate on
(snell2021 appendix A.5, table 8). It does not say which: here reviews that repeat are left out, and
4,000 in 36,514 of the others, drawn at random, are both dev and test.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workflow.datasets.io.archives import members
from workflow.datasets.io.dataset_files import by_name
from workflow.datasets.io.left_out import Dropped, cells, read_rows
from workflow.datasets.kinds.labelled_text import LabelledExample, LabelledText, hold_out
from workflow.runtime.errors import CORRECT, FETCH_AGAIN, DataError

ARCHIVE = "domain_sentiment_data.tar.gz"
MEMBER = re.compile(r"sorted_data_acl/[^/]+/(negative|positive)\.review")
CATEGORIES = (
    "apparel",
    "baby",
    "books",
    "camera_photo",
    "dvd",
    "electronics",
    "health_personal_care",
    "kitchen_housewares",
    "magazines",
    "music",
    "software",
    "sports_outdoors",
    "toys_games",
    "video",
)
TOKENIZED = [f"{name}.task.{split}" for name in CATEGORIES for split in ("test", "train")]
BEGIN_END = ("<review_text>", "</review_text>")
TAG = re.compile("|".join(BEGIN_END))
REVIEW = re.compile("(.*?)".join(BEGIN_END), re.DOTALL)
TRAIN, HELD_OUT = 32514, 4000
LONGEST = 400
"""Attention Learning keeps reviews of fewer words than this."""


@dataclass(frozen=True)
class Data(LabelledText):
    """The reviews."""

    source: Literal["official", "tokenized"] = "official"
    """The official archive, or tokenized files with more of the categories."""

    @property
    def files(self) -> Sequence[str]:
        """The archive, or the tokenized files."""
        return [ARCHIVE] if self.source == "official" else TOKENIZED

    def examples(
        self, files: Sequence[Path], left_out: Dropped
    ) -> dict[str, list[LabelledExample]]:
        """Return a sample of the distinct reviews of fewer than 400 words."""
        read = _official if self.source == "official" else _tokenized
        seen: set[tuple[str, ...]] = set()
        reviews: list[LabelledExample] = []
        for review, label in read(files, left_out):
            words = tuple(self.words(review))
            if len(words) >= LONGEST:
                left_out.dropped[f"{LONGEST} words or more"] += 1
            elif words in seen:
                left_out.dropped["more than once"] += 1
            else:
                seen.add(words)
                reviews += self.worded(review, label, left_out)
        return hold_out(reviews, TRAIN, HELD_OUT, left_out)


def _official(files: Sequence[Path], left_out: Dropped) -> Iterator[tuple[str, int]]:
    """Yield (review, label) of the official archive."""
    path = by_name(files, ARCHIVE)
    reviews = sorted(members(path, MEMBER.fullmatch))
    if not reviews:
        raise DataError(f"{path}: there are no reviews in this archive; {FETCH_AGAIN}.")
    for name, content in reviews:
        label = int(name.endswith("positive.review"))
        text = left_out.decode(path, content, "latin-1")
        tags = TAG.findall(text)
        if any(tag != BEGIN_END[n % 2] for n, tag in enumerate(tags)) or len(tags) % 2:
            raise DataError(
                f"{path}: {name}: a review does not begin with {BEGIN_END[0]} and end with "
                f"{BEGIN_END[1]} before the next begins, so reviews would be joined or lost; "
                f"{CORRECT}."
            )
        yield from ((match[1], label) for match in REVIEW.finditer(text))


def _tokenized(files: Sequence[Path], left_out: Dropped) -> Iterator[tuple[str, int]]:
    """Yield (review, label) of the tokenized files."""
    for file in TOKENIZED:
        for place, line in read_rows(by_name(files, file), left_out):
            label, review = cells(place, line)
            if label not in ("0", "1"):
                raise DataError(
                    f"{place}: expected 0 or 1 and a tab before the text, found {label!r}; "
                    f"{CORRECT}."
                )
            yield review, int(label)
