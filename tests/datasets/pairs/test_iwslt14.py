"""IWSLT'14 from its archive to arrays, and against the files that fairseq's preparation makes."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.datasets.folders import examples, tar, texts
from workflow.datasets.iwslt14 import TEST

LANGUAGES = ("de", "en")
SENTENCES = 50


def train_tags(language: str, sentences: int = SENTENCES) -> str:
    """Two talks' lines about them, a title and a description, and sentences."""
    word = {"de": "Satz", "en": "Sentence"}[language]
    lines = [
        f"<url>http://www.ted.com/talks/lang/{language}/one.html</url>",
        f"<keywords>{word}</keywords>",
        "<talkid>1</talkid>",
        f"<title>One {word}: A &amp; B</title>",
        f"<description>It's this {word}.</description>",
        *(f" {word} Number {number}, yes. " for number in range(sentences)),
    ]
    return "".join(f"{line}\n" for line in lines)


def segments(language: str, name: str, count: int = 2) -> str:
    """An XML file with sentences, as the official ones are laid out."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<mteval>\n<srcset setid="x" srclang="{language}">\n<doc docid="1">',
        f"<title>{name}</title>",
        *(f'<seg id="{n + 1}"> {language} {name}’s {n + 1}. </seg>' for n in range(count)),
        "</doc>\n</srcset>\n</mteval>",
    ]
    return "\n".join(lines) + "\n"


def members(train: Mapping[str, str] | None = None) -> dict[str, bytes]:
    """The files of the archive."""
    tags = train or {language: train_tags(language) for language in LANGUAGES}
    texts = {f"de-en/train.tags.de-en.{language}": tags[language] for language in LANGUAGES}
    for talks in TEST:
        for language in LANGUAGES:
            texts[f"{talks}.{language}.xml"] = segments(language, talks.split(".")[2])
    texts["de-en/README"] = "not read"
    return {name: text.encode() for name, text in texts.items()}


def test_the_standard_preparation(take, tmp_path):
    manifest = take({"dataset": "iwslt14", "merges": 50}, {"de-en.tgz": tar(members())})
    folder = tmp_path / "data"
    # The title and the description come first: of the 52 lines, the 23rd and the 46th are for dev.
    assert texts(folder, "dev.source") == [f"sentence number {n} , yes ." for n in (20, 43)]
    assert texts(folder, "dev.target") == [f"satz number {n} , yes ." for n in (20, 43)]
    assert texts(folder, "dev.raw") == [f" Satz Number {n}, yes. " for n in (20, 43)]
    source = texts(folder, "train.source")
    assert source[:3] == [
        "one sentence : a &amp; amp ; b",
        "it &apos;s this sentence .",
        "sentence number 0 , yes .",
    ]
    assert len(source) == len(texts(folder, "train.target")) == 50
    assert texts(folder, "test.source") == [
        f"en {talks} &apos;s {number} ."
        for talks in ("dev2010", "dev2012", "tst2010", "tst2011", "tst2012")
        for number in (1, 2)
    ]
    assert texts(folder, "test.raw")[:2] == ["de dev2010's 1.", "de dev2010's 2."]
    sizes = examples(manifest)
    assert sizes == {"train": 50, "dev": 2, "test": 10}
    assert manifest["statistics"]["dropped"] == {}


def test_the_other_direction_has_the_same_pairs(take, tmp_path):
    archive = {"de-en.tgz": tar(members())}
    here = take({"dataset": "iwslt14", "merges": 50}, archive, "here")
    there = take({"dataset": "iwslt14", "merges": 50, "direction": "de_en"}, archive, "there")
    for split in ("train", "dev", "test"):
        for side, other in (("source", "target"), ("target", "source")):
            name, counterpart = f"{split}.{side}", f"{split}.{other}"
            assert texts(tmp_path / "here", name) == texts(tmp_path / "there", counterpart)
            tokens = here["splits"][split][f"{side}_tokens"]
            assert tokens == there["splits"][split][f"{other}_tokens"]
    vocabularies = [
        (tmp_path / folder / "encoded" / "vocabulary.txt").read_text()
        for folder in ("here", "there")
    ]
    assert vocabularies[0] == vocabularies[1]


def test_capitals_are_kept_where_asked_for(take, tmp_path):
    take({"dataset": "iwslt14", "merges": 50, "lowercase": False}, {"de-en.tgz": tar(members())})
    assert texts(tmp_path / "data", "dev.target")[0] == "Satz Number 20 , yes ."


def test_pairs_that_do_not_fit_are_dropped_before_dev_is_drawn(take, tmp_path):
    long = "word " * 10_000
    tags = {
        "de": f"\n{long}\neins zwei drei vier\n" + train_tags("de"),
        "en": f"x\n{long}\none two\n" + train_tags("en"),
    }
    archive = {"de-en.tgz": tar(members(tags))}
    manifest = take({"dataset": "iwslt14", "merges": 50}, archive)
    assert manifest["statistics"]["dropped"] == {
        "an empty side": 1,
        "more than 1.5 times as long as the other side": 1,
        "more than 175 words": 1,
    }
    assert texts(tmp_path / "data", "dev.source")[0] == "sentence number 20 , yes ."


def archive(**changes: bytes | None) -> bytes:
    """An archive; `changes` are by a file's name, without it for None."""
    files = {**members(), **changes}
    return tar({name: content for name, content in files.items() if content is not None})


