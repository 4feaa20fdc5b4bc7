"""Downloading from a server on this machine: resumed, tried again, and only the right bytes."""

import errno
import hashlib
import socket
import urllib.error
import urllib.request
from dataclasses import replace
from email.utils import formatdate
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.datasets.loopback import CHECKSUM, CONTENT, NO_PAUSES, WRONG, Answer, Server, source
from workflow.datasets.fetched import downloading
from workflow.datasets.fetched.downloading import download
from workflow.runtime.errors import DataError

SIZE = len(CONTENT)
CUT = 50_000
GOOD = Answer(body=CONTENT)
MISSING = Answer(404, b"not here")
BUSY = Answer(503)
OTHER = Answer(body=WRONG)
SHORT = Answer(body=CONTENT[:1000])
BROKEN_OFF = Answer(body=CONTENT, sent=CUT)
MARKS = ("ETag", "Last-Modified", "length")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_download_is_verified_and_written(server, tmp_path):
    url = server.url("a", GOOD)
    origin = download(source(url), tmp_path / "new" / "out")
    assert (tmp_path / "new" / "out").read_bytes() == CONTENT
    assert names(tmp_path / "new") == ["out"]
    assert (origin.kind, origin.sha256, origin.bytes) == ("url", CHECKSUM, SIZE)
    assert origin.note == url


def versions(mark: str) -> list[Answer]:
    """The beginning of one version of a file, and all of the next, told apart by a mark."""
    if mark == "length":
        return [Answer(body=WRONG + b"!", sent=CUT), GOOD]
    old, new = ({mark: f'"{version}"'} for version in ("old", "new"))
    return [Answer(body=WRONG, sent=CUT, headers=old), Answer(body=CONTENT, headers=new)]


def without_ranges(length: bool) -> list[Answer]:
    """The beginning of a file and then all of it, whatever range is asked for."""
    whole = Answer(body=CONTENT, ranges=False, length=length)
    return [replace(whole, sent=CUT), whole]


AGAIN = ["/a", f"/a bytes={CUT}-"]
RECOVERIES: dict[str, tuple[list[Answer], list[str]]] = {
    **{str(n): ([Answer(n), Answer(n), GOOD], ["/a"] * 3) for n in (503, 429, 500)},
    "broken off": (
        [*(Answer(body=CONTENT, sent=CUT * n) for n in (1, 2, 3)), GOOD],
        ["/a", *(f"/a bytes={CUT * n}-" for n in (1, 2, 3))],
    ),
    "no ranges, length announced": (without_ranges(True), AGAIN),
    "no ranges, length unknown": (without_ranges(False), AGAIN),
    **{f"another {mark}": (versions(mark), [*AGAIN, "/a"]) for mark in MARKS},
    "pieces of two versions": ([Answer(body=WRONG, sent=CUT), GOOD], [*AGAIN, "/a"]),
    "now shorter": (
        [Answer(body=CONTENT + b"more", sent=SIZE - 1), Answer(416), GOOD],
        ["/a", f"/a bytes={SIZE - 1}-", "/a"],
    ),
    "a range from elsewhere": ([BROKEN_OFF, Answer(body=CONTENT, shift=1), GOOD], [*AGAIN, "/a"]),
}


@pytest.mark.parametrize(("answers", "requests"), RECOVERIES.values(), ids=RECOVERIES)
def test_a_fault_is_recovered_from(server, tmp_path, answers, requests):
    """Passing faults are tried again, what broke off is resumed, and no two versions are glued."""
    url = server.url("a", *answers)
    download(source(url), tmp_path / "out", NO_PAUSES)
    assert (tmp_path / "out").read_bytes() == CONTENT
    assert server.requests == requests
    assert names(tmp_path) == ["out"]


def test_what_has_arrived_outlives_the_program(server, tmp_path):
    url = server.url("a", BROKEN_OFF, MISSING, GOOD)
    with pytest.raises(DataError, match="404 Not Found"):
        download(source(url), tmp_path / "out", NO_PAUSES)
    assert names(tmp_path) == [".out.part"]
    download(source(url), tmp_path / "out", NO_PAUSES)
    assert (tmp_path / "out").read_bytes() == CONTENT
    assert server.requests[-1] == f"/a bytes={CUT}-"


def test_every_bit_of_progress_earns_new_attempts(server, tmp_path):
    steps = [Answer(body=CONTENT, sent=1 + 25_000 * n) for n in range(7)]
    url = server.url("a", *steps, GOOD)
    download(source(url), tmp_path / "out", (0.0,))
    assert (tmp_path / "out").read_bytes() == CONTENT
    assert len(server.requests) == len(steps) + 1


