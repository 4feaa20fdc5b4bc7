"""20 Newsgroups from its official archive to its arrays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.datasets.folders import examples, labelled, names, records, tar
from workflow.datasets.io.dataset_files import SPLITS
from workflow.datasets.newsgroups import ARCHIVE, own_words

MESSAGE = """From: fan@x.edu
Subject: Re: hockey

In article <1@x> fan@x.edu writes:
> The puck went in.
| It did.
Ann said: no.
I think it did
> not
go in.

It was out.
--
fan of the Rangers
"""


def messages(count: int = 10) -> dict[str, bytes]:
    """Return the members of an archive with as many messages of each group in both halves."""
    return {
        f"20news-bydate-{half}/rec.sport.{group}/{number}": (
            f"From: x\nSubject: hockey\n\n{half} {group} number_{number} 42 7"
        ).encode()
        for half in ("train", "test")
        for group in ("baseball", "hockey")
        for number in range(count)
    }


def test_headers_quotes_and_footer_are_taken_away():
    assert own_words(MESSAGE).split("\n") == ["I think it did", "go in.", "", "It was out."]
    assert own_words("Subject: a\n\none\ntwo") == "one\ntwo"
    assert own_words("Subject: a\n\none\n\nname") == "one"
    assert own_words("Subject: a\n\n\n\nall of it\n\n") == "all of it"
    assert own_words("Subject: nothing else") == ""
    assert own_words("Subject: a\n\n> all quoted") == ""


LINES = st.sampled_from(
    ["", " ", "--", "- -", "text", "> quote", "|", "x writes:", "In article 1", "a In article b"]
)


@given(st.lists(LINES).map("\n".join))
def test_the_rules_are_those_of_scikit_learn(message):
    rules = pytest.importorskip("sklearn.datasets._twenty_newsgroups")
    expected = rules.strip_newsgroup_header(message)
    expected = rules.strip_newsgroup_quoting(rules.strip_newsgroup_footer(expected))
    assert own_words(message).split() == expected.split()


def test_a_small_archive(take, tmp_path):
    others = {
        "20news-bydate-train/sci.space/1": b"Subject: x\n\nspace",
        "20news-bydate-train/rec.sport.hockey/99": b"Subject: x\n\n> quoted only\n",
    }
    manifest = take({"dataset": "newsgroups"}, {ARCHIVE: tar({**others, **messages()})})
    assert manifest["statistics"]["labels"] == {
        "train": {"0": 12, "1": 13},
        "dev": {"0": 4, "1": 3},
        "test": {"0": 4, "1": 4},
    }
    assert manifest["statistics"]["dropped"] == {"nothing but headers, footers and quotes": 1}
    assert labelled(tmp_path / "data", *SPLITS) == sorted(
        (f"{half} {group} number_{number} 42 7", label)
        for half in ("train", "test")
        for label, group in enumerate(["baseball", "hockey"])
        for number in range(10)
    )


def test_the_other_protocol_keeps_the_halves_and_whole_messages(take, tmp_path):
    recipe = {"dataset": "newsgroups", "protocol": "attention_learning"}
    manifest = take(recipe, {ARCHIVE: tar(messages())})
    folder = tmp_path / "data"
    assert sorted(record["text"] for record in records(folder, "train")) == sorted(
        f"from x subject hockey train {group} number {number} <unk> 7"
        for group in ("baseball", "hockey")
        for number in range(10)
    )
    assert records(folder, "dev") == records(folder, "test")
    assert manifest["splits"]["test"]["examples"] == 20
    vocabulary = names(folder / "encoded")
    assert vocabulary.count("<unk>") == 1 and "42" not in vocabulary


def test_the_order_of_the_members_does_not_matter_and_bytes_are_latin_1(take, tmp_path):
    files = messages()
    files["20news-bydate-test/rec.sport.hockey/3"] = b"Subject: x\n\nTeemu Sel\xe4nne scored"
    turned = dict(reversed(files.items()))
    first = take({"dataset": "newsgroups"}, {ARCHIVE: tar(files)}, "first")
    again = take({"dataset": "newsgroups"}, {ARCHIVE: tar(turned, "w:xz")}, "again")
    assert first["digest"] == again["digest"]
    assert first["statistics"]["replaced_bytes"] == 0
    assert any("teemu selänne scored" in text for text, _ in labelled(tmp_path / "first", *SPLITS))


def test_line_ends_of_another_system_are_the_same(take):
    files = {name: content + b"\n\n--\nfan" for name, content in messages().items()}
    first = take({"dataset": "newsgroups"}, {ARCHIVE: tar(files)}, "first")
    files = {name: content.replace(b"\n", b"\r\n") for name, content in files.items()}
    again = take({"dataset": "newsgroups"}, {ARCHIVE: tar(files)}, "again")
    assert first["digest"] == again["digest"]


def test_an_archive_without_a_half_is_named(refuse):
    train = {name: content for name, content in messages().items() if "train" in name}
    sentence = "no messages in 20news-bydate-test/rec.sport.baseball or"
    refuse({"dataset": "newsgroups"}, {ARCHIVE: tar(train)}, sentence)


def test_the_real_archive_has_the_papers_sizes(take, mirror):
    archive = mirror / "newsgroups20" / "20news-bydate-rec.sport.tar.xz"
    manifest = take({"dataset": "newsgroups"}, {ARCHIVE: archive}, "jw")
    assert examples(manifest) == {"train": 1236, "dev": 310, "test": 387}
    recipe = {"dataset": "newsgroups", "protocol": "attention_learning"}
    statistics = take(recipe, {ARCHIVE: archive}, "al")["statistics"]
    assert statistics["median_length"] == {"train": 183, "dev": 207, "test": 207}
    assert sum(statistics["labels"]["train"].values()) == 1197
    assert sum(statistics["labels"]["test"].values()) == 796
