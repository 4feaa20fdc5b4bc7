"""IWSLT'14 German-English (Cettolo et al., 2014): TED talks, in the preparation that is standard.

That is fairseq's `prepare-iwslt14.sh`: words by Moses, 1 to 175 of them on each side, neither side
more than 1.5 times as long as the other, in lower case. Every 23rd pair to train on goes to dev;
test is the talks of 2010 to 2012. The official archive has a sentence a line to train on, between
lines of tags, and XML for the rest.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workflow.datasets.encoded.moses import Moses, Pair
from workflow.datasets.encoded.prepared import aligned
from workflow.datasets.io.archives import members
from workflow.datasets.io.dataset_files import by_name
from workflow.datasets.io.left_out import Dropped
from workflow.datasets.kinds.parallel_text import ParallelText, SplitPairs
from workflow.runtime.errors import CORRECT, FETCH_AGAIN, DataError

ARCHIVE = "de-en.tgz"
LANGUAGES = ("de", "en")
TRAIN = "de-en/train.tags.de-en"
TEST = tuple(
    f"de-en/IWSLT14.{talks}.de-en"
    for talks in ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011", "TED.tst2012")
)
EVERY = 23
"""One pair to train on out of so many goes to dev."""
ABOUT = re.compile("<url>|<talkid>|<keywords>")
"""What marks a line that says something about a talk and is none of its sentences."""
TITLE = re.compile("</?(?:title|description)>")
SEGMENT = re.compile(r"<seg\b[^<>]*>")


@dataclass(frozen=True)
class Data(ParallelText):
    """The talks; the defaults are the Discrete Transformer's."""

    files = (ARCHIVE,)

    direction: Literal["en_de", "de_en"] = "en_de"
    lowercase: bool = True
    """Whether all words are in lower case."""

    def pairs(self, files: Sequence[Path], left_out: Dropped, out: Path) -> SplitPairs:
        """Yield every pair and its split."""
        path = by_name(files, ARCHIVE)
        names = {f"{TRAIN}.{language}" for language in LANGUAGES}
        names |= {f"{talks}.{language}.xml" for talks in TEST for language in LANGUAGES}
        contents = dict(members(path, names.__contains__))
        for name in sorted(names - {*contents}):
            raise DataError(f"{path}: there is no {name}; {FETCH_AGAIN}.")
        moses = Moses(self.languages, self.lowercase)

        def pairs(name: str, read: Callable[[str, str], Iterator[str]]) -> Iterator[Pair]:
            source, target = (
                (place, read(place, left_out.decode(path, contents[file])))
                for file in map(name.format, self.languages)
                for place in [f"{path}: {file}"]
            )
            return moses.pairs(aligned(source, target))

        train = self.clean(pairs(f"{TRAIN}.{{}}", _talks), left_out)
        for number, pair in enumerate(train, start=1):
            yield "train" if number % EVERY else "dev", pair
        for talks in TEST:
            test = self.clean(pairs(f"{talks}.{{}}.xml", _segments), left_out, "test")
            yield from (("test", pair) for pair in test)


def _talks(place: str, text: str) -> Iterator[str]:
    """Yield the sentences to train on, titles and descriptions among them."""
    for line in text.removesuffix("\n").split("\n"):
        if not ABOUT.search(line):
            yield TITLE.sub("", line.rstrip("\r"))


def _segments(place: str, text: str) -> Iterator[str]:
    """Yield the sentences of an XML file, each on one line or on more.

    The typographic apostrophe becomes the plain one. Raises DataError for a sentence without end.
    """
    for segment in SEGMENT.split(text)[1:]:
        sentence, end, _ = segment.partition("</seg>")
        if not end:
            raise DataError(f"{place}: no </seg> ends the sentence {sentence[:60]!r}; {CORRECT}.")
        yield " ".join(map(str.strip, sentence.strip().split("\n"))).replace("’", "'")
