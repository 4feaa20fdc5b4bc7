"""enwik8: cut by bytes, every byte a symbol, and nothing else taken for it."""

import hashlib
from pathlib import Path

import pytest

from tests.datasets.folders import decoded, examples, zipped
from workflow.datasets import enwik8

TEXT = "".join(f"<page {n}>caf\u00e9 {n * n}\n" for n in range(30)).encode()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a small text be enwik8."""
    monkeypatch.setattr(enwik8, "BYTES", len(TEXT))
    monkeypatch.setattr(enwik8, "CHECKSUM", hashlib.sha256(TEXT).hexdigest())
    monkeypatch.setattr(enwik8, "USABLE", len(TEXT))


def text(folder: Path, split: str) -> bytes:
    """The text of a split from its numbers and the vocabulary."""
    [written] = decoded(folder, split)
    return bytes(int(s[1:-1], 16) if len(s) == 6 else ord(s) for s in written)


@pytest.mark.parametrize("source", ["official", "prefix"])
def test_the_text_is_cut_in_its_order_and_comes_back(take, small, tmp_path, source):
    files = {
        "official": {"enwik8.zip": zipped({"enwik8": TEXT})},
        "prefix": {"enwik8_prefix": TEXT + b" Hol Hol"},
    }
    manifest = take({"dataset": "enwik8", "source": source}, files[source])
    folder = tmp_path / "data" / "encoded"
    parts = [text(folder, split) for split in ("train", "dev", "test")]
    assert b"".join(parts) == TEXT
    assert len(parts[1]) == len(parts[2]) == len(TEXT) // 20
    assert manifest["statistics"]["symbols"] == len(set(TEXT))
    assert manifest["vocabulary_size"] == 3 + len(set(TEXT))
    assert {*examples(manifest).values()} == {1}


@pytest.mark.parametrize(
    ("source", "files", "says"),
    [
        ("official", {"enwik8.zip": zipped({"enwik8": TEXT[:-1]})}, "is not enwik8: expected"),
        ("official", {"enwik8.zip": zipped({"enwik8": TEXT[:-1] + b"!"})}, "is not enwik8"),
        ("official", {"enwik8.zip": zipped({"enwik9": TEXT})}, "holds no file enwik8"),
        ("prefix", {"enwik8_prefix": TEXT[:-1]}, "no prefix of enwik8: it has"),
    ],
)
def test_what_is_not_enwik8_is_told(refuse, small, source, files, says):
    refuse({"dataset": "enwik8", "source": source}, files, says)


def test_the_real_prefix(take, mirror, tmp_path):
    import lzma

    content = lzma.decompress((mirror / "enwik8_prefix" / "enwik8.xz").read_bytes())
    manifest = take({"dataset": "enwik8", "source": "prefix"}, {"enwik8_prefix": content})
    sizes = {split: manifest["splits"][split]["tokens"] for split in ("train", "dev", "test")}
    assert sizes == {"train": 3738961, "dev": 207719, "test": 207719}
    assert (tmp_path / "data" / "prepared" / "train.bin").read_bytes()[:10] == b"<mediawiki"
    assert b" Hol Hol" not in (tmp_path / "data" / "prepared" / "test.bin").read_bytes()[-200:]
