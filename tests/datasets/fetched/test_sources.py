"""The list of sources, as shipped and with faults."""

import re
from pathlib import Path

import pytest

from workflow.datasets.fetched.sources import COLUMNS, load, read_table
from workflow.datasets.kinds.recipe import datasets, files
from workflow.runtime.errors import DataError

ROW = ["toy", "a", "https://x/a", "https://y/a https://z/a", "0" * 64, "12", "free"]


def table(path: Path, *rows: list[str]) -> Path:
    path.write_text("\n".join("\t".join(row) for row in rows) + "\n", encoding="utf-8")
    return path


def test_every_file_that_a_dataset_needs_is_listed_with_its_licence():
    sources = load()
    for dataset in datasets():
        for file in files({"dataset": dataset})["sources"]:
            assert sources[dataset, file].licence
    for classes in ("binary", "fine"):
        for file in files({"dataset": "sst", "classes": classes})["sources"]:
            assert ("sst", file) in sources


def test_every_listed_file_has_one_place_and_terms():
    sources = load()
    urls = [url for source in sources.values() for url in source.urls]
    assert len({*urls}) == len(urls)
    for source in sources.values():
        assert source.licence and re.fullmatch("[a-z0-9_]+", source.dataset)
        assert re.fullmatch(r"[\w.-]+", source.file)
        host = source.url.split("/")[2]
        assert host != "raw.githubusercontent.com" or re.search("/[0-9a-f]{40}/", source.url)


def test_a_row_becomes_a_source(tmp_path):
    source = load(table(tmp_path / "s.tsv", list(COLUMNS), ROW))["toy", "a"]
    assert source.name == "toy/a"
    assert source.urls == ("https://x/a", "https://y/a", "https://z/a")
    assert source.bytes == 12 and not source.by_hand


def test_a_checksum_in_capitals_is_the_same(tmp_path):
    row = [*ROW[:4], "D0B2" * 16, *ROW[5:]]  # as `Get-FileHash` writes it
    assert load(table(tmp_path / "s.tsv", list(COLUMNS), row))["toy", "a"].sha256 == "d0b2" * 16


def test_a_row_without_a_checksum_is_to_be_got_by_hand(tmp_path):
    row = [*ROW[:4], "", "", "a form"]
    source = load(table(tmp_path / "s.tsv", list(COLUMNS), row))["toy", "a"]
    assert source.by_hand and source.mismatch("0" * 64, 9) is None


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([list(COLUMNS[:-2])], "lacks the columns bytes, licence; add them"),
        ([list(COLUMNS), ROW, ROW], "line 3: toy/a is listed twice"),
        ([list(COLUMNS), [*ROW[:2], "file:///a", *ROW[3:]]], "line 2: `file:///a` is not a http"),
        ([list(COLUMNS), [*ROW, ""]], "line 2: there are more columns than the 7 that the first"),
        ([list(COLUMNS), [*ROW[:5], "-1", "free"]], "line 2: `bytes` must be a whole number"),
        ([list(COLUMNS), [*ROW[:4], "beef", *ROW[5:]]], "found `12` and `beef`; correct them"),
        ([list(COLUMNS), [*ROW[:4], "g" * 64, *ROW[5:]]], "found `12` and `ggg"),
        ([list(COLUMNS), [*ROW[:5], "", "free"]], "line 2: `bytes` must be"),
        ([list(COLUMNS), [*ROW[:4], "", "12", "free"]], "or leave both empty for a file to get by"),
    ],
)
def test_a_wrong_list_is_named(tmp_path, rows, sentence):
    with pytest.raises(DataError, match=sentence):
        load(table(tmp_path / "s.tsv", *rows))


def test_a_mark_at_the_head_and_tabs_that_an_editor_took_are_accepted(tmp_path):
    path = tmp_path / "s.tsv"
    path.write_bytes(b"\xef\xbb\xbfa\tb\n1\n")
    assert [row for _, row in read_table(path, ["a", "b"])] == [{"a": "1", "b": ""}]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a\tb\ncaf\xe9\t1\n", "can't decode byte 0xe9"),
        (b'a\tb\n"1\t2\n3\t4\n', "unexpected end of data"),
    ],
)
def test_what_is_no_table_is_named(tmp_path, content, reason):
    path = tmp_path / "s.tsv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"s.tsv: this is not a table in UTF-8.*{reason}"):
        list(read_table(path, ["a", "b"]))
