"""Small generated corpora under the names and in the formats of the official files.

The label of a text is that of most of its salient words; `salient_words.txt` lists these, one a
line, in lower case and sorted. For translations `lexicon.tsv` lists which word forms translate each
other, and their class: `en`, `de`, `class`.
"""

import csv
import gzip
import io
import random
import string
import tarfile
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from workflow.datasets.encoded.prepared import LEXICON
from workflow.datasets.grammars import homographs, translations
from workflow.datasets.grammars.labelled_clauses import (
    NEWS,
    SENTIMENT,
    SPORTS,
    Lexicon,
    balanced,
    draw,
    name,
)
from workflow.datasets.grammars.translations import Translation, chunk_tags
from workflow.datasets.io.files import replacing, write_lines
from workflow.datasets.kinds.labelled_text import SALIENT_WORDS

RATINGS = (("neg", (1, 2, 3, 4)), ("pos", (7, 8, 9, 10)))
SPORT_GROUPS = ("rec.sport.baseball", "rec.sport.hockey")
OTHER_GROUP = "sci.space"
NAMES = ("José Müller", "Teemu Selänne", "Zoë Ångström", "René Lefèvre")
NEWS_CLASSES = (1, 3)
OTHER_CLASSES = (2, 4)
AGENCIES = ("Reuters", "AP", "AFP")
OTHERS = 10  # one text in so many is none of the two labels', for the parser to leave out

# Chances of 1, 2, ... salient words of a text's label, the first at index 0.
REVIEW_WORDS = (0.0, 0.3, 0.3, 0.2, 0.2)
MESSAGE_WORDS = (0.2, 0.4, 0.3, 0.1)
ITEM_WORDS = (0.2, 0.4, 0.3, 0.1)


def write_sst(out: Path, sizes: Mapping[str, tuple[str, int]], seed: int) -> None:
    """Write a file of so many sentences for every split, and their salient words.

    `sizes` has the name of each split's file and its number of sentences.
    """
    for split, (file, count) in sizes.items():
        pairs = SENTIMENT.sentences(count, random.Random(f"{seed} {split}"))
        write_lines(out / file, (f"{label} {text}" for label, text in pairs))
    _write_salient_words(out, SENTIMENT)


