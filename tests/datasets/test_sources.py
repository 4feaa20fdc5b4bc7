"""The list of sources, as shipped and with faults."""

import hashlib
from pathlib import Path

import pytest

from workflow.datasets.errors import DataError
from workflow.datasets.recipe import DATASETS, files
from workflow.datasets.sources import COLUMNS, Source, load, verify

ROW = ["toy", "a", "https://x/a", "https://y/a https://z/a", "0" * 64, "12", "free"]


def table(path: Path, *rows: list[str]) -> Path:
    path.write_text("\n".join("\t".join(row) for row in rows) + "\n", encoding="utf-8")
    return path


def test_every_file_that_a_dataset_needs_is_listed_with_its_licence() -> None:
    sources = load()
    for dataset in DATASETS:
        for file in files({"dataset": dataset})["sources"]:
            assert sources[dataset, file].licence
    for classes in ("binary", "fine"):
        for file in files({"dataset": "sst", "classes": classes})["sources"]:
            assert ("sst", file) in sources
    for source in sources.values():
        assert source.url.startswith("https://") and source.url.endswith(source.file)
        assert len({*source.urls}) == len(source.urls)


def test_a_row_becomes_a_source(tmp_path: Path) -> None:
    source = load(table(tmp_path / "s.tsv", list(COLUMNS), ROW))["toy", "a"]
    assert source.name == "toy/a"
    assert source.urls == ("https://x/a", "https://y/a", "https://z/a")
    assert source.bytes == 12


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([list(COLUMNS[:-2])], "lacks the columns bytes, licence; add them"),
        ([list(COLUMNS), ROW, ROW], "line 3: toy/a is listed twice"),
        ([list(COLUMNS), [*ROW[:2], "file:///a", *ROW[3:]]], "line 2: `file:///a` is not a http"),
        ([list(COLUMNS), [*ROW[:5], "-1", "free"]], "line 2: `bytes` must be a whole number"),
        ([list(COLUMNS), [*ROW[:4], "beef", *ROW[5:]]], "found `12` and `beef`; correct them"),
        ([list(COLUMNS), ROW[:3]], "line 2: `bytes` must be"),
    ],
)
def test_a_wrong_list_is_named(tmp_path: Path, rows: list[list[str]], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        load(table(tmp_path / "s.tsv", *rows))


def test_verify_accepts_the_listed_bytes_only(tmp_path: Path) -> None:
    checksum = hashlib.sha256(b"right").hexdigest()
    source = Source("toy", "a", "https://x/a", (), checksum, 5, "free")
    path = tmp_path / "a"
    with pytest.raises(DataError, match="a: this file does not exist; fetch toy/a again"):
        verify(path, source)
    path.write_bytes(b"right")
    verify(path, source)
    path.write_bytes(b"wrong")
    with pytest.raises(DataError, match=f"a: expected sha256 {checksum} .5 bytes., found"):
        verify(path, source)
