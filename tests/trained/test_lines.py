"""A raw line gets the words and ids that its dataset gives it."""

from pathlib import Path
from typing import Any

import pytest

from model.batches.corpus import Corpus
from tests.datasets.folders import rows
from workflow import ROOT
from workflow.datasets.kinds.recipe import load
from workflow.runtime.integrity import sha256
from workflow.trained.lines import NORMALISED, form_of

PAIRS = [
    ("“Two” dogs don't run, do they?", "Zwei Hunde rennen nicht, oder?"),
    ("A man (in a hat) rides U.S. bikes.", "Ein Mann fährt."),
    ("Dogs & men – running; two dogs!", "Hunde und Männer rennen."),
] * 3
REVIEWS = [
    ("It isn't good -- it's <b>GREAT</b>!!!", "pos"),
    ("Worst film, I can’t stand 100 words.", "neg"),
] * 4


@pytest.mark.parametrize(
    "options",
    [
        {"merges": 30},
        {"merges": 30, "lowercase": False},
        {"merges": 40, "joint": False},
        {"merges": 60, "joint": False, "threshold": 4},
        {"vocabulary": 50},
        {"vocabulary": 60, "lowercase": False},
    ],
    ids=str,
)
def test_a_sentence_gets_the_ids_of_its_pair(tmp_path: Path, options: dict[str, Any]) -> None:
    files = [tmp_path / "raw.en", tmp_path / "raw.de"]
    for side, file in enumerate(files):
        file.write_text("".join(f"{pair[side]}\n" for pair in PAIRS))
    sums = [sha256(file) for file in files]
    splits = dict.fromkeys(("train", "dev", "test"), sums)
    dataset = load({"dataset": "pairs", "direction": "en_de", **splits, **options})
    dataset.prepare(files * 3, tmp_path)
    dataset.encode(tmp_path, tmp_path / "encoded")
    form = form_of(Corpus(tmp_path / "encoded"), [])
    encoded = rows(tmp_path / "encoded", "test")
    for (source, _), row in zip(PAIRS, encoded, strict=True):
        ids = [one for word in form.words(source) for one in form.ids(word)]
        assert row[: len(ids) + 1] == [*ids, *form.end]
    assert [*form.ids("☃")][-1] == form.unknown


def test_a_text_gets_the_words_of_its_dataset(tmp_path: Path) -> None:
    file = tmp_path / "raw.tsv"
    file.write_text("text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in REVIEWS))
    splits = {split: [sha256(file)] for split in ("train", "dev", "test")}
    dataset = load({"dataset": "labelled", "format": "tsv", **splits})
    dataset.prepare([file] * 3, tmp_path)
    dataset.encode(tmp_path, tmp_path / "encoded")
    corpus = Corpus(tmp_path / "encoded")
    form = form_of(corpus, corpus.vocabulary)
    for (text, _), row in zip(REVIEWS, rows(tmp_path / "encoded", "test"), strict=True):
        assert [one for word in form.words(text) for one in form.ids(word)] == row
    assert form.ids("<pad>") == [form.unknown]


def test_datasets_whose_punctuation_is_made_uniform_are_known() -> None:
    files = (ROOT / "workflow/datasets").rglob("*.py")
    assert {file.stem for file in files if "normalise=True" in file.read_text()} == {*NORMALISED}
