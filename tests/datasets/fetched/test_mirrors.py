"""Looking files up in a mirror, by address and by what a bundle stands for; always verified."""

import hashlib
import lzma
from pathlib import Path

import pytest

from tests.datasets.folders import tar
from tests.datasets.loopback import CHECKSUM, CONTENT, WRONG, mirror, source
from workflow.datasets.fetched import mirrors, origins
from workflow.datasets.fetched.sources import Source, load, read_table
from workflow.runtime.errors import DataError

URL = "https://host/folder/toy.train"
FEW = ("dvd.task.test", "enwik8_prefix", "readme.txt")
PACKED = "xz of the url's bytes"


def take(folder: Path, item: Source, out: Path) -> origins.Origin:
    """Find and take a source; it must be there, and what is taken must pass `verify`."""
    entry = mirrors.find(folder, item)
    assert entry is not None
    origin = mirrors.take(entry, item, out)
    origins.write(out, origin)
    origins.verify(out, item)
    return origin


@pytest.mark.parametrize(
    ("stored", "row"),
    [
        (CONTENT, {}),
        (CONTENT, {"sha256": CHECKSUM.upper()}),
        (lzma.compress(CONTENT), {"kind": PACKED}),
        (lzma.compress(CONTENT), {"kind": PACKED, "unpacked_sha256": CHECKSUM}),
        (lzma.compress(CONTENT), {"kind": PACKED, "unpacked_sha256": CHECKSUM.upper()}),
    ],
    ids=["plain", "capitals", "packed", "packed, its sum listed", "packed, in capitals"],
)
def test_a_file_is_found_by_any_of_its_addresses(tmp_path, stored, row):
    folder = mirror(tmp_path / "mirror", stored, url=URL, **row)
    origin = take(folder, source("https://gone/a", URL), tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == CONTENT
    assert (origin.kind, origin.sha256, origin.note) == ("mirror", CHECKSUM, "toy/file")


def test_a_bundle_stands_for_the_official_archive_under_its_own_checksum(tmp_path):
    stands_for = f"{URL} (labelled part, same layout)"
    folder = mirror(tmp_path / "mirror", WRONG, kind="bundle", stands_for=stands_for)
    origin = take(folder, source(URL), tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == WRONG
    assert origin.kind == "bundle" and origin.bytes == len(WRONG)
    assert origin.sha256 == hashlib.sha256(WRONG).hexdigest()
    assert origin.note == f"toy/file, which stands for {stands_for}"


def test_only_a_bundle_stands_for_something_else(tmp_path):
    folder = mirror(tmp_path / "mirror", WRONG, url="https://x/part", stands_for=f"{URL} (4 %)")
    assert mirrors.find(folder, source(URL)) is None


@pytest.mark.parametrize("asked", ["url", "stands_for"])
@pytest.mark.parametrize("kind", ["", "a copy"])
def test_an_unknown_kind_is_named_where_the_file_is_asked_for(tmp_path, asked, kind):
    row = {"url": "", "kind": kind, asked: URL}
    folder = mirror(tmp_path / "mirror", CONTENT, **row)
    sentence = rf"line 2: the kind of toy/file is '{kind}'; write one of: the url's bytes, xz of"
    with pytest.raises(DataError, match=sentence):
        mirrors.find(folder, source(URL))
    assert mirrors.find(folder, source("https://another")) is None


def test_a_file_of_a_bundle_is_found_by_its_address(tmp_path):
    name = "books & films/toy.train"
    files = {"set/toy.train": WRONG, f"set/{name}": CONTENT, "set/other": WRONG}
    stored = tar(files, "w:xz")
    pattern = "https://host/folder/{books%20&%20films,*}/toy.{train,test}"
    folder = mirror(tmp_path / "mirror", stored, kind="bundle", url=pattern)
    item = source("https://host/folder/books%20%26%20films/toy.train")
    origin = take(folder, item, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == CONTENT and origin.kind == "mirror"
    entry = mirrors.find(folder, source("https://host/folder/nothing"))
    assert entry is not None
    with pytest.raises(DataError, match=r"is not toy/toy.train: expected sha256 .* .0 bytes."):
        mirrors.take(entry, item, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_bundle_with_two_files_for_one_address_is_refused(tmp_path):
    stored = tar({"old/toy.train": WRONG, "new/toy.train": CONTENT})
    folder = mirror(tmp_path / "mirror", stored, kind="bundle", url="https://host/toy/{a,b}/*")
    with pytest.raises(DataError, match=r"old/toy\.train and new/toy\.train in it both end in toy"):
        take(folder, source("https://host/toy/toy.train"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_address_comes_before_a_bundle(tmp_path):
    folder = mirror(tmp_path / "mirror", WRONG, kind="bundle", stands_for=URL)
    (folder / "toy" / "right").write_bytes(CONTENT)
    row = [URL, "toy/right", CHECKSUM, str(len(CONTENT)), "the url's bytes", "", ""]
    with (folder / "SOURCES.tsv").open("a") as index:
        index.write("\t".join(row) + "\n")
    assert take(folder, source(URL), tmp_path / "out").kind == "mirror"


def test_a_file_that_nobody_publishes_a_checksum_of_has_the_mirrors(tmp_path):
    folder = mirror(tmp_path / "mirror", WRONG, url=URL)
    origin = take(folder, source(URL, checksum=""), tmp_path / "out")
    assert origin.sha256 == hashlib.sha256(WRONG).hexdigest()


@pytest.mark.parametrize(
    ("stored", "row", "sentence"),
    [
        (CONTENT, {"sha256": "0" * 64}, f"lists: expected sha256 {'0' * 64} .*correct the index"),
        (CONTENT, {"bytes": "1"}, f"expected sha256 {CHECKSUM} .1 bytes., found"),
        (CONTENT, {"bytes": "many"}, "0 bytes., found .*correct the index if the file is right"),
        (WRONG, {}, rf"is not toy/toy.train: expected sha256 {CHECKSUM} .*, found .*; replace it"),
        (lzma.compress(WRONG), {"kind": PACKED}, f"expected sha256 {CHECKSUM} .*; replace it"),
        (
            lzma.compress(CONTENT),
            {"kind": PACKED, "unpacked_sha256": "0" * 64},
            f"expected unpacked_sha256 {'0' * 64}, found {CHECKSUM}",
        ),
        (lzma.compress(CONTENT)[:-9], {"kind": PACKED}, "it is not a whole xz file"),
        (CONTENT, {"kind": PACKED}, "it is not a whole xz file; replace it"),
        (WRONG, {"kind": "bundle", "stands_for": URL, "sha256": "0" * 64}, "that the index lists"),
        (None, {}, "the mirror has no file .* listed for toy/toy.train; complete the mirror"),
    ],
)
def test_a_wrong_file_or_index_is_named_and_never_accepted(tmp_path, stored, row, sentence):
    folder = mirror(tmp_path / "mirror", stored, **{"url": URL, **row})
    entry = mirrors.find(folder, source(URL))
    assert entry is not None
    with pytest.raises(DataError, match=sentence) as error:
        mirrors.take(entry, source(URL), tmp_path / "out")
    assert str(error.value).startswith(f"{folder / 'SOURCES.tsv'}, line 2: ")
    assert str(folder / "toy" / "file") in str(error.value)
    assert not (tmp_path / "out").exists()


def test_a_mirror_that_is_none_gets_a_sentence(tmp_path):
    item = source(URL)
    with pytest.raises(DataError, match=r"The mirror .*/nowhere is not a folder; correct `mirror`"):
        mirrors.find(tmp_path / "nowhere", item)
    with pytest.raises(DataError, match=r"has no index SOURCES.tsv; add it, or remove `mirror`"):
        mirrors.find(tmp_path, item)
    (tmp_path / "SOURCES.tsv").write_text("url\tpath\n")
    with pytest.raises(DataError, match=r"SOURCES.tsv: the first line lacks the columns file, "):
        mirrors.find(tmp_path, item)


def test_everything_in_the_real_mirror_is_found(mirror, tmp_path):
    kinds, used = {}, set()
    for item in load().values():
        entry = mirrors.find(mirror, item)
        if entry is not None:
            used.add(entry.row["file"])
            if item.dataset in ("imdb", "newsgroups", "sst") or item.file in FEW:
                kinds[item.name] = take(mirror, item, tmp_path / "out").kind
    assert used == {row["file"] for _, row in read_table(mirror / "SOURCES.tsv", ["file"])}
    assert kinds.pop("imdb/aclImdb_v1.tar.gz") == "bundle"
    assert kinds.pop("newsgroups/20news-bydate.tar.gz") == "bundle"
    assert set(kinds.values()) == {"mirror"} and len(kinds) == 6 + 4
