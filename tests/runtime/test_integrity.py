"""Sealed files: what was written is what is read, and no bit can be another one unseen."""

import errno
import hashlib
import json
import math
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sealing import flip
from workflow.runtime.integrity import (
    Damaged,
    check_files,
    checksums_of,
    quarantine,
    read_digest_prefixed,
    read_verified,
    sha256,
    unpack_archive,
    with_checksum,
    with_digest_prefix,
    write_archive,
)

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | FLOATS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text().filter(lambda key: key != "sha256"), VALUES, min_size=1)


RUN = {"run": {"seed": 3}, "loss": [0.25, None, "é"]}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file to write to."""
    return tmp_path_factory.mktemp("sealed") / "file.json"


@given(value=OBJECTS, indent=st.sampled_from([None, 1, 2]))
def test_what_is_sealed_is_json_with_a_checksum_of_what_follows(path, value, indent):
    path.write_bytes(with_checksum(value, indent=indent))
    assert read_verified(path) == value
    checksum, _, rest = path.read_bytes().partition(b",")
    told = json.loads(path.read_bytes())
    assert told.pop("sha256") == hashlib.sha256(rest).hexdigest()
    assert checksum.decode() == f'{{"sha256": "{hashlib.sha256(rest).hexdigest()}"'
    assert told == value


@pytest.mark.parametrize(
    ("whole", "read", "value"),
    [
        (with_checksum(RUN, indent=1), read_verified, RUN),
        (with_digest_prefix(b"weights"), read_digest_prefixed, b"weights"),
    ],
    ids=["sealed", "stamped"],
)
def test_each_bit_of_a_file_counts(path, whole, read, value):
    path.write_bytes(whole)
    assert read(path) == value
    for bit in range(8 * len(whole)):
        path.write_bytes(whole)
        flip(path, bit)
        with pytest.raises(Damaged, match=r"file.json is damaged") as found:
            read(path)
        assert found.value.path == path


@given(value=OBJECTS, data=st.data())
def test_a_file_that_is_cut_short_or_longer_is_damaged(path, value, data):
    whole = with_checksum(value)
    kept = data.draw(st.integers(0, len(whole) - 1))
    for content in (whole[:kept], whole + b"\n"):
        path.write_bytes(content)
        with pytest.raises(Damaged):
            read_verified(path)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_json_does_not_have_is_refused(number):
    with pytest.raises(ValueError, match="JSON"):
        with_checksum({"loss": number})


def test_files_are_compared_with_what_was_listed(tmp_path):
    for name in ("weights", "below/history"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    files = checksums_of(tmp_path, ["weights", "below/history"])
    assert files["weights"] == {"sha256": hashlib.sha256(b"weights").hexdigest(), "bytes": 7}
    assert sha256(tmp_path / "below/history") == files["below/history"]["sha256"]
    check_files(tmp_path, files)
    flip(tmp_path / "below/history", 5)
    with pytest.raises(Damaged, match="below/history is damaged") as found:
        check_files(tmp_path, files)
    assert found.value.path == tmp_path / "below/history"
    (tmp_path / "below/history").unlink()
    with pytest.raises(Damaged, match="below/history is missing"):
        check_files(tmp_path, files)


def test_what_is_set_aside_replaces_what_was_before(tmp_path):
    for content in ("first", "second"):
        folder = tmp_path / "result"
        folder.mkdir()
        (folder / "weights").write_text(content)
        aside = quarantine(folder)
        assert not folder.exists() and aside.name == "result.damaged"
        assert (aside / "weights").read_text() == content
    file = tmp_path / "result"
    file.write_text("a file in its place")
    assert quarantine(file).read_text() == "a file in its place"
    assert quarantine(file) == aside
    assert aside.read_text() == "a file in its place", "set aside by another process: kept"


def test_an_archive_that_unpacks_to_more_than_is_free_is_refused_before_it_is_unpacked(
    tmp_path, monkeypatch
):
    archive, folder = tmp_path / "results.tar.gz", tmp_path / "here"
    folder.mkdir()
    write_archive(archive, {"zeros": bytes(1 << 20)}, "listing.json", {"schema": 1})
    assert archive.stat().st_size < 1 << 12
    free = {"free": 1 << 20}  # enough for the zeros, and not for the listing
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(**free))
    with pytest.raises(OSError, match=r"unpacked it takes 10\d+ bytes") as error:
        unpack_archive(archive, "listing.json", folder)
    assert error.value.errno == errno.ENOSPC and not [*folder.iterdir()]
    free["free"] *= 2
    assert unpack_archive(archive, "listing.json", folder)["schema"] == 1
