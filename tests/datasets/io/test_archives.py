"""Archives read file by file, whole and damaged."""

import gzip
import io
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.datasets.folders import tar, zipped
from workflow.datasets.io import archives
from workflow.datasets.io.archives import member, members, named
from workflow.runtime.errors import DataError

FILES = {"b/two": b"2" * 3000, "a/one": b"1", "a/none": b"", "c/three": bytes(range(256)) * 9}


def everything(_: str) -> bool:
    return True


@pytest.fixture
def put(tmp_path: Path) -> Callable[[bytes], Path]:
    def write(content: bytes) -> Path:
        path = tmp_path / "archive"  # its name does not say what it is
        path.write_bytes(content)
        return path

    return write


WHOLE = {**{it: tar(FILES, f"w:{it}") for it in ("", "gz", "bz2", "xz")}, "zip": zipped(FILES)}


@pytest.mark.parametrize("kind", WHOLE)
def test_files_come_back_in_the_archives_order(put, kind):
    path = put(WHOLE[kind])
    assert list(members(path, everything)) == list(FILES.items())
    in_a = members(path, lambda name: name.startswith("a/"))
    assert [name for name, _ in in_a] == ["a/one", "a/none"]


@pytest.mark.parametrize("kind", WHOLE)
def test_an_archive_that_is_cut_anywhere_is_refused(put, kind):
    content = WHOLE[kind]
    block = tarfile.BLOCKSIZE
    ends = [*range(0, len(content) - 1, 97), *range(len(content) - 9, len(content))]
    if kind == "":  # every place between two blocks, up to the zeros at the end
        used = len(content.rstrip(b"\0")) // block * block + block
        ends = [*range(0, used, block), *range(1, used, 97)]
    for end in ends:
        with pytest.raises(DataError, match=r"archive: this archive is damaged or cut short \("):
            list(members(put(content[:end]), everything))


def test_what_is_no_archive_and_what_is_missing_is_refused(put, tmp_path):
    with pytest.raises(DataError, match=r"or cut short \(file could not be opened[^\n]*$"):
        list(members(put(b"<html>404</html>" * 99), everything))
    with pytest.raises(DataError, match="nowhere: this archive does not exist; fetch it again"):
        list(members(tmp_path / "nowhere", everything))


def test_changed_bytes_are_refused(put):
    for kind in ("gz", "xz", "zip"):
        content = bytearray(WHOLE[kind])
        content[len(content) // 3] ^= 255
        with pytest.raises(DataError):
            list(members(put(bytes(content)), everything))
    content = bytearray(WHOLE["gz"])
    content[-5] ^= 255  # of the checksum at the end
    with pytest.raises(DataError, match="CRC check failed"):
        list(members(put(bytes(content)), everything))


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/etc/evil"])
def test_a_name_that_leads_out_is_refused(put, name):
    for content in (tar({name: b""}), zipped({name: b""})):
        with pytest.raises(DataError, match="leads out of the archive"):
            list(members(put(content), lambda name: False))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE])
def test_a_wanted_link_or_device_is_refused(put, kind):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        entry = tarfile.TarInfo("a/link")
        entry.type, entry.linkname = kind, "/etc/passwd"
        archive.addfile(entry)
    path = put(stream.getvalue())
    with pytest.raises(DataError, match="a/link is a link or a device, not a file"):
        list(members(path, everything))
    assert list(members(path, lambda name: name != "a/link")) == []


def in_headers(content: bytes, offset: int, value: int) -> bytes:
    """Return a zip archive with a number changed in both headers of each file of it."""
    changed = bytearray(content)
    for start, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = changed.find(start)
        while place >= 0:
            changed[place + at + offset] = value
            place = changed.find(start, place + 1)
    return bytes(changed)


def test_a_zip_that_python_cannot_unpack_is_told_for_what_it_is(put):
    content = zipped({"a/one": b"1", "b": b"2"})
    wrong = {
        r"archive: a/one has a password; replace the archive by one without\.": (0, 1),
        r"archive: a/one is .* can't read \(number 9\); pack the archive as deflate\.": (2, 9),
    }
    for sentence, change in wrong.items():
        path = put(in_headers(content, *change))
        with pytest.raises(DataError, match=sentence):
            list(members(path, everything))
        assert list(members(path, lambda name: name == "c")) == []
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
            archive.writestr(f"{method}", b"1", method)
    assert len(list(members(put(stream.getvalue()), everything))) == 3