def write_imdb(out: Path, train: int, test: int, seed: int) -> None:
    """Write `aclImdb_v1.tar.gz` with generated film reviews, and their salient words.

    `train` and `test` count the labelled reviews of the official halves, half of each positive;
    the unlabelled ones of the archive come on top of them.
    """
    members: dict[str, bytes] = {}
    for half, count in (("train", train), ("test", test)):
        generator = random.Random(f"{seed} imdb {half}")
        for number, label in enumerate(balanced(count, generator)):
            polarity, ratings = RATINGS[label]
            file = f"aclImdb/{half}/{polarity}/{number}_{generator.choice(ratings)}.txt"
            members[file] = _review(label, generator).encode()
    for number in range(1 + train // OTHERS):
        file = f"aclImdb/train/unsup/{number}_0.txt"
        members[file] = _review(generator.randrange(2), generator).encode()
    _write_archive(out / "aclImdb_v1.tar.gz", members)
    _write_salient_words(out, SENTIMENT)


def write_newsgroups(out: Path, total: int, seed: int) -> None:
    """Write `20news-bydate.tar.gz` with generated messages, and their salient words.

    `total` counts the messages about baseball and hockey in both halves of the archive; those of
    another group come on top of them. Headers, quotes and signatures speak of the wrong sport.
    """
    generator = random.Random(f"{seed} newsgroups")
    messages = [(SPORT_GROUPS[label], label) for label in balanced(total, generator)]
    messages += [(OTHER_GROUP, generator.randrange(2)) for _ in range(1 + total // OTHERS)]
    members = {}
    for number, (group, label) in enumerate(messages, start=50000):
        half = "test" if number % 5 > 2 else "train"
        message = _message(label, generator)
        members[f"20news-bydate-{half}/{group}/{number}"] = message.encode("latin-1")
    _write_archive(out / "20news-bydate.tar.gz", members)
    _write_salient_words(out, SPORTS)


def write_ag_news(out: Path, train: int, test: int, seed: int) -> None:
    """Write `train.csv` and `test.csv` with generated news items, and their salient words.

    `train` and `test` count the items of classes 1 (World) and 3 (Business); those of the other two
    classes come on top of them.
    """
    for split, count in (("train", train), ("test", test)):
        generator = random.Random(f"{seed} ag_news {split}")
        items = [(NEWS_CLASSES[label], label) for label in balanced(count, generator)]
        items += [
            (generator.choice(OTHER_CLASSES), generator.randrange(2))
            for _ in range(1 + count // OTHERS)
        ]
        generator.shuffle(items)
        rows = io.StringIO()
        writer = csv.writer(rows, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerows((number, *_item(label, generator)) for number, label in items)
        with replacing(out / f"{split}.csv") as stream:
            stream.write(rows.getvalue().encode())
    _write_salient_words(out, NEWS)


def _review(label: int, generator: random.Random) -> str:
    """Return a review of one or more paragraphs on one line, as the archive has them."""
    neutral = generator.choice((0, 0, 1, 1, 2, 2, 4, 11))
    story = SENTIMENT.story(label, draw(REVIEW_WORDS, generator) + 1, neutral, generator)
    text = _typeset(story[0])
    for sentence in story[1:]:
        text += generator.choice((" ", " ", " ", "<br /><br />")) + _typeset(sentence)
    return text


def _message(label: int, generator: random.Random) -> str:
    """Return a message whose body speaks of the label's sport, and all else of the other one.

    Readers take what follows the last blank line for a signature; so a message without one has no
    blank line but that after its header.
    """
    wrong = 1 - label
    person = generator.choice(NAMES) if generator.random() < 0.2 else _person(generator)
    paragraphs = [_quote(wrong, generator)] if generator.random() < 0.5 else []
    neutral = 1 + generator.randrange(3)
    story = SPORTS.story(label, draw(MESSAGE_WORDS, generator) + 1, neutral, generator)
    cut = generator.randint(1, len(story))
    for sentences in (story[:cut], story[cut:]):
        paragraphs.append(textwrap.fill(_prose(sentences), 70))
    if generator.random() < 0.2:
        paragraphs.append(f"Thanks, {generator.choice(NAMES)}.")
    if generator.random() < 0.6:
        motto = _typeset(SPORTS.clause(wrong, generator))
        body = "\n\n".join(filter(None, [*paragraphs, f"-- \n{person}\n{motto}"]))
    else:
        body = "\n".join(filter(None, paragraphs))
    subject = _typeset(SPORTS.clause(wrong, generator))
    header = {
        "From": f"{_address(generator)} ({person})",
        "Subject": f"Re: {subject}",
        "Organization": f"University of {name(generator).title()}",
        "Lines": body.count("\n") + 1,
    }
    return "".join(f"{key}: {value}\n" for key, value in header.items()) + f"\n{body}\n"


def _quote(label: int, generator: random.Random) -> str:
    """Return lines quoted from a message on the label's sport, and the line that says whose."""
    text = _prose(SPORTS.story(label, 3, 1, generator))
    lines = [f"> {line}" for line in textwrap.wrap(text, 68)]
    return "\n".join([f"{_address(generator)} ({_person(generator)}) writes:", *lines])


def _item(label: int, generator: random.Random) -> tuple[str, str]:
    """Return the title and the description of a news item, with leftovers of mark-up."""
    told = label if generator.random() < 0.5 else None
    title = string.capwords(_typeset(NEWS.clause(told, generator)))
    neutral = 1 + generator.randrange(2)
    text = _prose(NEWS.story(label, draw(ITEM_WORDS, generator) + 1, neutral, generator))
    agency = generator.choice(AGENCIES)
    if agency == "Reuters":
        title, text = f"{title} (Reuters)", "\\".join(textwrap.wrap(f"Reuters - {text}", 60))
    else:
        text = f"{name(generator).upper()} ({agency}) - {text}"
    if generator.random() < 0.5:
        title, text = title.replace("'", " #39;"), text.replace("'", " #39;")
    if generator.random() < 0.1:
        text += " &lt;b&gt;...&lt;/b&gt;"
    return title, text


def _address(generator: random.Random) -> str:
    """Make up an address."""
    return f"{name(generator)}@{name(generator)}.edu"


def _person(generator: random.Random) -> str:
    """Make up a first and a second name."""
    return f"{name(generator)} {name(generator)}".title()


def _prose(sentences: Sequence[Sequence[str]]) -> str:
    """Return sentences as running text."""
    return " ".join(map(_typeset, sentences))


def _typeset(tokens: Sequence[str]) -> str:
    """Return a sentence with a capital at its start and no space before marks."""
    text = tokens[0]
    for token in tokens[1:]:
        text += token if token[0] in ",;.?'" else f" {token}"
    return text[:1].upper() + text[1:]


def write_multi30k(
    out: Path, sizes: Mapping[str, int], seed: int, of_homographs: bool = False
) -> None:
    """Write `<name>.en.gz` and `<name>.de.gz` with so many sentences each, and the lexicon.

    No sentence comes twice, in one file or in two. With `of_homographs` most English words have
    several classes.
    """
    grammar: Any = homographs if of_homographs else translations
    seen: set[str] = set()
    for file, count in sizes.items():
        generator = random.Random(f"{seed} multi30k {file}")
        pairs: dict[str, str] = {}
        while len(pairs) < count:
            english, german = grammar.sentence(generator)
            text = _typeset([word.english for word in english if word.english])
            if text not in seen:
                seen.add(text)
                pairs[text] = _typeset([word.german for word in german if word.german])
        for language, texts in (("en", pairs.keys()), ("de", pairs.values())):
            with _packed(out / f"{file}.{language}.gz") as stream:
                stream.write("".join(f"{text}\n" for text in texts).encode())
    rows = ("\t".join(entry[:3]) for entry in grammar.lexicon())
    write_lines(out / LEXICON, ["en\tde\tclass", *rows])


def write_conll2000(out: Path, sizes: Mapping[str, int], seed: int) -> None:
    """Write files with so many of the English sentences each, with parts of speech and chunks."""
    for file, count in sizes.items():
        generator = random.Random(f"{seed} conll2000 {file}")
        sentences = (translations.sentence(generator)[0] for _ in range(count))
        write_lines(out / file, (line for words in sentences for line in _tagged(words)))


def _tagged(words: Sequence[Translation]) -> Iterator[str]:
    """Yield the lines of a sentence, an empty one last."""
    for word, chunk in zip(words, chunk_tags(words), strict=True):
        yield f"{word.english} {word.tag} {chunk}"
    yield ""


def _write_salient_words(out: Path, lexicon: Lexicon) -> None:
    write_lines(out / SALIENT_WORDS, lexicon.labels)


def _write_archive(path: Path, members: Mapping[str, bytes]) -> None:
    """Write a tar.gz with files in the order of their names."""
    with (
        _packed(path) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for file, content in sorted(members.items()):
            entry = tarfile.TarInfo(file)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


@contextmanager
def _packed(path: Path) -> Iterator[IO[bytes]]:
    """Yield a gzip file, the same bytes whenever it is made."""
    with (
        replacing(path) as stream,
        gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed,
    ):
        yield packed
