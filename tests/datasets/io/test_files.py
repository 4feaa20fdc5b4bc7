"""Writing aside and reading with errors that name the line."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model.store.files import aside
from workflow.datasets.encoded.encoding import write_array
from workflow.datasets.io.files import (
    by_name,
    read_lines,
    read_records,
    replacing,
    write_lines,
    write_records,
)
from workflow.errors import DataError


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "folder" / "file"
    write_lines(path, ["old"])
    with pytest.raises(RuntimeError), replacing(path) as stream:
        stream.write(b"half")
        raise RuntimeError
    assert path.read_text() == "old\n"
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]


WRITERS: dict[str, Callable[[Path], None]] = {
    "lines": lambda path: write_lines(path, ["a"]),
    "arrays": lambda path: write_array(path, np.zeros(9)),
}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_the_error_of_a_full_disk_names_the_file(tmp_path, monkeypatch, write):
    path = tmp_path / "train.tokens.npy"

    @contextmanager
    def full(target: Path) -> Iterator[Path]:
        with aside(target) as hidden:
            hidden.symlink_to("/dev/full" if target == path else tmp_path / "elsewhere")
            yield hidden

    monkeypatch.setattr("workflow.datasets.io.files.aside", full)
    with pytest.raises(OSError, match="No space left on device") as error:
        write(path)
    assert error.value.filename == str(path)


def test_records_come_back_as_written(tmp_path):
    records: list[dict[str, Any]] = [
        {"text": "café \u2028 1\xa01/2", "label": 1},
        {"text": "a", "salient": [0]},
    ]
    write_records(tmp_path / "r.jsonl", records)
    assert list(read_records(tmp_path / "r.jsonl")) == records


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty; delete it and make it again"),
        (b"one\ntw", "ends in the middle of its last line"),
        (b"one\ncaf\xe9\n", r"line 2: byte 4 is not UTF-8; delete"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, content, sentence):
    path = tmp_path / "broken"
    path.write_bytes(content)
    with pytest.raises(DataError, match=sentence) as error:
        list(read_lines(path))
    assert str(path) in str(error.value)


@pytest.mark.parametrize("line", ['{"text": "a"', "[1]", '{"label": 1}', '{"text": 3}'])
def test_a_damaged_record_is_named(tmp_path, line):
    write_lines(tmp_path / "r.jsonl", ['{"text": "a"}', line])
    with pytest.raises(DataError, match=r"r.jsonl, line 2: expected a JSON object with a"):
        list(read_records(tmp_path / "r.jsonl"))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"nowhere: this dataset file does not exist"):
        list(read_lines(tmp_path / "nowhere"))
    with pytest.raises(DataError, match=r"source file b is missing; the files given are: .*/a"):
        by_name([tmp_path / "a"], "b")
