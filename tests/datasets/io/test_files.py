"""Writing aside, reading with errors that name the line, and counts of what cannot be decoded."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.store.files import aside
from workflow.datasets.encoded.encoding import write_array
from workflow.datasets.io import multicore
from workflow.datasets.io.files import (
    by_name,
    read_lines,
    read_records,
    replacing,
    write_lines,
    write_records,
)
from workflow.datasets.io.left_out import LeftOut, read_placed
from workflow.datasets.io.multicore import chunks, in_order
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


@given(st.binary(), st.sampled_from(["utf-8", "ascii"]))
def test_every_byte_that_cannot_be_decoded_is_counted(content, encoding):
    left_out = LeftOut()
    text = left_out.decode(content, encoding)
    kept = text.replace("\ufffd", "")
    assert left_out.replaced_bytes >= text.count("\ufffd") - content.count("\ufffd".encode())
    if left_out.replaced_bytes == 0:
        assert text.encode(encoding) == content
    if "\ufffd".encode() not in content:
        assert len(kept.encode(encoding)) + left_out.replaced_bytes == len(content)


def test_two_wrong_bytes_by_hand():
    left_out = LeftOut()
    assert left_out.decode(b"caf\xc3\xa9 d\xe9j\xe0", "utf-8") == "café d\ufffdj\ufffd"
    assert left_out.replaced_bytes == 2


def test_lines_are_decoded_one_by_one(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"a\x85b\r\nc\xe9\n\nlast")
    left_out = LeftOut()
    lines = list(read_placed(path, left_out))
    assert [line for _, line in lines] == ["a\ufffdb", "c\ufffd", "", "last"]
    assert lines[1][0] == f"{path}, line 2" and left_out.replaced_bytes == 2


def test_chunks_have_all_items_in_order():
    assert list(chunks(range(7), 3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(chunks([], 3)) == []


@pytest.mark.parametrize("cores", [1, 2])
def test_results_come_in_order_and_few_chunks_are_read_ahead(monkeypatch, cores):
    monkeypatch.setattr(multicore, "cores", lambda: cores)
    taken = []

    def stream() -> Iterator[list[int]]:
        for number in range(40):
            taken.append(number)
            yield [0] * number

    results = in_order(len, stream())
    assert next(results) == 0
    assert len(taken) <= multicore.FEW + 1 + multicore.AHEAD * cores
    assert list(results) == list(range(1, 40))


def test_an_error_in_a_worker_ends_the_stream(monkeypatch):
    monkeypatch.setattr(multicore, "cores", lambda: 2)
    with pytest.raises(ValueError, match="invalid literal"):
        list(in_order(int, ["1", "2", "3", "4", "five", "6"]))


@pytest.mark.parametrize(("wanted", "given"), [(0, 1), (1, 1), (3, 3), (99, multicore.MOST)])
def test_the_number_of_cores_is_what_was_asked_for_within_limits(monkeypatch, wanted, given):
    monkeypatch.setattr(multicore, "_cores", 1)
    assert multicore.cores() == 1
    multicore.use(wanted)
    assert multicore.cores() == given


@pytest.mark.parametrize("cores", [1, 3])
def test_no_more_processes_are_started(monkeypatch, cores):
    monkeypatch.setattr(multicore, "_cores", cores)
    processes = {*in_order(process, range(40))}
    assert len(processes) <= cores
    assert (os.getpid() in processes) == (cores == 1)


def process(chunk: int) -> int:
    """The process that works on a chunk."""
    return os.getpid()