def test_a_server_that_always_breaks_off_is_given_up(server, tmp_path):
    url = server.url("a", Answer(body=CONTENT, sent=CUT, ranges=False))
    with pytest.raises(DataError, match=rf"it broke off after {CUT} of {SIZE} bytes"):
        download(source(url), tmp_path / "out", NO_PAUSES)
    assert len(server.requests) == 3
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("right", [True, False])
def test_another_address_continues_what_arrived_and_the_checksum_decides(server, tmp_path, right):
    first = server.url("a", Answer(body=CONTENT if right else WRONG, sent=CUT), MISSING)
    second = server.url("b", GOOD)
    download(source(first, second), tmp_path / "out", NO_PAUSES)
    assert (tmp_path / "out").read_bytes() == CONTENT
    anew = [] if right else ["/b"]
    assert server.requests == ["/a", f"/a bytes={CUT}-", f"/b bytes={CUT}-", *anew]


WEAK: dict[str, list[dict[str, str]]] = {
    "no Last-Modified later": [{"Last-Modified": "Mon, 02 Feb 2026 00:00:00 GMT"}, {}],
    "an ETag later": [{}, {"ETag": '"a"'}],
    "an ETag of each server": [{"ETag": f'"{n}"'} for n in range(3)],
}


@pytest.mark.parametrize("headers", WEAK.values(), ids=WEAK)
@pytest.mark.parametrize("length", [True, False])
def test_what_a_server_says_of_the_version_costs_no_byte(server, tmp_path, headers, length):
    steps = [
        Answer(body=CONTENT, sent=CUT * n, headers=said, length=length or n > 1)
        for n, said in enumerate(headers, start=1)
    ]
    url = server.url("a", *steps, GOOD)
    download(source(url), tmp_path / "out", NO_PAUSES)
    assert (tmp_path / "out").read_bytes() == CONTENT
    asked = [f"/a bytes={CUT * n}-" for n in range(1, len(steps) + 1)]
    assert server.requests == ["/a", *asked]


@pytest.mark.parametrize("span", ["bytes {0}-{1}/*", ""], ids=["length unknown", "no range named"])
def test_a_part_whose_extent_is_not_named_is_taken_as_asked(server, tmp_path, span):
    rest = Answer(206, CONTENT[CUT:], headers={"Content-Range": span.format(CUT, SIZE - 1)})
    url = server.url("a", BROKEN_OFF, replace(rest, ranges=False))
    download(source(url), tmp_path / "out", NO_PAUSES)
    assert (tmp_path / "out").read_bytes() == CONTENT
    assert server.requests == AGAIN