def test_ends_of_lines_are_no_part_of_a_sentence(take, tmp_path):
    crlf = {name: content.replace(b"\n", b"\r\n") for name, content in members().items()}
    taken = [
        take({"dataset": "iwslt14", "merges": 50}, {"de-en.tgz": tar(files)}, name)["digest"]
        for name, files in (("lf", members()), ("crlf", crlf))
    ]
    assert taken[0] == taken[1]
    for name in ("dev.raw", "test.raw"):
        assert texts(tmp_path / "crlf", name) == texts(tmp_path / "lf", name)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_segment_may_have_several_lines_and_share_one(take, tmp_path, end):
    lines = ["<seg id='1'>", "Ja,  gut ", " so. ", '</seg> <seg id="2"> Nein. </seg>']
    archived = archive(**{GERMAN: end.join(lines).encode()})
    take({"dataset": "iwslt14", "merges": 50}, {"de-en.tgz": archived})
    assert texts(tmp_path / "data", "test.raw")[2:4] == ["Ja,  gut so.", "Nein."]


GERMAN = f"{TEST[1]}.de.xml"
EMPTY = b'<seg id="1"> </seg>\n<seg id="2"> Ja. </seg>\n'
LONG = b'<seg id="1">' + b"a " * 10_000 + b'</seg>\n<seg id="2">b</seg>\n'


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (archive(**{f"{TEST[2]}.en.xml": None}), r"there is no .*TED.tst2010.de-en.en.xml; del"),
        (
            archive(**{GERMAN: b'<seg id="1"> Ja.\n<seg id="2"> Nein. </seg>'}),
            r"TEDX.dev2012.de-en.de.xml: no </seg> ends the sentence ' Ja.\\n'; correct",
        ),
    ],
    ids=["missing", "endless"],
)
def test_a_wrong_archive_is_a_sentence(refuse, content, sentence):
    refuse({"dataset": "iwslt14", "merges": 50}, {"de-en.tgz": content}, sentence)


def test_a_test_sentence_that_can_not_be_translated_is_counted(take):
    for name, content in (("empty", EMPTY), ("long", LONG)):
        archived = {"de-en.tgz": archive(**{GERMAN: content})}
        manifest = take({"dataset": "iwslt14", "merges": 50}, archived, name)
        assert examples(manifest)["test"] == 9
        assert sum(manifest["statistics"]["dropped"].values()) == 1


def test_the_real_test_set_is_fairseqs_to_the_letter(take, mirror, tmp_path):
    folder = mirror / "iwslt14_de_en"
    files = members()
    for talks in TEST:
        for language in LANGUAGES:
            name = f"{talks}.{language}.xml"
            files[name] = (folder / "original_xml" / Path(name).name).read_bytes()
    manifest = take({"dataset": "iwslt14", "merges": 50}, {"de-en.tgz": tar(files)})
    assert manifest["splits"]["test"]["examples"] == 6750
    for side, language in (("source", "en"), ("target", "de")):
        standard = (folder / "fairseq" / f"test.{language}").read_text(encoding="utf-8")
        assert texts(tmp_path / "data", f"test.{side}") == standard.rstrip("\n").split("\n")
