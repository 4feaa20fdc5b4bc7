"""The manifest: checksums, digest, and being written last."""

import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from workflow.datasets.encoded.encoding import EncodedSplit, write_encoded
from workflow.datasets.io.checksums import read_manifest


def write(out: Path, tokens: list[int], statistics: dict[str, Any] | None = None) -> dict[str, Any]:
    split = EncodedSplit(np.array(tokens), np.array([len(tokens)]))
    files = ["manifest.json", "vocabulary.txt", "train.tokens.npy", "train.offsets.npy"]
    corpus = SimpleNamespace(name="toy", options={"a": 1}, encoded=files)
    write_encoded(corpus, out, ["x", "y"], {"train": split}, statistics or {})
    return read_manifest(out)


def test_the_manifest_describes_every_file(tmp_path):
    manifest = write(tmp_path, [3, 4, 3])
    assert manifest["schema"] == 1
    assert manifest["options"] == {"a": 1}
    assert manifest["vocabulary_size"] == 5
    on_disk = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    del on_disk["manifest.json"]
    assert manifest["files"] == {
        name: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        for name, content in on_disk.items()
    }
    lines = "".join(
        f"{name} {hashlib.sha256(on_disk[name]).hexdigest()}\n" for name in sorted(on_disk)
    )
    assert manifest["digest"] == hashlib.sha256(lines.encode()).hexdigest()


def test_the_digest_depends_on_contents_only(tmp_path):
    digest = write(tmp_path / "a", [3, 4])["digest"]
    assert write(tmp_path / "b", [3, 4], {"median": 2})["digest"] == digest
    assert write(tmp_path / "c", [4, 3])["digest"] != digest


def test_no_manifest_is_left_when_writing_stops_halfway(tmp_path, monkeypatch):
    write(tmp_path, [3, 4])

    def full(*_: object, **__: object) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr("numpy.save", full)
    with pytest.raises(OSError, match="No space left"):
        write(tmp_path, [4, 3])
    assert not (tmp_path / "manifest.json").exists()
    assert not list(tmp_path.glob(".*.part"))