def test_a_part_that_is_whole_needs_no_request(server, tmp_path):
    url = server.url("a", MISSING)
    (tmp_path / ".out.part").write_bytes(CONTENT)
    download(source(url), tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == CONTENT and server.requests == []


@pytest.mark.parametrize(
    ("answer", "requests", "reason"),
    [
        (MISSING, 1, "404 Not Found"),
        (BUSY, 3, "503 Service Unavailable"),
        (OTHER, 1, f"found {hashlib.sha256(WRONG).hexdigest()} ({len(WRONG)} bytes)"),
        (SHORT, 1, f"found {hashlib.sha256(CONTENT[:1000]).hexdigest()} (1000 bytes)"),
        (Answer(body=CONTENT * 9), 1, f"({SIZE + 1} bytes)"),
    ],
    ids=["404", "503", "wrong", "short", "long"],
)
def test_a_wrong_answer_is_never_accepted(server, tmp_path, answer, requests, reason):
    url = server.url("a", answer)
    with pytest.raises(DataError) as error:
        download(source(url), tmp_path / "out", NO_PAUSES)
    message = str(error.value)
    assert message.startswith("toy/toy.train could not be downloaded") and url in message
    assert reason in message and "set `mirror` in the configuration" in message
    assert not (tmp_path / "out").exists()
    assert server.requests == ["/a"] * requests
    if answer in (MISSING, BUSY):
        assert names(tmp_path) == []
    else:
        assert f"expected sha256 {CHECKSUM} ({SIZE} bytes)" in message
        assert f"kept as {tmp_path / 'out.wrong'}" in message
        assert names(tmp_path) == ["out.wrong"]
        assert (tmp_path / "out.wrong").read_bytes() == answer.body[: SIZE + 1]


def test_a_wrong_file_leaves_the_right_one_alone(server, tmp_path):
    (tmp_path / "out").write_bytes(CONTENT)
    with pytest.raises(DataError):
        download(source(server.url("a", OTHER)), tmp_path / "out", NO_PAUSES)
    assert (tmp_path / "out").read_bytes() == CONTENT


def test_the_other_address_is_tried_next(server, tmp_path):
    first, second = server.url("a", OTHER), server.url("b", GOOD)
    origin = download(source(first, second), tmp_path / "out", NO_PAUSES)
    assert (tmp_path / "out").read_bytes() == CONTENT and origin.note == second
    assert server.requests == ["/a", "/b"]


def test_a_redirect_is_followed_also_when_resuming(server, tmp_path):
    there = server.url("there", BROKEN_OFF, GOOD)
    url = server.url("a", Answer(302, headers={"Location": there}))
    download(source(url), tmp_path / "out", NO_PAUSES)
    assert (tmp_path / "out").read_bytes() == CONTENT
    assert server.requests == ["/a", "/there", f"/a bytes={CUT}-", f"/there bytes={CUT}-"]


def test_a_server_that_is_gone_gets_a_sentence(tmp_path):
    with Server.running() as server:
        url = server.url("a", GOOD)
    with pytest.raises(DataError, match=r"Connection refused.*check the network"):
        download(source(url), tmp_path / "out", NO_PAUSES)


@pytest.mark.parametrize(
    "reason",
    [socket.gaierror(-3, "Temporary failure in name resolution"), OSError(errno.ENETUNREACH, "no")],
)
def test_without_a_network_the_sentence_comes_at_once(tmp_path, monkeypatch, reason):
    pauses: list[float] = []
    monkeypatch.setattr(downloading.time, "sleep", pauses.append)

    def ask(*_: object, **__: object) -> None:
        raise urllib.error.URLError(reason)

    monkeypatch.setattr(urllib.request, "urlopen", ask)
    with pytest.raises(DataError, match="check the network"):
        download(source("http://a.example"), tmp_path / "out")
    assert pauses == [1.0]


def test_a_network_that_goes_meanwhile_is_waited_for(server, tmp_path, monkeypatch):
    pauses: list[float] = []
    monkeypatch.setattr(downloading.time, "sleep", pauses.append)
    url = server.url("a", BUSY, GOOD)
    open_url, asked = urllib.request.urlopen, count()

    def ask(*given: Any, **more: Any) -> Any:
        if next(asked) in (1, 2):
            raise urllib.error.URLError(socket.gaierror(-3, "Temporary failure"))
        return open_url(*given, **more)

    monkeypatch.setattr(urllib.request, "urlopen", ask)
    download(source(url), tmp_path / "out")
    assert pauses == [1.0, 2.0, 4.0]


def test_a_server_that_says_nothing_gets_a_sentence(server, tmp_path, monkeypatch):
    monkeypatch.setattr(downloading, "TIMEOUT", 0.2)
    server.shutdown()
    with pytest.raises(DataError, match="timed out"):
        download(source(server.url("a", GOOD)), tmp_path / "out", (0.0,))


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("7", 7), (formatdate(1_000_030, usegmt=True), 30), (formatdate(5, usegmt=True), 0)],
    ids=["seconds", "date", "past"],
)
def test_a_server_says_when_to_come_back(server, tmp_path, monkeypatch, capsys, value, seconds):
    waited: list[float] = []
    clock = SimpleNamespace(sleep=waited.append, time=lambda: 1_000_000, monotonic=lambda: 0)
    monkeypatch.setattr(downloading, "time", clock)
    url = server.url("a", Answer(503, headers={"Retry-After": value}), GOOD)
    download(source(url), tmp_path / "out", (2.0,))
    assert waited == [max(2, seconds)]
    said = f"503 Service Unavailable; trying again in {max(2, seconds)} s"
    assert said in capsys.readouterr().err


def test_too_long_a_wait_is_not_waited_for(server, tmp_path):
    url = server.url("a", Answer(429, headers={"Retry-After": "86400"}))
    with pytest.raises(DataError, match="429 Too Many Requests, to be asked again in 86400 s"):
        download(source(url), tmp_path / "out")
    assert server.requests == ["/a"]


def test_a_long_download_says_how_far_it_is(server, tmp_path, monkeypatch, capsys):
    seconds = count(step=5)
    monkeypatch.setattr(downloading, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    monkeypatch.setattr(downloading, "CHUNK", 50_000)
    download(source(server.url("a", GOOD)), tmp_path / "out")
    line = capsys.readouterr().err.splitlines()[0]
    assert line.startswith("toy/toy.train: ") and f" of {SIZE / 1e6:.1f} MB, " in line
    assert line.endswith(" s left")
