"""Archives read file by file, whole and damaged."""

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.datasets.folders import tar, zipped
from workflow.datasets.io.archives import members
from workflow.errors import DataError

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


WHOLE = {
    **{mode: tar(FILES, f"w:{mode}") for mode in ("", "gz", "bz2", "xz")},
    "zip": zipped(FILES),
}


@pytest.mark.parametrize("kind", WHOLE)
def test_files_come_back_in_the_archives_order(put, kind):
    path = put(WHOLE[kind])
    assert list(members(path, everything)) == list(FILES.items())
    assert [name for name, _ in members(path, lambda name: name.startswith("a/"))] == [
        "a/one",
        "a/none",
    ]


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


def test_a_zip_with_a_password_is_refused(put):
    content = bytearray(zipped({"a/one": b"1"}))
    for start, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # in each file's two headers
        at = content.find(start)
        while at >= 0:
            content[at + flags] |= 1
            at = content.find(start, at + 1)
    with pytest.raises(DataError, match="password"):
        list(members(put(bytes(content)), everything))


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
