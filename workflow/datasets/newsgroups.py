"""20 Newsgroups, the version sorted by date: messages about baseball 0 or hockey 1.

The archive has one message a file, `20news-bydate-<train or test>/<group>/<number>`; the other 18
groups are passed over.
"""

import math
import random
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workflow.datasets.grammars.labelled_clauses import (
    OTHERS,
    SPORTS,
    balanced,
    draw,
    name,
    prose,
    typeset,
)
from workflow.datasets.io.archives import members, write_archive
from workflow.datasets.io.dataset_files import SPLITS, by_name
from workflow.datasets.io.left_out import Dropped, invisible
from workflow.datasets.kinds.labelled_text import GenerableText, LabelledExample, divide, shuffled
from workflow.datasets.kinds.text_words import plain_words, tokenise, without_integers
from workflow.runtime.errors import FETCH_AGAIN, DataError

ARCHIVE = "20news-bydate.tar.gz"
MEMBER = re.compile(r"20news-bydate-(train|test)/rec\.sport\.(baseball|hockey)/\d+")
LABELS = {"rec.sport.baseball": 0, "rec.sport.hockey": 1}
OTHER_GROUP = "sci.space"
ENCODING = "latin-1"
QUOTE = re.compile(r"writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>")
NAMES = ("José Müller", "Teemu Selänne", "Zoë Ångström", "René Lefèvre")
AGREEING = (0.2, 0.4, 0.3, 0.1)
"""Chances of 1, 2, ... salient words of a generated message's label."""


@dataclass(frozen=True)
class Data(GenerableText):
    """The messages; the defaults are the Discrete Transformer's.

    `jain_wallace`: messages without headers, footers and quotes, which give the group away; both
    halves of the archive together, a fifth of them for test and a fifth of the rest for dev.
    `attention_learning`: whole messages, their words split at `_` too and whole numbers of more
    than one digit unknown; the train half, and the test half as both dev and test.
    """

    files = (ARCHIVE,)
    lexicon = SPORTS

    def generate(self, out: Path) -> None:
        """Write an archive of messages on the two sports, and some of another group.

        Headers, quotes and signatures speak of the wrong sport.
        """
        generator = random.Random(f"{self.seed} newsgroups")
        total = self.size(*SPLITS)
        messages = [([*LABELS][label], label) for label in balanced(total, generator)]
        messages += [(OTHER_GROUP, generator.randrange(2)) for _ in range(1 + total // OTHERS)]
        contents = {}
        for number, (group, label) in enumerate(messages, start=50000):
            half = "test" if number % 5 > 2 else "train"
            message = _message(label, generator)
            contents[f"20news-bydate-{half}/{group}/{number}"] = message.encode(ENCODING)
        write_archive(out / ARCHIVE, contents)

    def examples(
        self, files: Sequence[Path], left_out: Dropped
    ) -> dict[str, list[LabelledExample]]:
        """Return the messages that have words of their own, in random order."""
        path = by_name(files, ARCHIVE)
        halves: dict[str, list[LabelledExample]] = {"train": [], "test": []}
        for file, content in sorted(members(path, MEMBER.fullmatch)):
            half, group, _ = file.split("/")
            text = left_out.visible(left_out.decode(path, content, ENCODING))
            text = text.replace("\r\n", "\n")
            if self.protocol == "attention_learning":
                words = without_integers(plain_words(text.replace("_", " ")))
            else:
                words = tokenise(own_words(text))
            if not invisible("".join(words)):
                halves[half.removeprefix("20news-bydate-")].append(
                    LabelledExample(words, LABELS[group])
                )
            else:
                left_out.dropped["nothing but headers, footers and quotes"] += 1
        for half, examples in halves.items():
            if not examples:
                raise DataError(
                    f"{path}: there are no messages in 20news-bydate-{half}/rec.sport.baseball or "
                    f"rec.sport.hockey; {FETCH_AGAIN}."
                )
        train, test = shuffled(halves["train"]), shuffled(halves["test"])
        if self.protocol == "jain_wallace":
            pooled = shuffled([*halves["train"], *halves["test"]])
            train, test = divide(pooled, self.test or math.ceil(len(pooled) / 5))
        return self.divided(train, test, 5, left_out)


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


def _message(label: int, generator: random.Random) -> str:
    """Return a message whose body speaks of the label's sport, and all else of the other one.

    Readers take what follows the last blank line for a signature; so a message without one has no
    blank line but that after its header.
    """
    wrong = 1 - label
    person = generator.choice(NAMES) if generator.random() < 0.2 else _person(generator)
    paragraphs = [_quote(wrong, generator)] if generator.random() < 0.5 else []
    neutral = 1 + generator.randrange(3)
    story = SPORTS.story(label, draw(AGREEING, generator) + 1, neutral, generator)
    cut = generator.randint(1, len(story))
    paragraphs += [textwrap.fill(prose(part), 70) for part in (story[:cut], story[cut:])]
    if generator.random() < 0.2:
        paragraphs.append(f"Thanks, {generator.choice(NAMES)}.")
    if generator.random() < 0.6:
        motto = typeset(SPORTS.clause(wrong, generator))
        body = "\n\n".join(filter(None, [*paragraphs, f"-- \n{person}\n{motto}"]))
    else:
        body = "\n".join(filter(None, paragraphs))
    subject = typeset(SPORTS.clause(wrong, generator))
    header = {
        "From": f"{_address(generator)} ({person})",
        "Subject": f"Re: {subject}",
        "Organization": f"University of {name(generator).title()}",
        "Lines": body.count("\n") + 1,
    }
    return "".join(f"{key}: {value}\n" for key, value in header.items()) + f"\n{body}\n"


def _quote(label: int, generator: random.Random) -> str:
    """Return lines quoted from a message on the label's sport, and the line that says whose."""
    text = prose(SPORTS.story(label, 3, 1, generator))
    lines = [f"> {line}" for line in textwrap.wrap(text, 68)]
    return "\n".join([f"{_address(generator)} ({_person(generator)}) writes:", *lines])


def _address(generator: random.Random) -> str:
    """Make up an address."""
    return f"{name(generator)}@{name(generator)}.edu"


def _person(generator: random.Random) -> str:
    """Make up a first and a second name."""
    return f"{name(generator)} {name(generator)}".title()
