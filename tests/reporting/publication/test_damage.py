"""What is published and damaged: never used, and named with file, line and fault."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.reporting.synthetic import Results, brief
from tests.sealing import flip
from workflow.commands.verify import of_published, verify
from workflow.files import read_sidecar
from workflow.reporting.publication.results import published
from workflow.runtime.integrity import Damaged

RUNS = "runs/text_classification.jsonl"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what is published of two runs."""
    root = tmp_path_factory.mktemp("whole")
    results = Results(root / "results", "lite")
    for seed in (0, 1):
        results.add("text_classification", "sst_soft", seed)
    with pytest.MonkeyPatch.context() as patch:
        brief(patch)
        results.publish(root / "docs")
    return root / "docs"


@pytest.fixture
def docs(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "docs"))


def flipped(path: Path) -> None:
    flip(path, 1000)


Damage = Callable[[Path], None]


def verified(docs: Path) -> list[str]:
    """Return what `make verify` says of what is published."""
    return [str(error) for error in verify(list(of_published(docs)))]


def test_what_is_whole_is_read(docs: Path) -> None:
    assert verified(docs) == []
    assert [*published(docs / "lite")] == [f"text_classification/sst_soft/seed-{n}" for n in (0, 1)]


@pytest.mark.parametrize(
    ("name", "damage", "sentence"),
    [
        ("README.md", flipped, " is damaged"),
        ("README.md", Path.unlink, " is missing"),
        ("kinley2020.md", flipped, " is damaged"),
        ("index.json", flipped, " is damaged, or was changed by hand"),
        (RUNS, flipped, ", line 1 is damaged, or was changed by hand"),
        (RUNS, Path.unlink, " is missing"),
    ],
)
def test_runs_are_not_used(docs: Path, name: str, damage: Damage, sentence: str) -> None:
    path = docs / "lite" / name
    damage(path)
    said = f"{path}{sentence}"
    with pytest.raises(Damaged) as error:
        published(docs / "lite")
    assert str(error.value) == said and error.value.path == path
    assert verified(docs) == [said]


def test_tables_are_not_used(docs: Path) -> None:
    path = docs / "lite/tables/discrete_transformer/table_6_1.csv"
    flipped(path)
    with pytest.raises(Damaged, match=r"table_6_1\.csv is damaged"):
        read_sidecar(path)
    assert verified(docs) == [f"{path} is damaged"]


def test_a_file_with_another_valid_line_is_noticed(docs: Path, whole: Path) -> None:
    """As after a merge that took one file and not the index."""
    path = docs / "lite" / RUNS
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[1] + lines[0])
    with pytest.raises(Damaged, match=r"text_classification\.jsonl is damaged"):
        published(docs / "lite")
    assert verified(docs) == [f"{path} is damaged"]
