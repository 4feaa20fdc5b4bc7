"""Where a fetched file came from is recorded, and a file that was swapped is found out."""

import hashlib
from pathlib import Path

import pytest

from workflow.datasets.fetched.origins import Origin, read, record, verify, write
from workflow.datasets.fetched.sources import Source
from workflow.runtime.errors import DataError
from workflow.runtime.integrity import Damaged, check_files, read_verified

RIGHT, BUNDLE = b"right", b"a bundle"


def checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


SOURCE = Source("toy", "a", "https://x/a", (), checksum(RIGHT), len(RIGHT), "free")
BY_HAND = Source("toy", "a", "https://x/a", (), "", 0, "a form")


def put(path: Path, content: bytes, kind: str) -> None:
    """Write a file with its record."""
    path.write_bytes(content)
    write(path, Origin(kind, checksum(content), len(content), "from somewhere"))


def test_the_record_lies_beside_the_file(tmp_path):
    put(tmp_path / "a.tar.gz", BUNDLE, "bundle")
    assert read_verified(tmp_path / "a.tar.gz.origin.json") == {
        "schema": 2,
        "from": "bundle",
        "note": "from somewhere",
        "files": {"a.tar.gz": {"sha256": checksum(BUNDLE), "bytes": len(BUNDLE)}},
    }
    check_files(tmp_path, read_verified(tmp_path / "a.tar.gz.origin.json")["files"])
    origin = Origin("bundle", checksum(BUNDLE), len(BUNDLE), "from somewhere")
    assert read(tmp_path / "a.tar.gz") == origin and read(tmp_path / "b") is None


@pytest.mark.parametrize(
    ("source", "content", "kind"),
    [
        (SOURCE, RIGHT, "url"),
        (SOURCE, RIGHT, "mirror"),
        (SOURCE, BUNDLE, "bundle"),
        (BY_HAND, BUNDLE, "bundle"),
        (BY_HAND, BUNDLE, "manual"),
        (BY_HAND, BUNDLE, "mirror"),
    ],
)
def test_a_file_is_verified_as_what_it_was_fetched_as(tmp_path, source, content, kind):
    path = tmp_path / "a"
    put(path, content, kind)
    verify(path, source)
    path.write_bytes(content.upper())
    message = f"a: expected sha256 {checksum(content)} .{len(content)} bytes., found"
    with pytest.raises(Damaged, match=message) as error:
        verify(path, source)
    assert error.value.path == path


@pytest.mark.parametrize("kind", ["url", "mirror"])
def test_a_record_does_not_excuse_other_bytes_than_the_listed(tmp_path, kind):
    put(tmp_path / "a", BUNDLE, kind)
    with pytest.raises(Damaged, match=f"a: expected sha256 {SOURCE.sha256} .5 bytes., found"):
        verify(tmp_path / "a", SOURCE)


def test_a_file_without_a_record_has_the_listed_bytes(tmp_path):
    path = tmp_path / "a"
    with pytest.raises(DataError, match="a: this file does not exist; fetch toy/a again"):
        verify(path, SOURCE)
    path.write_bytes(RIGHT)
    verify(path, SOURCE)
    with pytest.raises(DataError, match="nothing records where this file came from"):
        verify(path, BY_HAND)


def test_a_record_that_was_changed_is_found_out(tmp_path):
    """It would let a swapped file pass."""
    put(tmp_path / "a", BUNDLE, "bundle")
    other = BUNDLE.upper()
    (tmp_path / "a").write_bytes(other)
    told = record(tmp_path / "a")
    told.write_text(told.read_text().replace(checksum(BUNDLE), checksum(other)))
    with pytest.raises(Damaged, match=r"a\.origin\.json is damaged, or was changed") as error:
        verify(tmp_path / "a", SOURCE)
    assert error.value.path == told
