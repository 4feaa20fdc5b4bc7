"""What `run.json` says about code, libraries and machine, and what it says where none is known."""

import os
import subprocess
from pathlib import Path

import pytest
import torch

from tests.model.corpora import CPU
from workflow.runtime import provenance


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one committed file."""
    (tmp_path / "file").write_text("as committed")
    name = ["-c", "user.name=A", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["add", "file"], [*name, "commit", "-q", "-m", "first"]):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    return tmp_path


def test_a_clean_tree_has_its_commit(repository):
    found = provenance.commit(repository) | provenance.environment(CPU)
    assert len(found["commit"]) == 40 and found["dirty"] is False
    assert found["torch"] == torch.__version__ and found["device"] == "cpu"
    assert found["cuda"] is None and found["cpu"] and found["cores"] >= 1


def test_pages_are_no_code(repository):
    (repository / "docs").mkdir()
    (repository / "docs/LOG.md").write_text("new")
    assert provenance.commit(repository)["dirty"] is False


@pytest.mark.parametrize("name", ["file", "new"])
def test_a_tree_with_an_edited_or_a_new_file_is_dirty(repository, name):
    assert provenance.commit(repository)["dirty"] is False
    (repository / name).write_text("edited")
    assert provenance.commit(repository)["dirty"] is True


def test_without_a_repository_the_commit_is_unknown(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    found = provenance.commit(tmp_path)
    assert found["commit"] is None and found["dirty"] is None
    monkeypatch.setenv("PATH", os.devnull)
    assert provenance.commit(tmp_path)["commit"] is None


def test_the_schedulers_job_is_named(monkeypatch):
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    assert provenance.environment(CPU)["job_id"] is None
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    assert provenance.environment(CPU)["job_id"] == "4711"


def test_memory_is_in_megabytes():
    found = provenance.peak_memory_mb(CPU)
    assert list(found) == ["peak_memory_mb"]
    assert 20 < found["peak_memory_mb"] < 100_000


def test_the_processor_has_a_name_without_proc(monkeypatch):
    assert provenance.cpu_name()

    def absent(path: Path, *_: object) -> str:
        raise FileNotFoundError(path)

    monkeypatch.setattr(Path, "read_text", absent)
    assert isinstance(provenance.cpu_name(), str)
