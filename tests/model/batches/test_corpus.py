from pathlib import Path

import numpy as np
import pytest

from model.batches.corpus import Corpus, read_lines, text_lines

ODD = ["a\rb", "c\r", "d\x85e", "f\u2028g", "h\x0ci", "\ufeffj", " k ", ""]
"""Sentences with what other readers of text take for the end of a line, and an empty one."""


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    (tmp_path / "manifest.json").write_text("{}")
    (tmp_path / "vocabulary.txt").write_bytes("".join(f"{word}\n" for word in ODD).encode())
    (tmp_path / "test.source.txt").write_bytes("".join(f"{text}\n" for text in ODD).encode())
    np.save(tmp_path / "test.tokens.npy", np.arange(len(ODD), dtype=np.int32))
    np.save(tmp_path / "test.offsets.npy", np.arange(len(ODD) + 1))
    return Corpus(tmp_path)


def test_lines_end_at_a_newline_alone(corpus: Corpus):
    assert read_lines(corpus, "test", "source") == ODD
    assert corpus.vocabulary == ODD


@pytest.mark.parametrize(("content", "lines"), [(b"a\nb", ["a", "b"]), (b"a\n\n", ["a", ""])])
def test_the_last_newline_ends_the_last_line(tmp_path: Path, content: bytes, lines: list[str]):
    (tmp_path / "file").write_bytes(content)
    assert text_lines(tmp_path / "file") == lines


def test_another_number_of_lines_is_refused(corpus: Corpus):
    (corpus.folder / "test.source.txt").write_text("a\n")
    with pytest.raises(ValueError, match="1 lines and the split 8 examples"):
        read_lines(corpus, "test", "source")


@pytest.mark.parametrize(
    ("name", "content"),
    [("manifest.json", b"\xff"), ("vocabulary.txt", b"\xff"), ("manifest.json", b'x"')],
)
def test_what_is_no_text_or_no_json_is_refused(corpus: Corpus, name: str, content: bytes):
    (corpus.folder / name).write_bytes(content)
    with pytest.raises(ValueError, match="is no encoded corpus"):
        Corpus(corpus.folder)
