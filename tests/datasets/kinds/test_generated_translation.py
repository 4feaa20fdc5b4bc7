"""The generated parallel corpus: official names and format, the same bytes for the same seed."""

import gzip
from pathlib import Path

import pytest

from workflow.datasets.grammars.translation_grammar import lexicon
from workflow.datasets.kinds.generated_translation import write_multi30k

SIZES = {"train": 300, "val": 40, "test_2016_flickr": 50}


@pytest.fixture
def written(tmp_path: Path) -> Path:
    write_multi30k(tmp_path / "raw", SIZES, seed=5)
    return tmp_path / "raw"


def lines(path: Path) -> list[str]:
    text = gzip.decompress(path.read_bytes()).decode()
    assert text.endswith("\n")
    return text[:-1].split("\n")


def test_the_files_have_the_official_names_and_sizes(written: Path) -> None:
    names = {f"{name}.{side}.gz" for name in SIZES for side in ("de", "en")}
    assert {path.name for path in written.iterdir()} == names | {"lexicon.tsv"}
    for name, count in SIZES.items():
        assert (
            len(lines(written / f"{name}.de.gz")) == len(lines(written / f"{name}.en.gz")) == count
        )


def test_no_sentence_comes_twice(written: Path) -> None:
    for side in ("de", "en"):
        found = [line for name in SIZES for line in lines(written / f"{name}.{side}.gz")]
        assert len({*found}) == len(found)


def test_sentences_are_written_as_people_write(written: Path) -> None:
    for line in lines(written / "train.en.gz") + lines(written / "train.de.gz"):
        assert line[0].isupper() and line[-1] in ".?" and line[-2] != " "
        assert " ," not in line and "  " not in line


def test_the_same_seed_writes_the_same_bytes_and_another_does_not(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time", lambda: 1_000_000_000.0)
    write_multi30k(tmp_path / "again", SIZES, seed=5)
    write_multi30k(tmp_path / "other", SIZES, seed=6)
    for path in written.iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()
        if path.name != "lexicon.tsv":
            assert path.read_bytes() != (tmp_path / "other" / path.name).read_bytes()


def test_the_lexicon_is_listed(written: Path) -> None:
    header, *rows = (written / "lexicon.tsv").read_text(encoding="utf-8").splitlines()
    assert header.split("\t") == ["en", "de", "class"]
    assert [tuple(row.split("\t")) for row in rows] == [tuple(entry) for entry in lexicon()]
