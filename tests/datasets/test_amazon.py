"""Amazon reviews from the official archive, or the tokenized files, to arrays."""

import re
from typing import Any

import pytest

from tests.datasets.folders import examples, labelled, tar
from workflow.datasets.amazon import ARCHIVE, TOKENIZED
from workflow.datasets.io.archives import members
from workflow.datasets.kinds.recipe import files

TOKENIZED_RECIPE = {"dataset": "amazon", "source": "tokenized"}


def reviews(*texts: str) -> bytes:
    """Return texts in the official format, which is no valid XML."""
    return "".join(
        "<review>\n<unique_id>\n1 & 2\n</unique_id>\n<title>\na < b\n</title>\n"
        f"<review_text>\n{text}\n</review_text>\n</review>\n"
        for text in texts
    ).encode("latin-1")


def archive() -> dict[str, bytes]:
    return {
        f"sorted_data_acl/{category}/{opinion}.review": reviews(
            *(f"{category}: {opinion} & more\n\nnumber {n}" for n in range(9))
        )
        for category in ("books", "kitchen_&_housewares")
        for opinion in ("negative", "positive")
    }


def tokenized(**changed: bytes) -> dict[str, bytes]:
    content = {
        name: b"".join(f"{n % 2}\tit 's text {n} of {name}\n".encode() for n in range(4))
        for name in TOKENIZED
    }
    return {**content, **{name.replace("__", "."): lines for name, lines in changed.items()}}


def test_the_official_archive(take, tmp_path):
    files = archive()
    files["sorted_data_acl/books/unlabeled.review"] = reviews("unlabelled")
    files["sorted_data_acl/books/positive.review"] += reviews(
        " ".join(["long"] * 400), "caf\xe9", "\n", "books: positive, more number 3"
    )
    manifest = take({"dataset": "amazon"}, {ARCHIVE: tar(files)})
    dropped = {"400 words or more": 1, "empty": 1, "more than once": 1}
    assert manifest["statistics"]["dropped"] == dropped
    assert examples(manifest) == {
        "train": 32,
        "dev": 5,  # 4,000 in 36,514 of 37 reviews
        "test": 5,
    }
    assert labelled(tmp_path / "data", "train", "dev") == sorted(
        [("café", 1)]
        + [
            (f"{category} {opinion} more number {n}", label)
            for category in ("books", "kitchen_ _housewares")
            for label, opinion in enumerate(["negative", "positive"])
            for n in range(9)
        ]
    )


def test_the_tokenized_files(take):
    train = b"1\tfine caf\xe9\n0\t\n0\tdull\n"
    manifest = take(TOKENIZED_RECIPE, tokenized(dvd__task__train=train))
    statistics = manifest["statistics"]
    assert statistics["dropped"] == {"empty": 1} and statistics["replaced_bytes"] == 1
    assert everything(manifest) == 27 * 4 + 3
    assert files(TOKENIZED_RECIPE)["sources"] == TOKENIZED and len(TOKENIZED) == 28


def test_an_archive_without_reviews_is_named(refuse):
    sentence = "data.tar.gz: there are no reviews in this archive; delete the file"
    refuse({"dataset": "amazon"}, {ARCHIVE: tar({"a": b"b"})}, sentence)


@pytest.mark.parametrize(
    "lines",
    [
        "<review_text>A <review_text>B</review_text>",
        "<review_text>the last is cut",
        "A</review_text>",
        "<review_text>A <review_text>B</review_text> C</review_text>",
    ],
)
def test_reviews_that_are_not_told_apart_are_refused(take, refuse, lines):
    name = "sorted_data_acl/books/positive.review"
    odd = b"<review_text><b>A</b> & <review>B</review_text><review_text></review_text>"
    files = archive()
    files[name] += odd
    manifest = take({"dataset": "amazon"}, {ARCHIVE: tar(files)})
    assert everything(manifest) == 38 and manifest["statistics"]["dropped"] == {"empty": 1}
    files[name] += lines.encode()
    sentence = "gz: sorted_data_acl/books/positive.review: a review does not begin with <review"
    refuse({"dataset": "amazon"}, {ARCHIVE: tar(files)}, re.escape(sentence))


@pytest.mark.parametrize("line", [b"2\tgood", b"good", b"-1\tgood"])
def test_a_wrong_line_is_named(refuse, line):
    files = tokenized(baby__task__test=b"1\tfine\n" + line + b"\n")
    refuse(TOKENIZED_RECIPE, files, r"baby.task.test, line 2: expected 0 or 1 and a tab before")


def everything(manifest: dict[str, Any]) -> int:
    """Count the reviews that are used and those that are left out."""
    sizes = examples(manifest)
    return sizes["train"] + sizes["dev"] + sum(manifest["statistics"]["dropped"].values())


def test_the_real_archive(take, mirror):
    real = mirror / "amazon" / "sorted_data_acl.tar.xz"
    manifest = take({"dataset": "amazon"}, {ARCHIVE: real})
    assert everything(manifest) == 8000


def test_the_real_tokenized_files(take, mirror):
    bundle = members(mirror / "amazon" / "fdu-mtl.tar.xz", lambda name: True)
    content = {name.rpartition("/")[2]: lines for name, lines in bundle}
    manifest = take(TOKENIZED_RECIPE, content)
    assert everything(manifest) == 27780
