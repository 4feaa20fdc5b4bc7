"""IWSLT'15 English-Vietnamese from its plain files to arrays."""

import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workflow.datasets.encoded.prepared import prepared_lines
from workflow.errors import DataError

Take = Callable[..., dict[str, Any]]
RECIPE = {"dataset": "iwslt15", "merges": 20}
FILES = {
    "train.en": "Rachel &apos;s story .\n\nIt  is\u00a0a puzzle , a puzzle .\n" + "a " * 251 + "\n",
    "train.vi": "Câu chuyện của Rachel .\nRỗng\nNó là một trò chơi ghép hình , ghép hình .\nb\n",
    "tst2012.en": "Dev .\n",
    "tst2012.vi": "Phát triển .\n",
    "tst2013.en": "Test one .\nTest two .\n",
    "tst2013.vi": "Một .\nHai .\n",
}


def content(**changes: str) -> dict[str, bytes]:
    return {name: changes.get(name, text).encode() for name, text in FILES.items()}


def texts(folder: Path, name: str) -> list[str]:
    return list(prepared_lines(folder / "prepared" / f"{name}.txt"))


def test_the_plain_files(take: Take, tmp_path: Path) -> None:
    manifest = take(RECIPE, content())
    folder = tmp_path / "data"
    assert texts(folder, "train.source") == [
        "Rachel &apos;s story .",
        "It is a puzzle , a puzzle .",
    ]
    assert texts(folder, "train.target")[1] == "Nó là một trò chơi ghép hình , ghép hình ."
    assert texts(folder, "dev.source") == ["Dev ."] and texts(folder, "test.target")[1] == "Hai ."
    assert manifest["statistics"]["dropped"] == {"an empty side": 1, "more than 250 words": 1}
    assert manifest["languages"] == {"source": "en", "target": "vi"}
    take({**RECIPE, "lowercase": True, "direction": "vi_en", "joint": False}, content(), "other")
    assert texts(tmp_path / "other", "train.source")[0] == "câu chuyện của rachel ."
    assert (tmp_path / "other" / "encoded" / "source_vocabulary.txt").is_file()


def test_sides_that_do_not_fit(take: Take) -> None:
    with pytest.raises(DataError, match=r"tst2013.en has 2 lines and .*tst2013.vi has 1, so"):
        take(RECIPE, content(**{"tst2013.vi": "Một .\n"}), "misaligned")
    with pytest.raises(DataError, match=r"tst2012.en, sentence 1: one side is empty"):
        take(RECIPE, content(**{"tst2012.vi": "\n"}), "empty")
    with pytest.raises(DataError, match=r"train.vi: this file is empty; delete the file"):
        take(RECIPE, content(**{"train.vi": ""}), "nothing")


def test_the_real_dev_and_test_sets(take: Take, mirror: Path) -> None:
    real = content()
    for name in ("dev-2012-en-vi.tgz", "test-2013-en-vi.tgz"):
        with tarfile.open(mirror / "iwslt15_en_vi" / name) as archive:
            for member in archive.getmembers():
                stream = archive.extractfile(member)
                assert stream is not None
                real[member.name] = stream.read()
    sizes = take(RECIPE, real)["splits"]
    assert (sizes["dev"]["examples"], sizes["test"]["examples"]) == (1553, 1268)
