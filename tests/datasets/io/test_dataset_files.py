"""Writing aside, reading with errors that name the line, and counts of what cannot be decoded."""

import bz2
import gzip
import json
import lzma
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.datasets.folders import zipped
from workflow.datasets.encoded.encoding import write_array
from workflow.datasets.io import multicore
from workflow.datasets.io.dataset_files import (
    by_name,
    parse_json,
    read_lines,
    read_records,
    replacing,
    write_lines,
    write_records,
)
from workflow.datasets.io.left_out import (
    Dropped,
    cells,
    read_exact,
    read_placed,
    read_rows,
    read_text,
)
from workflow.datasets.io.multicore import chunks, in_order
from workflow.runtime.atomic import atomic_path
from workflow.runtime.errors import DataError


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
        with atomic_path(target) as hidden:
            hidden.symlink_to("/dev/full" if target == path else tmp_path / "elsewhere")
            yield hidden

    monkeypatch.setattr("workflow.datasets.io.dataset_files.atomic_path", full)
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
    assume(BOM not in content)
    left_out = Dropped()
    text = left_out.decode_line(Path("a"), content, encoding)
    kept = text.replace("\ufffd", "")
    assert left_out.replaced_bytes >= text.count("\ufffd") - content.count("\ufffd".encode())
    if left_out.replaced_bytes == 0:
        assert text.encode(encoding) == content
    if "\ufffd".encode() not in content:
        assert len(kept.encode(encoding)) + left_out.replaced_bytes == len(content)


def test_lines_are_decoded_one_by_one(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"a\x85b\r\nc\xe9\n\nlast")
    left_out = Dropped()
    lines = list(read_placed(path, left_out))
    assert [line for _, line in lines] == ["a\ufffdb", "c\ufffd", "", "last"]
    assert lines[1][0] == f"{path}, line 2" and left_out.replaced_bytes == 2


BOM = b"\xef\xbb\xbf"


def test_a_mark_at_the_head_of_a_line_is_no_part_of_it(tmp_path):
    path = tmp_path / "f"
    marked = [BOM + BOM + b"the\n", BOM + b"b" + BOM + b"c\n", b"\xf0\n"]
    for pack in (bytes, gzip.compress):
        path.write_bytes(b"".join(map(pack, marked)))  # two members, as `cat` puts them together
        left_out = Dropped()
        assert list(read_text(path, left_out)) == ["the", "b\ufeffc", "\ufffd"]
        path.write_bytes(b"".join(map(pack, marked[:2])))
        assert [line for _, line in read_exact(path)] == ["the", "b\ufeffc"]
    assert Dropped().decode(path, b"".join(marked)) == "the\nb\ufeffc\n\ufffd\n"
    assert Dropped().decode(path, BOM + b"the\n" + BOM, "latin-1") == "the\n\xef\xbb\xbf"


def test_zeros_are_replaced_and_counted_and_refused_where_every_byte_must_be_right(tmp_path):
    left_out = Dropped()
    assert left_out.decode(Path("a"), b"a\0b \x01\0") == "a\ufffdb \x01\ufffd"
    assert left_out.mend("c\0") == "c\ufffd" and left_out.replaced_bytes == 3
    assert left_out.decoded[Path("a")].wrong == 2
    for content in (b"one\nt\0o\n", b"one\ntw\xe9\n"):
        (tmp_path / "f").write_bytes(content)
        with pytest.raises(DataError, match="f, line 2: this line is not UTF-8 or has a zero byt"):
            list(read_exact(tmp_path / "f"))


WORDS = "M\xe4nner und Frauen gehen spazieren.\n"


@pytest.mark.parametrize(
    ("content", "wrong"),
    [(WORDS.encode("latin-1") * 11, 11), (bytes(5000), 5000)],
    ids=["Latin-1", "no text"],
)
def test_a_file_in_another_encoding_is_refused_with_the_count(tmp_path, content, wrong):
    path, left_out = tmp_path / "f", Dropped()
    path.write_bytes(content)
    list(read_text(path, left_out))
    with pytest.raises(DataError, match=rf"f: {wrong} of \d+ bytes are no text in utf-8, so the f"):
        left_out.check()


def test_the_bytes_of_all_texts_of_an_archive_count_together(tmp_path):
    left_out = Dropped()
    for _ in range(11):
        left_out.decode(tmp_path / "archive", WORDS.encode("latin-1"))
        left_out.decode(tmp_path / "right", WORDS.encode())
    with pytest.raises(DataError, match=r"archive: 11 of \d+ bytes are no text"):
        left_out.check()


@pytest.mark.parametrize("content", [WORDS.encode("latin-1") * 10, (b"x" * 999 + b"\xe4") * 99])
def test_a_few_wrong_bytes_are_only_counted(tmp_path, content):
    path, left_out = tmp_path / "f", Dropped()
    path.write_bytes(content)
    list(read_text(path, left_out))
    left_out.check()
    assert left_out.replaced_bytes == content.count(b"\xe4")
    left_out.write(tmp_path)
    counts = {"dropped": {}, "replaced_bytes": left_out.replaced_bytes}
    assert json.loads((tmp_path / "counts.json").read_text()) == counts


