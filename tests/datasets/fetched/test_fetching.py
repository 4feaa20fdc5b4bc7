"""Fetching: the mirror first, then by hand or from the address."""

import errno
import hashlib
import os

import pytest

from tests.datasets.loopback import CONTENT, NO_PAUSES, WRONG, Answer, mirror, source
from workflow.datasets.fetched import downloading, fetching, origins
from workflow.datasets.fetched.fetching import at_hand, fetch, put_by_hand
from workflow.datasets.fetched.origins import Origin
from workflow.runtime.errors import DataError

GOOD = Answer(body=CONTENT)


def test_the_mirror_comes_first(server, tmp_path):
    url = server.url("a", GOOD)
    folder = mirror(tmp_path / "mirror", CONTENT, url=url)
    origin = fetch(source(url), folder, tmp_path / "manual", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == CONTENT
    assert origin.kind == "mirror" and server.requests == []


@pytest.mark.parametrize("kind", ["the url's bytes", "bundle", "another kind"])
def test_what_the_mirror_lacks_is_downloaded(server, tmp_path, kind):
    url = server.url("a", GOOD)
    folder = mirror(tmp_path / "mirror", WRONG, url="http://x", kind=kind)
    origin = fetch(source(url), folder, tmp_path / "manual", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == CONTENT
    assert origin.kind == "url" and server.requests == ["/a"]


def test_a_wrong_file_of_the_mirror_is_not_made_up_for_by_a_download(server, tmp_path):
    url = server.url("a", GOOD)
    folder = mirror(tmp_path / "mirror", WRONG, url=url)
    with pytest.raises(DataError, match=r"is not toy/toy\.train"):
        fetch(source(url), folder, tmp_path / "manual", tmp_path / "out")
    assert not (tmp_path / "out").exists() and server.requests == []


def test_a_file_without_a_checksum_is_never_downloaded(server, tmp_path):
    url = server.url("a", GOOD)
    item = source(url, checksum="")
    with pytest.raises(DataError) as error:
        fetch(item, None, tmp_path / "manual", tmp_path / "out")
    message = str(error.value)
    assert message.startswith(f"{item.advice} whose index") and "free for all" in message
    assert f"get it from {url} and put it into the results folder" in item.advice
    place = tmp_path / "manual" / "toy" / "toy.train"
    assert not at_hand(item, None, tmp_path / "manual")
    assert not (tmp_path / "out").exists() and server.requests == []
    place.parent.mkdir(parents=True)
    place.write_bytes(WRONG)
    assert at_hand(item, None, tmp_path / "manual")
    assert not at_hand(source(url), None, tmp_path / "manual")
    origin = fetch(item, None, tmp_path / "manual", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == WRONG
    assert origin.kind == "manual" and origin.bytes == len(WRONG)
    assert origin.sha256 == hashlib.sha256(WRONG).hexdigest() and str(place) in origin.note


def test_a_file_got_by_hand_is_told_by_its_bytes_and_read_once_changed(tmp_path, monkeypatch):
    place, out = tmp_path / "manual" / "toy" / "toy.train", tmp_path / "out"
    assert put_by_hand(place, out) == ""
    place.parent.mkdir(parents=True)
    place.write_bytes(WRONG)
    checksum = put_by_hand(place, out)
    assert checksum == hashlib.sha256(WRONG).hexdigest()
    item = source("http://example.org", checksum="")
    origins.write(out, fetch(item, None, tmp_path / "manual", out))
    with monkeypatch.context() as patch:
        patch.setattr(fetching, "sha256", lambda path: pytest.fail(f"{path} was read"))
        assert put_by_hand(place, out) == checksum
    place.write_bytes(WRONG.swapcase())
    assert put_by_hand(place, out) == hashlib.sha256(WRONG.swapcase()).hexdigest()
    os.utime(place, ns=(1, 1))
    place.write_bytes(WRONG)
    assert put_by_hand(place, out) == checksum
    place.unlink()
    assert put_by_hand(place, out) == checksum
    origins.write(out, Origin("mirror", checksum, len(WRONG), "elsewhere"))
    place.write_bytes(WRONG.swapcase())
    assert put_by_hand(place, out) == "", "the mirror comes first"


def test_a_loop_of_links_where_a_person_puts_a_file_is_named(tmp_path):
    item, manual, out = source("http://nowhere/a", checksum=""), tmp_path / "manual", tmp_path / "o"
    place = manual / item.name
    place.parent.mkdir(parents=True)
    place.symlink_to(place)
    for ask in (
        lambda: at_hand(item, None, manual),
        lambda: fetch(item, None, manual, out),
        lambda: put_by_hand(place, out),
    ):
        with pytest.raises(DataError, match=f"^{place}: this link leads back to itself"):
            ask()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_gets_a_sentence_and_the_download_goes_on_later(
    server, tmp_path, monkeypatch, number
):
    url = server.url("a", Answer(body=CONTENT, sent=50_000), GOOD)

    def full(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    sentence = rf"disk is full; make room for toy/toy.train .{len(CONTENT)} bytes. and run again"
    folder = mirror(tmp_path / "mirror", CONTENT, url=url)
    with monkeypatch.context() as patch:
        patch.setattr("workflow.runtime.atomic.flush", full)
        with pytest.raises(DataError, match=rf"{sentence}\.$"):
            fetch(source(url), folder, tmp_path, tmp_path / "out")
    sentence += ", the download goes on where it stopped"
    with monkeypatch.context() as patch:
        patch.setattr(downloading, "flush", full)
        with pytest.raises(DataError, match=sentence):
            fetch(source(url), None, tmp_path, tmp_path / "out", NO_PAUSES)
    assert not (tmp_path / "out").exists()
    fetch(source(url), None, tmp_path, tmp_path / "out", NO_PAUSES)
    assert (tmp_path / "out").read_bytes() == CONTENT
    assert server.requests == ["/a", "/a bytes=50000-"]
