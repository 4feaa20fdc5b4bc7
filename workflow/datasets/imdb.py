"""The Large Movie Review Dataset (Maas et al., 2011): film reviews, negative 0 or positive 1.

The archive has one review a file, `aclImdb/<train or test>/<neg or pos>/<id>_<stars>.txt`; its
unlabelled reviews and its other files are passed over. A review that the archive has twice stays
twice, as released; the manifest counts those that train and test share.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workflow.datasets.grammars.labelled_clauses import OTHERS, SENTIMENT, balanced, draw, typeset
from workflow.datasets.io.archives import members, write_archive
from workflow.datasets.io.dataset_files import by_name
from workflow.datasets.io.left_out import Dropped
from workflow.datasets.kinds.labelled_text import GenerableText, LabelledExample, at_most, shuffled
from workflow.datasets.kinds.text_words import plain_words
from workflow.runtime.errors import FETCH_AGAIN, DataError

ARCHIVE = "aclImdb_v1.tar.gz"
MEMBER = re.compile(r"aclImdb/(train|test)/(neg|pos)/(\d+_\d+)\.txt")
LABELS = {"neg": 0, "pos": 1}
STARS = {"neg": (1, 2, 3, 4), "pos": (7, 8, 9, 10)}
LONGEST = 400
"""Jain and Wallace keep reviews of fewer words than this."""
TEST = 4363
"""Test reviews of Jain and Wallace: they report this many, not which."""
AGREEING = (0.0, 0.3, 0.3, 0.2, 0.2)
"""Chances of 1, 2, ... salient words of a generated review's label."""


@dataclass(frozen=True)
class Data(GenerableText):
    """The reviews; the defaults are the Discrete Transformer's.

    `jain_wallace`: reviews of fewer than 400 words, a fifth of the official train half for dev,
    and a random 4,363 of the official test half. `attention_learning`: the whole train half, and a
    random 4,000 of the test half as both dev and test.
    """

    files = (ARCHIVE,)
    lexicon = SENTIMENT

    def generate(self, out: Path) -> None:
        """Write an archive of reviews, half of each half positive, and unlabelled ones."""
        contents: dict[str, bytes] = {}
        for half, count in (("train", self.size("train", "dev")), ("test", self.size("test"))):
            generator = random.Random(f"{self.seed} imdb {half}")
            for number, label in enumerate(balanced(count, generator)):
                opinion = [*LABELS][label]
                name = f"{half}/{opinion}/{number}_{generator.choice(STARS[opinion])}"
                contents[f"aclImdb/{name}.txt"] = _review(label, generator)
        for number in range(1 + self.size("train", "dev") // OTHERS):
            review = _review(generator.randrange(2), generator)
            contents[f"aclImdb/train/unsup/{number}_0.txt"] = review
        write_archive(out / ARCHIVE, contents)

    def examples(
        self, files: Sequence[Path], left_out: Dropped
    ) -> dict[str, list[LabelledExample]]:
        """Return the reviews of every split, in random order."""
        path = by_name(files, ARCHIVE)
        halves: dict[str, list[LabelledExample]] = {"train": [], "test": []}
        for name, content in sorted(members(path, MEMBER.fullmatch)):
            _, half, opinion, _ = name.split("/")
            text = left_out.decode(path, content)
            if self.protocol == "jain_wallace" and _length(text) >= LONGEST:
                left_out.dropped[f"{LONGEST} words or more"] += 1
            else:
                halves[half] += self.worded(text, LABELS[opinion], left_out)
        for half, examples in halves.items():
            if not examples:
                raise DataError(f"{path}: there are no reviews in aclImdb/{half}; {FETCH_AGAIN}.")
        train, test = shuffled(halves["train"]), shuffled(halves["test"])
        if self.protocol == "jain_wallace":
            test = at_most(TEST, test, left_out)
        return self.divided(train, test, 5, left_out)


def _length(text: str) -> int:
    """Return the number of words, line breaks in HTML not being any."""
    return len(plain_words(re.sub(r"<br\s*/?>", " ", text)))


def _review(label: int, generator: random.Random) -> bytes:
    """Return a review of one or more paragraphs on one line, as the archive has them."""
    neutral = generator.choice((0, 0, 1, 1, 2, 2, 4, 11))
    story = SENTIMENT.story(label, draw(AGREEING, generator) + 1, neutral, generator)
    text = typeset(story[0])
    for sentence in story[1:]:
        text += generator.choice((" ", " ", " ", "<br /><br />")) + typeset(sentence)
    return text.encode()
