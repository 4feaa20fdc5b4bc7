"""A real HTTP server on this machine that answers as planned, and sources and mirrors to match."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from workflow.datasets.fetched.sources import Source

CONTENT = b"".join(b"%d good\n%d dull\n" % (n, n) for n in range(9000))  # 3 chunks of a download
WRONG = CONTENT.replace(b"good", b"fine")
CHECKSUM = hashlib.sha256(CONTENT).hexdigest()
NO_PAUSES = (0.0, 0.0)


@dataclass(frozen=True)
class Answer:
    """One answer: a status, and what of a body is sent before the connection is cut."""

    status: int = 200
    body: bytes = b""
    sent: int | None = None
    """Bytes that are sent before the connection is cut; all of them if None."""
    ranges: bool = True
    """Whether a range that is asked for is honoured."""
    length: bool = True
    """Whether the length is announced."""
    shift: int = 0
    """How many bytes too late a range begins."""
    headers: dict[str, str] = field(default_factory=dict)


class Server(ThreadingHTTPServer):
    """Answers `/<name>` with the next of the answers planned for it; the last one is repeated."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.plan: dict[str, list[Answer]] = {}
        self.requests: list[str] = []
        """What was asked for: the name, and the range if any."""

    def url(self, name: str, *answers: Answer) -> str:
        """Plan the answers for a name; return its address."""
        self.plan[f"/{name}"] = list(answers)
        return f"http://127.0.0.1:{self.server_address[1]}/{name}"

    @classmethod
    @contextmanager
    def running(cls) -> Iterator["Server"]:
        """A server that answers until the block ends."""
        with cls() as server:
            thread = threading.Thread(target=server.serve_forever, args=(0.01,))
            thread.start()
            yield server
            server.shutdown()
            thread.join()


class Handler(BaseHTTPRequestHandler):
    """Sends the planned answer."""

    server: Server

    def do_GET(self) -> None:
        """Answer the next request for a name."""
        asked = self.headers.get("Range", "")
        self.server.requests.append(f"{self.path} {asked}".strip())
        answers = self.server.plan[self.path]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        status, body, start = answer.status, answer.body, 0
        if asked and answer.ranges and status == 200:
            start = int(asked.removeprefix("bytes=").removesuffix("-")) + answer.shift
            status = 206 if start < len(body) else 416
        self.send_response(status)
        if status == 206 != answer.status:
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        if answer.length:
            self.send_header("Content-Length", str(len(body) - start))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if status != 416:
            self.wfile.write(body[start : answer.sent])

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""


def source(url: str, *alternatives: str, checksum: str = CHECKSUM) -> Source:
    """A source of `CONTENT`; one to get by hand with an empty checksum."""
    size = len(CONTENT) if checksum else 0
    return Source("toy", "toy.train", url, alternatives, checksum, size, "free for all")


def mirror(folder: Path, content: bytes | None, **row: str) -> Path:
    """Write a mirror whose index lists one file, by default rightly and as plain bytes."""
    (folder / "toy").mkdir(parents=True)
    if content is not None:
        (folder / "toy" / "file").write_bytes(content)
    checksum, size = hashlib.sha256(content or b"").hexdigest(), str(len(content or b""))
    right = {"url": "", "file": "toy/file", "sha256": checksum, "bytes": size}
    right |= {"kind": "the url's bytes", "unpacked_sha256": "", "stands_for": "", **row}
    lines = ["\t".join(right), "\t".join(right.values())]
    (folder / "SOURCES.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder
