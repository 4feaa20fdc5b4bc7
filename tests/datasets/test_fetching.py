"""Fetching from a mirror and from a server on this machine: only the right bytes are accepted."""

import hashlib
import lzma
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from workflow.datasets.errors import DataError
from workflow.datasets.fetching import fetch
from workflow.datasets.sources import Source

CONTENT = b"1 good\n0 dull\n" * 300
WRONG = CONTENT.replace(b"good", b"fine")
CHECKSUM = hashlib.sha256(CONTENT).hexdigest()
NO_PAUSES = (0.0, 0.0)


class Server(ThreadingHTTPServer):
    """Answers `/<name>` with the next of the answers planned for it, and counts the requests."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.plan: dict[str, list[tuple[int, bytes, int]]] = {}
        self.requests: list[str] = []

    def url(self, name: str, *answers: tuple[int, bytes, int]) -> str:
        """Plan the answers (status, body, announced length); the last one is repeated."""
        self.plan[f"/{name}"] = list(answers)
        return f"http://127.0.0.1:{self.server_address[1]}/{name}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.requests.append(self.path)
        answers = self.server.plan[self.path]
        status, body, length = answers.pop(0) if len(answers) > 1 else answers[0]
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""


GOOD = (200, CONTENT, len(CONTENT))
MISSING = (404, b"not here", 8)
BUSY = (503, b"", 0)
OTHER = (200, WRONG, len(WRONG))
BROKEN_OFF = (200, CONTENT[:1000], len(CONTENT))
SHORT = (200, CONTENT[:1000], 1000)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def source(url: str, *alternatives: str) -> Source:
    return Source("toy", "toy.train", url, alternatives, CHECKSUM, len(CONTENT), "none")


def mirror(folder: Path, url: str, content: bytes | None, kind: str = "the url's bytes") -> Path:
    """Write a mirror that lists one file."""
    (folder / "toy").mkdir(parents=True)
    if content is not None:
        (folder / "toy" / "file").write_bytes(content)
    row = [url, "toy/file", "0" * 64, "1", kind]
    lines = ["\t".join(("url", "file", "sha256", "bytes", "kind")), "\t".join(row)]
    (folder / "SOURCES.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_a_download_is_verified_and_written(server: Server, tmp_path: Path) -> None:
    fetch(source(server.url("a", GOOD)), None, tmp_path / "new" / "out")
    assert (tmp_path / "new" / "out").read_bytes() == CONTENT
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["out"]


@pytest.mark.parametrize("passing", [BUSY, BROKEN_OFF, SHORT], ids=["503", "cut", "short"])
def test_a_passing_fault_is_tried_again(
    server: Server, tmp_path: Path, passing: tuple[int, bytes, int]
) -> None:
    url = server.url("a", passing, passing, GOOD)
    fetch(source(url), None, tmp_path / "out", NO_PAUSES)
    assert (tmp_path / "out").read_bytes() == CONTENT
    assert server.requests == ["/a"] * 3


@pytest.mark.parametrize(
    ("answer", "requests", "reason"),
    [
        (MISSING, 1, "404 Not Found"),
        (BUSY, 3, "503 Service Unavailable"),
        (OTHER, 1, f"found {hashlib.sha256(WRONG).hexdigest()} ({len(WRONG)} bytes)"),
        (SHORT, 3, f"found {hashlib.sha256(CONTENT[:1000]).hexdigest()} (1000 bytes)"),
        (BROKEN_OFF, 3, "(1000 bytes"),
    ],
    ids=["404", "503", "wrong", "short", "cut"],
)
def test_a_wrong_answer_is_never_accepted(
    server: Server,
    tmp_path: Path,
    answer: tuple[int, bytes, int],
    requests: int,
    reason: str,
) -> None:
    url = server.url("a", answer)
    with pytest.raises(DataError) as error:
        fetch(source(url), None, tmp_path / "out", NO_PAUSES)
    message = str(error.value)
    assert message.startswith("toy/toy.train could not be downloaded") and url in message
    assert reason in message and "set `mirror` in the configuration" in message
    if answer in (OTHER, SHORT):
        assert f"expected sha256 {CHECKSUM} ({len(CONTENT)} bytes)" in message
    assert not list(tmp_path.iterdir())
    assert server.requests == ["/a"] * requests


def test_the_other_address_is_tried_next(server: Server, tmp_path: Path) -> None:
    first, second = server.url("a", MISSING), server.url("b", GOOD)
    fetch(source(first, second), None, tmp_path / "out", NO_PAUSES)
    assert (tmp_path / "out").read_bytes() == CONTENT
    assert server.requests == ["/a", "/b"]


def test_no_server_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"Connection refused.*check the network"):
        fetch(source("http://127.0.0.1:9/a"), None, tmp_path / "out", NO_PAUSES)


def test_a_wrong_file_leaves_the_right_one_alone(server: Server, tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(CONTENT)
    with pytest.raises(DataError):
        fetch(source(server.url("a", OTHER)), None, tmp_path / "out", NO_PAUSES)
    assert (tmp_path / "out").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("kind", "stored"),
    [("the url's bytes", CONTENT), ("xz of the url's bytes", lzma.compress(CONTENT))],
)
def test_the_mirror_comes_first(server: Server, tmp_path: Path, kind: str, stored: bytes) -> None:
    url = server.url("a", GOOD)
    folder = mirror(tmp_path / "mirror", url, stored, kind)
    fetch(source("http://127.0.0.1:9/other", url), folder, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == CONTENT
    assert server.requests == []


@pytest.mark.parametrize("listed", ["another address", "another kind"])
def test_what_the_mirror_lacks_is_downloaded(server: Server, tmp_path: Path, listed: str) -> None:
    url = server.url("a", GOOD)
    kind = "bundle" if listed == "another kind" else "the url's bytes"
    folder = mirror(tmp_path / "mirror", url if kind == "bundle" else "http://x", WRONG, kind)
    fetch(source(url), folder, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == CONTENT
    assert server.requests == ["/a"]


@pytest.mark.parametrize(
    ("kind", "stored", "sentence"),
    [
        ("the url's bytes", WRONG, f"expected sha256 {CHECKSUM} .*, found .* bytes.; replace it"),
        ("the url's bytes", CONTENT[:99], "found .* .99 bytes.; replace it"),
        ("xz of the url's bytes", lzma.compress(WRONG), "expected sha256 .*; replace it"),
        ("xz of the url's bytes", lzma.compress(CONTENT)[:-9], "it is not a whole xz file"),
        ("xz of the url's bytes", CONTENT, "it is not a whole xz file; replace it"),
        ("the url's bytes", None, "lists this file for toy/toy.train, but it does not exist"),
    ],
)
def test_a_wrong_file_of_the_mirror_is_never_accepted(
    server: Server, tmp_path: Path, kind: str, stored: bytes | None, sentence: str
) -> None:
    url = server.url("a", GOOD)
    folder = mirror(tmp_path / "mirror", url, stored, kind)
    with pytest.raises(DataError, match=sentence) as error:
        fetch(source(url), folder, tmp_path / "out")
    assert str(folder / "toy" / "file") in str(error.value)
    assert not (tmp_path / "out").exists() and server.requests == []


def test_a_mirror_that_is_none_gets_a_sentence(tmp_path: Path) -> None:
    item = source("http://127.0.0.1:9/a")
    with pytest.raises(DataError, match=r"The mirror .*/nowhere is not a folder; correct `mirror`"):
        fetch(item, tmp_path / "nowhere", tmp_path / "out")
    with pytest.raises(DataError, match=r"has no index SOURCES.tsv; add it, or remove `mirror`"):
        fetch(item, tmp_path, tmp_path / "out")
    (tmp_path / "SOURCES.tsv").write_text("url\tpath\n")
    with pytest.raises(
        DataError, match=r"SOURCES.tsv: the first line lacks the columns file, kind"
    ):
        fetch(item, tmp_path, tmp_path / "out")
