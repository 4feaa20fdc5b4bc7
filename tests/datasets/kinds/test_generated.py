"""The generated corpora: official names and formats, and labels that the salient words tell."""

import csv
import gzip
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tests.datasets.folders import names
from workflow.datasets.grammars.labelled_clauses import NEWS, SENTIMENT, SPORTS
from workflow.datasets.grammars.translations import lexicon
from workflow.datasets.io.archives import members
from workflow.datasets.kinds.recipe import load

PAIRS = {"train": 300, "val": 40, "test_2016_flickr": 50}
SIZES = {
    **{name: {"train": 280, "dev": 20, "test": 101} for name in ("imdb", "ag_news")},
    "newsgroups": {"train": 300, "dev": 50, "test": 50},
    "multi30k": dict(zip(("train", "dev", "test"), PAIRS.values(), strict=True)),
}
LEXICONS = {"imdb": SENTIMENT, "newsgroups": SPORTS, "ag_news": NEWS}
each_labelled = pytest.mark.parametrize("dataset", LEXICONS)


class Text(NamedTuple):
    """A labelled text of an official file."""

    half: str
    label: int
    text: str


class Message(NamedTuple):
    """A message about a sport, and its parts."""

    label: int
    whole: str
    header: dict[str, str]
    body: str
    signature: str


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that generates a dataset and returns its folder."""

    def write(dataset: str) -> Path:
        recipe = {"dataset": dataset, "source": "generated", "seed": 0, **SIZES[dataset]}
        load(recipe).synthesise(tmp_path)
        return tmp_path

    return write


def everything(name: str) -> bool:
    """Every file of an archive, for all are regular ones."""
    return True


def reviews(folder: Path) -> list[Text]:
    """The labelled reviews, without line breaks."""
    found = []
    for path, content in members(folder / "aclImdb_v1.tar.gz", everything):
        _, half, polarity, file = path.split("/")
        if polarity != "unsup":
            stars = int(re.fullmatch(r"\d+_(\d+)\.txt", file)[1])
            assert stars in ((7, 8, 9, 10) if polarity == "pos" else (1, 2, 3, 4))
            text = content.decode("ascii").replace("<br /><br />", " ")
            found.append(Text(half, int(polarity == "pos"), text))
    return found


def messages(folder: Path) -> list[Message]:
    """The messages about the two sports."""
    found = []
    for path, content in members(folder / "20news-bydate.tar.gz", everything):
        _, group, _ = path.split("/")
        if group.startswith("rec.sport."):
            text = content.decode("latin-1")
            head, rest = text.split("\n\n", 1)
            body, _, signature = rest.partition("\n-- \n")
            header = dict(line.split(": ", 1) for line in head.split("\n"))
            label = ("rec.sport.baseball", "rec.sport.hockey").index(group)
            found.append(Message(label, text, header, body, signature))
    return found


def items(folder: Path) -> list[Text]:
    """The news items of the two classes, titles and descriptions together."""
    found = []
    for half in ("train", "test"):
        with (folder / f"{half}.csv").open(newline="") as stream:
            for number, title, description in csv.reader(stream):
                if number in ("1", "3"):
                    text = f"{title} {description}".replace("\\", " ")
                    found.append(Text(half, int(number == "3"), text))
    return found


def own_lines(body: str) -> str:
    """The lines of a message that its writer wrote."""
    lines = body.split("\n")
    return "\n".join(x for x in lines if not x.startswith("> ") and not x.endswith("writes:"))


def votes(dataset: str, text: str) -> tuple[int, int]:
    """How many salient words of a text speak for label 0, and for label 1."""
    known = LEXICONS[dataset].labels
    labels = [known[word] for word in re.findall(r"[a-z]+", text.lower()) if word in known]
    return labels.count(0), labels.count(1)


def winner(dataset: str, text: str) -> int | None:
    """The label with the most votes, None for a draw."""
    zero, one = votes(dataset, text)
    return None if zero == one else int(one > zero)


@pytest.mark.parametrize("dataset", ["imdb", "ag_news"])
def test_the_halves_are_as_large_as_asked_and_share_no_text(written, dataset):
    found = (reviews if dataset == "imdb" else items)(written(dataset))
    assert Counter((text.half, text.label) for text in found) == {
        ("train", 0): 150, ("train", 1): 150, ("test", 0): 51, ("test", 1): 50,
    }  # fmt: skip
    assert len({text.text for text in found}) == len(found)


def test_messages_come_in_two_halves_and_other_groups_are_there_too(written):
    archive = written("newsgroups") / "20news-bydate.tar.gz"
    files = [name for name, _ in members(archive, everything)]
    assert files == sorted(files)
    paths = [path.split("/") for path in files]
    groups = Counter(group for _, group, _ in paths)
    assert groups.pop("rec.sport.baseball") == groups.pop("rec.sport.hockey") == 200
    assert sum(groups.values()) > 10
    halves = Counter(half for half, _, _ in paths)
    assert set(halves) == {"20news-bydate-train", "20news-bydate-test"}
    assert 0.55 < halves["20news-bydate-train"] / len(paths) < 0.65
    assert len({number for _, _, number in paths}) == len(paths)


def test_what_a_writer_wrote_tells_the_sport_and_all_else_misleads(written):
    found = messages(written("newsgroups"))
    for one in found:
        assert winner("newsgroups", own_lines(one.body)) == one.label
        assert winner("newsgroups", one.header["Subject"]) == 1 - one.label
    misled = sum(winner("newsgroups", one.whole) != one.label for one in found)
    assert misled > len(found) / 3


def test_a_message_without_a_signature_has_one_paragraph(written):
    """Else the rule that what follows the last blank line is a footer would take it away."""
    unsigned = [one for one in messages(written("newsgroups")) if not one.signature]
    assert not any("\n\n" in one.body for one in unsigned)


@each_labelled
def test_the_salient_marks_of_the_encoded_texts_vote_for_their_labels(build, dataset):
    options = {"source": "generated", "train": 200, "dev": 40, "test": 40, "seed": 0}
    folder = build({"dataset": dataset, **options}) / "encoded"
    vocabulary = names(folder)
    for split, count in (("train", 200), ("dev", 40), ("test", 40)):
        tokens, offsets, labels, salient = (
            np.load(folder / f"{split}.{column}.npy")
            for column in ("tokens", "offsets", "label", "salient")
        )
        assert len(labels) == count
        unseen = 0
        for start, end, label in zip(offsets[:-1], offsets[1:], labels, strict=True):
            marked = tokens[start:end][salient[start:end] == 1]
            words = [vocabulary[number] for number in marked]
            unseen += "<unk>" in words
            if "<unk>" not in words:
                assert winner(dataset, " ".join(words)) == label
                assert sum(votes(dataset, " ".join(words))) == len(words)
        assert unseen < count / 5


def test_translations_are_written_as_people_write_and_none_comes_twice(written):
    folder = written("multi30k")
    for side in ("de", "en"):
        lines = []
        for name, count in PAIRS.items():
            text = gzip.decompress((folder / f"{name}.{side}.gz").read_bytes()).decode()
            assert text.endswith("\n") and text.count("\n") == count
            lines += text[:-1].split("\n")
        assert len({*lines}) == len(lines)
        for line in lines:
            assert line[0].isupper() and line[-1] in ".?" and line[-2] != " "
            assert " ," not in line and "  " not in line


def test_the_lexicon_is_listed(written):
    header, *rows = (written("multi30k") / "lexicon.tsv").read_text("utf-8").splitlines()
    assert header.split("\t") == ["en", "de", "class"]
    assert [tuple(row.split("\t")) for row in rows] == [entry[:3] for entry in lexicon()]