ROWS = ("eins\tMenschen gehen\n", "\u043e\u0434\u0438\u043d\t\u0438\n" * 9, "\u4e00\t\u4e01\n" * 9)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("rows", ROWS, ids=["Latin", "Cyrillic", "Chinese"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_an_encoding_without_a_mark_is_named(tmp_path, encoding, rows, packed):
    content = rows.encode(encoding)
    (path := tmp_path / "f").write_bytes(gzip.compress(content) if packed else content)
    name = encoding[:6].upper()
    with pytest.raises(DataError, match=rf"f: this text is in {name}; save it as UTF-8"):
        list(read_rows(path, Dropped()))
    with pytest.raises(DataError, match=name):
        Dropped().decode(path, content)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (f"\ufeff{WORDS}".encode("utf-16"), "in UTF-16; save it as UTF-8"),
        (f"\ufeff{WORDS}".encode("utf-16-be"), "in UTF-16; save it as UTF-8"),
        (f"\ufeff{WORDS}".encode("utf-32-le"), "in UTF-32; save it as UTF-8"),
        ("für größere Öfen\n".encode("utf-7") * 9, "in UTF-7; save it as UTF-8"),
        ("Привет мир, как дела\n".encode("utf-7") * 9, "in UTF-7; save it as UTF-8"),
        ("我 喜欢 你的\n".encode("utf-7") * 9, "in UTF-7; save it as UTF-8"),
        ("日本語の文です\n".encode("iso2022_jp"), "in ISO-2022; save it as UTF-8"),
        ("한국어\n".encode("iso2022_kr"), "in ISO-2022; save it as UTF-8"),
        ("中文句子\n".encode("hz") * 3, "in HZ; save it as UTF-8"),
        (b"{\\rtf1 words\n", "in RTF; save it as text"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS; fetch the file"),
        (b"<!DOCTYPE html>\n<html>\n", "a web page; fetch the file itself"),
        (b"SQLite format 3\0", "in a database of SQLite; write its texts to a file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "in an old document of Office; save it as text"),
        (gzip.compress(gzip.compress(WORDS.encode())), "packed by gzip; unpack it"),
        (bz2.compress(WORDS.encode()), "packed by bzip2; unpack it"),
        (lzma.compress(WORDS.encode()), "packed by xz; unpack it"),
        (zipped({"f": WORDS.encode()}), "in a zip archive or a document of Office; unpack it"),
    ],
)
def test_what_is_no_text_is_named(tmp_path, content, says):
    (path := tmp_path / "f").write_bytes(content)
    with pytest.raises(DataError, match=f"f: this text is {says}"):
        list(read_text(path, Dropped()))


@pytest.mark.parametrize(
    "row",
    [
        "~{a} and {b} are sets, ~{c}~",
        "a < b, <html is a tag>",
        "call +4912345678 or +44 20 7946 0018 or +15551234567",
        "Qh5+ Ke7 Rf8+ Nxf8, C++ and a+b-c",
        "+John +Mary +Paul +Anna",
        "+APw- is how UTF-7 writes it",
        *("PK sells ice", "BZh9 is a word", "7z and %PDF-1.4", ""),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_text_may_look_like_another_format(tmp_path, row, pack):
    (path := tmp_path / "f").write_bytes(pack(f"{row}\n".encode()))
    assert list(read_text(path, Dropped())) == [row]


def test_a_file_that_begins_with_no_text_is_refused_before_its_rows(tmp_path):
    (path := tmp_path / "f").write_bytes((WORDS * 3).encode("cp037"))
    with pytest.raises(DataError, match=r"f: \d+ of 105 bytes are no text in utf-8, so the file"):
        next(read_rows(path, Dropped()))


def test_an_object_of_json_has_each_key_once():
    assert parse_json('{"a": {"b": 1, "c": 2}, "b": []}') == {"a": {"b": 1, "c": 2}, "b": []}
    assert parse_json('[{"a": {"b": 1, "b": 2}}]') is None


def test_a_line_that_never_ends_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("workflow.datasets.io.left_out.LONGEST_LINE", 100)
    path = tmp_path / "f"
    path.write_bytes(b"x" * 98 + b"\n" + b"y" * 99)
    assert list(read_text(path, Dropped())) == ["x" * 98, "y" * 99]
    path.write_bytes(gzip.compress(bytes(10_000)))
    with pytest.raises(DataError, match="f: a line has 100 bytes or more, so this is no text of s"):
        list(read_text(path, Dropped()))


def test_a_row_of_two_columns_has_no_third():
    assert cells("f, line 1", "1\ta text ") == ("1", "a text ")
    assert cells("f, line 1", "alone") == ("alone", "")
    with pytest.raises(DataError, match=r"f, line 1: expected two columns .* found 4; correct the"):
        cells("f, line 1", "1\ta\tb\tc")


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
