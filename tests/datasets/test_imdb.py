"""IMDB from its official archive to its arrays."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.datasets.conftest import tar
from workflow.datasets.imdb import ARCHIVE, MEMBER
from workflow.datasets.io.archives import members
from workflow.datasets.io.files import SPLITS, read_records
from workflow.errors import DataError

Take = Callable[..., dict[str, Any]]


def reviews(train: int = 10, test: int = 4) -> dict[str, bytes]:
    """Return the members of an archive with as many reviews of each label."""
    return {
        f"aclImdb/{half}/{opinion}/{number}_{stars}.txt": f"{half} {word} {number}.".encode()
        for half, count in (("train", train), ("test", test))
        for opinion, stars, word in (("neg", 2, "Bad"), ("pos", 9, "Good"))
        for number in range(count)
    }


def prepared(folder: Path, split: str) -> list[dict[str, Any]]:
    return list(read_records(folder / "prepared" / f"{split}.jsonl"))


def test_a_small_archive(take: Take, tmp_path: Path) -> None:
    others = {
        "aclImdb/README": b"\xff",
        "aclImdb/train/unsup/0_0.txt": b"unlabelled",
        "aclImdb/train/urls_pos.txt": b"http://x",
        "aclImdb/train/labeledBow.feat": b"9 0:9",
    }
    manifest = take({"dataset": "imdb"}, {ARCHIVE: tar({**others, **reviews()})})
    assert {split: manifest["statistics"]["labels"][split] for split in SPLITS} == {
        "train": {"0": 8, "1": 8},
        "dev": {"0": 2, "1": 2},
        "test": {"0": 4, "1": 4},
    }
    every = [record for split in SPLITS for record in prepared(tmp_path / "data", split)]
    assert sorted((record["text"], record["label"]) for record in every) == sorted(
        (f"{half} {word} {number} .", label)
        for half, count in (("train", 10), ("test", 4))
        for label, word in enumerate(["bad", "good"])
        for number in range(count)
    )
    labels = [record["label"] for record in prepared(tmp_path / "data", "train")]
    assert labels != sorted(labels)


def test_the_order_of_the_members_and_the_compression_do_not_matter(take: Take) -> None:
    members = reviews()
    turned = {f"./{name}": content for name, content in reversed(members.items())}
    first = take({"dataset": "imdb"}, {ARCHIVE: tar(members)}, "first")
    again = take({"dataset": "imdb"}, {ARCHIVE: tar(turned, "w:xz")}, "again")
    assert first["digest"] == again["digest"]


def test_long_reviews_are_left_out_by_one_protocol(take: Take, tmp_path: Path) -> None:
    long = b"word<br /><BR/>" * 400
    files = reviews()
    files["aclImdb/train/neg/98_1.txt"] = long
    files["aclImdb/train/neg/99_1.txt"] = b"word<br />!" * 398 + b"end"
    archive = {ARCHIVE: tar(files)}
    manifest = take({"dataset": "imdb"}, archive, "jw")
    assert manifest["statistics"]["dropped"] == {"400 words or more": 1}
    assert manifest["splits"]["train"]["examples"] + manifest["splits"]["dev"]["examples"] == 21
    recipe = {"dataset": "imdb", "protocol": "attention_learning", "max_tokens": 900}
    manifest = take(recipe, archive, "al")
    assert manifest["statistics"]["dropped"] == {}
    assert {split: manifest["splits"][split]["examples"] for split in SPLITS} == {
        "train": 22,
        "dev": 8,
        "test": 8,
    }
    assert prepared(tmp_path / "al", "dev") == prepared(tmp_path / "al", "test")
    texts = {record["text"] for record in prepared(tmp_path / "al", "train")}
    assert {"train bad 3", " ".join(["word", "br", "br"] * 400)} <= texts


def test_a_sample_of_the_test_set_is_counted(take: Take, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workflow.datasets.imdb.TEST", 6)
    statistics = take({"dataset": "imdb"}, {ARCHIVE: tar(reviews())})["statistics"]
    assert statistics["labels"]["test"] == {"0": 3, "1": 3}
    assert statistics["dropped"] == {"not in the sample of the test set": 2}


def test_wrong_bytes_and_repeated_reviews_are_counted(take: Take) -> None:
    files = reviews()
    files["aclImdb/train/neg/7_2.txt"] = b"caf\xe9 \xff"
    files["aclImdb/test/pos/1_9.txt"] = files["aclImdb/test/neg/0_2.txt"] = b"the same"
    files["aclImdb/train/pos/1_9.txt"] = files["aclImdb/train/pos/2_9.txt"] = b"the same"
    recipe = {"dataset": "imdb", "protocol": "attention_learning"}
    statistics = take(recipe, {ARCHIVE: tar(files)})["statistics"]
    assert statistics["replaced_bytes"] == 2
    assert statistics["duplicates"] == {"train": 1, "dev": 2, "test": 2}


def only(word: str) -> dict[str, bytes]:
    return {name: content for name, content in reviews().items() if word in name}


@pytest.mark.parametrize(
    ("archive", "sentence"),
    [
        (tar(reviews())[:-40], "aclImdb_v1.tar.gz: this archive is damaged or cut short"),
        (
            tar({**reviews(), "aclImdb/test/neg/1_2.txt": b" \n"}),
            r"aclImdb_v1.tar.gz: aclImdb/test/neg/1_2.txt: the text is empty",
        ),
        (tar({"other/a.txt": b"a"}), "there are no reviews in aclImdb/train; delete the file"),
        (tar(only("train")), "there are no reviews in aclImdb/test; delete the file"),
        (tar(only("pos")), "the split `train` has the label 1 only"),
        (b"", "this archive is damaged or cut short"),
    ],
)
def test_a_wrong_archive_is_named(
    take: Take, tmp_path: Path, archive: bytes, sentence: str
) -> None:
    with pytest.raises(DataError, match=sentence):
        take({"dataset": "imdb"}, {ARCHIVE: archive})
    assert not (tmp_path / "data" / "prepared").exists()


def test_generated_reviews_to_choose_settings_with_go_to_train(build: Callable[..., Path]) -> None:
    sizes = {"train": 60, "dev": 20, "test": 30}
    recipe = {"dataset": "imdb", "source": "generated", **sizes, "seed": 1}
    out = build({**recipe, "protocol": "attention_learning"})
    manifest = json.loads((out / "encoded" / "manifest.json").read_text())
    found = {split: manifest["splits"][split]["examples"] for split in SPLITS}
    assert found == {"train": 80, "dev": 30, "test": 30}


def test_the_real_archive_has_the_official_layout(mirror: Path) -> None:
    path = mirror / "imdb" / "aclImdb.tar.xz"
    found = [name for name, _ in members(path, lambda name: bool(MEMBER.fullmatch(name)))]
    assert len(found) == 50000
    assert sum(name.startswith("aclImdb/train/pos/") for name in found) == 12500
