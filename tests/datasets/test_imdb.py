"""IMDB from its official archive to its arrays."""

import pytest

from tests.datasets.folders import examples, labelled, records, tar
from workflow.datasets.imdb import ARCHIVE, MEMBER
from workflow.datasets.io.archives import members
from workflow.datasets.io.checksums import read_manifest
from workflow.datasets.io.dataset_files import SPLITS

RECIPE = {"dataset": "imdb"}
OTHER = {"dataset": "imdb", "protocol": "attention_learning"}


def reviews(train: int = 10, test: int = 4) -> dict[str, bytes]:
    """Return the members of an archive with as many reviews of each label."""
    return {
        f"aclImdb/{half}/{opinion}/{number}_{stars}.txt": f"{half} {word} {number}.".encode()
        for half, count in (("train", train), ("test", test))
        for opinion, stars, word in (("neg", 2, "Bad"), ("pos", 9, "Good"))
        for number in range(count)
    }


def test_a_small_archive(take, tmp_path):
    others = {
        "aclImdb/README": b"\xff",
        "aclImdb/train/unsup/0_0.txt": b"unlabelled",
        "aclImdb/train/urls_pos.txt": b"http://x",
        "aclImdb/train/labeledBow.feat": b"9 0:9",
    }
    manifest = take(RECIPE, {ARCHIVE: tar({**others, **reviews()})})
    assert manifest["statistics"]["labels"] == {
        split: {"0": count, "1": count} for split, count in (("train", 8), ("dev", 2), ("test", 4))
    }
    assert labelled(tmp_path / "data", *SPLITS) == sorted(
        (f"{half} {word} {number} .", label)
        for half, count in (("train", 10), ("test", 4))
        for label, word in enumerate(["bad", "good"])
        for number in range(count)
    )
    labels = [record["label"] for record in records(tmp_path / "data", "train")]
    assert labels != sorted(labels)


def test_the_order_of_the_members_and_the_compression_do_not_matter(take):
    members = reviews()
    turned = {f"./{name}": content for name, content in reversed(members.items())}
    first = take(RECIPE, {ARCHIVE: tar(members)}, "first")
    again = take(RECIPE, {ARCHIVE: tar(turned, "w:xz")}, "again")
    assert first["digest"] == again["digest"]


def test_long_reviews_are_left_out_by_one_protocol(take, tmp_path):
    long = b"word<br /><BR/>" * 400
    files = reviews()
    files["aclImdb/train/neg/98_1.txt"] = long
    files["aclImdb/train/neg/99_1.txt"] = b"word<br />!" * 398 + b"end"
    archive = {ARCHIVE: tar(files)}
    manifest = take(RECIPE, archive, "jw")
    assert manifest["statistics"]["dropped"] == {"400 words or more": 1}
    assert manifest["splits"]["train"]["examples"] + manifest["splits"]["dev"]["examples"] == 21
    manifest = take({**OTHER, "max_tokens": 900}, archive, "al")
    assert manifest["statistics"]["dropped"] == {}
    assert examples(manifest) == {"train": 22, "dev": 8, "test": 8}
    assert records(tmp_path / "al", "dev") == records(tmp_path / "al", "test")
    texts = {record["text"] for record in records(tmp_path / "al", "train")}
    assert {"train bad 3", " ".join(["word", "br", "br"] * 400)} <= texts


def test_a_sample_of_the_test_set_is_counted(take, monkeypatch):
    monkeypatch.setattr("workflow.datasets.imdb.TEST", 6)
    statistics = take(RECIPE, {ARCHIVE: tar(reviews())})["statistics"]
    assert statistics["labels"]["test"] == {"0": 3, "1": 3}
    assert statistics["dropped"] == {"not in the sample of the test set": 2}


def test_wrong_bytes_and_repeated_reviews_are_counted(take):
    files = reviews()
    files["aclImdb/train/neg/7_2.txt"] = b"caf\xe9 \xff"
    files["aclImdb/test/pos/1_9.txt"] = files["aclImdb/test/neg/0_2.txt"] = b"the same"
    files["aclImdb/train/pos/1_9.txt"] = files["aclImdb/train/pos/2_9.txt"] = b"the same"
    statistics = take(OTHER, {ARCHIVE: tar(files)})["statistics"]
    assert statistics["replaced_bytes"] == 2
    assert statistics["duplicates"] == {"train": 1, "dev": 2, "test": 2}


@pytest.mark.parametrize(
    ("archive", "sentence"),
    [
        (tar({"other/a.txt": b"a"}), "there are no reviews in aclImdb/train; delete the file"),
        (tar(reviews(test=0)), "there are no reviews in aclImdb/test; delete the file"),
    ],
)
def test_a_wrong_archive_is_named(refuse, archive, sentence):
    refuse(RECIPE, {ARCHIVE: archive}, sentence)


def test_generated_reviews_to_choose_settings_with_go_to_train(build):
    sizes = {"train": 60, "dev": 20, "test": 30}
    out = build({**OTHER, "source": "generated", **sizes, "seed": 1})
    found = examples(read_manifest(out / "encoded"))
    assert found == {"train": 80, "dev": 30, "test": 30}


def test_the_real_archive_has_the_official_layout(mirror):
    path = mirror / "imdb" / "aclImdb.tar.xz"
    found = [name for name, _ in members(path, MEMBER.fullmatch)]
    assert len(found) == 50000
    assert sum(name.startswith("aclImdb/train/pos/") for name in found) == 12500
