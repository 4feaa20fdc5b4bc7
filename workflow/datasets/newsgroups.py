"""20 Newsgroups, the version sorted by date: messages about baseball 0 or hockey 1.

The archive has one message a file, `20news-bydate-<train or test>/<group>/<number>`; the other 18
groups are passed over.
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
    dev_and_test,
    divide,
    plain_words,
    shuffled,
    tokenise,
    without_integers,
)
from workflow.errors import FETCH_AGAIN, DataError

ARCHIVE = "20news-bydate.tar.gz"
MEMBER = re.compile(r"20news-bydate-(train|test)/rec\.sport\.(baseball|hockey)/\d+")
LABELS = {"baseball": 0, "hockey": 1}
ENCODING = "latin-1"
QUOTE = re.compile(r"writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>")


@dataclass(frozen=True)
class Data(GenerableText):
    """The messages; the defaults are the Discrete Transformer's.

    `jain_wallace`: messages without headers, footers and quotes, which give the group away; both
    halves of the archive together, a fifth of them for test and a fifth of the rest for dev.
    `attention_learning`: whole messages, their words split at `_` too and whole numbers of more
    than one digit unknown; the train half, and the test half as both dev and test.
    """

    files = (ARCHIVE,)

    def synthesise(self, out: Path) -> None:
        """Write generated messages in the official format, and the list of their salient words."""
        from workflow.datasets.kinds.generated import write_newsgroups

        write_newsgroups(out, total=self.train + self.dev + self.test, seed=self.seed)

    def examples(self, files: Sequence[Path], left_out: LeftOut) -> dict[str, list[Example]]:
        """Return the messages that have words of their own.

        Raises DataError when the archive is damaged or has no messages of a group.
        """
        path = by_name(files, ARCHIVE)
        halves: dict[str, list[Example]] = {"train": [], "test": []}
        for name, content in sorted(members(path, lambda name: bool(MEMBER.fullmatch(name)))):
            half, group, _ = name.split("/")
            text = left_out.decode(content, ENCODING).replace("\r\n", "\n")
            if self.protocol == "attention_learning":
                words = without_integers(plain_words(text.replace("_", " ")))
            else:
                words = tokenise(own_words(text))
            if words:
                label = LABELS[group.removeprefix("rec.sport.")]
                halves[half.removeprefix("20news-bydate-")].append(Example(words, label))
            else:
                left_out.dropped["nothing but headers, footers and quotes"] += 1
        for half, examples in halves.items():
            if not examples:
                raise DataError(
                    f"{path}: there are no messages in 20news-bydate-{half}/rec.sport.baseball or "
                    f"rec.sport.hockey; {FETCH_AGAIN}."
                )
        return self._splits(halves, left_out)

    def _splits(
        self, halves: Mapping[str, Sequence[Example]], left_out: LeftOut
    ) -> dict[str, list[Example]]:
        """Return the texts of every split, in random order, as the protocol has them."""
        if self.protocol == "attention_learning":
            return dev_and_test(shuffled(halves["train"]), shuffled(halves["test"]), left_out)
        pooled = shuffled([*halves["train"], *halves["test"]])
        rest, test = divide(pooled, self.test or math.ceil(len(pooled) / 5))
        train, dev = divide(rest, self.dev or math.ceil(len(rest) / 5))
        return {"train": train, "dev": dev, "test": test}


def own_words(message: str) -> str:
    """Return a message without its headers, its footer and the lines that it quotes.

    Headers end at the first empty line. The footer begins at the last line that is empty or all
    dashes. These are the rules of scikit-learn's `remove=("headers", "footers", "quotes")`, which
    Jain and Wallace use.
    """
    lines = message.partition("\n\n")[2].strip().split("\n")
    blank = [number for number, line in enumerate(lines) if not line.strip().strip("-")]
    if blank and blank[-1] > 0:
        lines = lines[: blank[-1]]
    return "\n".join(line for line in lines if not QUOTE.search(line))