def test_names_of_a_zip_with_backslashes_have_slashes(put):
    path = put(zipped({"a\\": b"", "a\\b\\train.de": b"1", "c/dev.de": b"2"}))
    assert dict(members(path, everything)) == {"a/b/train.de": b"1", "c/dev.de": b"2"}
    assert member(path, "train.de") == b"1"
    assert member(put(tar({"a\\train.de": b"1"})), "train.de") is None
    with pytest.raises(DataError, match="leads out of the archive"):
        member(put(zipped({"..\\evil": b""})), "evil")


def test_a_link_in_a_zip_is_refused(put):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        entry = zipfile.ZipInfo("link")
        entry.external_attr = 0o120777 << 16
        archive.writestr(entry, "/etc/passwd")
    with pytest.raises(DataError, match="link is a link or a device"):
        list(members(put(stream.getvalue()), everything))


def test_a_leading_dot_is_left_out_and_a_second_copy_refused(put):
    assert list(members(put(tar({"./a": b"1"})), everything)) == [("a", b"1")]
    with pytest.raises(DataError, match="a is in the archive twice; replace the archive"):
        list(members(put(tar({"./a": b"1", "a": b"2"})), everything))


def test_the_first_bytes_say_what_an_archive_is(put):
    inner = zipped({"a/one": b"of the zip"})
    path = put(tar({"a/one": b"of the tar", "last.zip": inner}, "w"))
    assert zipfile.is_zipfile(path)  # Python's own test looks at the end
    assert dict(members(path, everything)) == {"a/one": b"of the tar", "last.zip": inner}
    stream = io.BytesIO()
    zipfile.ZipFile(stream, "w").close()
    assert list(members(put(stream.getvalue()), everything)) == []


@pytest.mark.parametrize("pack", [tar, zipped])
def test_two_files_of_one_name_are_refused_with_both_places(put, pack):
    path = put(pack({"old/train.de": b"1", "a/dev.de": b"2", "new/train.de": b"3"}))
    sentence = "archive: both old/train.de and new/train.de are called train.de, and nothing tells"
    for read in (lambda: list(named(path, ["train.de"])), lambda: member(path, "train.de")):
        with pytest.raises(DataError, match=sentence):
            read()
    assert member(path, "dev.de") == b"2" and member(path, "none") is None
    assert list(named(path, ["dev.de"])) == [("dev.de", "a/dev.de", b"2")]
    beside = put(pack({"a/train.de": b"1", "__MACOSX/a/._train.de": b"2"}))
    assert member(beside, "train.de") == b"1"


@pytest.mark.parametrize("kind", WHOLE)
def test_an_archive_that_unpacks_to_too_much_is_refused(put, monkeypatch, kind):
    path = put(WHOLE[kind])
    total = sum(map(len, FILES.values()))
    monkeypatch.setattr(archives, "LARGEST", total)
    assert dict(members(path, everything)) == FILES
    monkeypatch.setattr(archives, "LARGEST", total - 1)
    for wanted in (everything, lambda name: False):  # what is passed over is unpacked too
        with pytest.raises(DataError, match=rf"unpacks to more than {total - 1} bytes, which no"):
            list(members(path, wanted))


def test_what_follows_the_end_of_a_tar_counts(put, monkeypatch):
    plain = tar(FILES, "w")
    monkeypatch.setattr(archives, "LARGEST", len(plain))
    monkeypatch.setattr(archives, "CHUNK", 512)
    assert dict(members(put(gzip.compress(plain + bytes(512))), everything)) == FILES
    with pytest.raises(DataError, match="unpacks to more than"):
        list(members(put(gzip.compress(plain + bytes(2 * len(plain)))), everything))


def test_a_header_that_makes_no_sense_is_a_sentence(put, monkeypatch):
    for error in (KeyError("linkname"), ValueError("invalid literal"), struct.error("short")):

        def fail(*_: object, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr(tarfile, "open", fail)
        with pytest.raises(DataError, match="this archive is damaged or cut short"):
            list(members(put(WHOLE[""]), everything))
