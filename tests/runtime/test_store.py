"""The store: claims fence older processes, and nothing half-written is ever taken for whole."""

import errno
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.sealing import flip
from workflow.runtime.atomic import unwritable, write_atomically
from workflow.runtime.integrity import read_verified
from workflow.runtime.store import Entry, Fenced, Lease, drop_checkpoints, read_result


@pytest.fixture
def entry(tmp_path: Path) -> Entry:
    """A run's empty place in a store."""
    return Entry(tmp_path / "store", "0123456789abcdef")


def put(claim: Lease, weights: str = "weights") -> None:
    """Write a result with one checkpoint."""
    with claim.result({"identity": claim.entry.identity, "spec": {"run": "theirs"}}) as files:
        (files / "checkpoints" / "step-1.safetensors").write_text("kept")
        (files / "weights.safetensors").write_text(weights)


def tree(folder: Path) -> dict[str, str]:
    """All files below a folder, hidden ones too."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_an_older_claim_writes_neither_result_nor_failure(entry):
    older, _ = entry.claim(), entry.claim()
    with pytest.raises(Fenced, match=rf"process {os.getpid()} on .* has taken over run 0123"):
        put(older)
    with pytest.raises(Fenced):
        older.fail("it fails", "invocation")
    assert not entry.finished() and entry.failure() is None
    assert sorted(tree(entry.folder)) == ["generation-1", "generation-2"]


def test_a_claim_that_could_not_be_written_out_still_counts(entry):
    older = entry.claim()
    (entry.folder / "generation-2").touch()
    with pytest.raises(Fenced, match="a newer process has taken over"):
        older.check()


def test_claims_made_at_once_get_numbers_of_their_own(entry):
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda _: entry.claim(), range(40)))
    assert sorted(claim.generation for claim in claims) == list(range(1, 41))


def test_a_result_is_there_as_a_whole_and_what_it_needed_is_gone(entry):
    claim = entry.claim()
    for name in ("state-1.pt", "kept/step-1.safetensors", ".state-2.pt.1f", ".result.7/weights",
                 "history.jsonl", "segments.json", "measures/accuracy.json"):  # fmt: skip
        write_atomically(entry.folder / name, b"x")
    claim.fail("it failed once", "invocation")
    with claim.result({}) as files:
        (files / "weights.safetensors").write_text("half")
        assert not entry.finished()
    assert entry.finished() and entry.failure() is None
    assert sorted(tree(entry.folder)) == [
        "generation-1", "measures/accuracy.json", "result/run.json", "result/weights.safetensors"
    ]  # fmt: skip


def test_the_result_of_an_older_process_that_came_first_is_kept(entry, monkeypatch):
    older, newer = entry.claim(), entry.claim()
    monkeypatch.setattr(Lease, "check", lambda claim: None)  # both got past it
    put(older, "first")
    put(newer, "second")
    assert tree(entry.result)["weights.safetensors"] == "first"
    assert not list(entry.folder.glob(".*"))


def test_a_copy_is_whole_and_bears_the_askers_name(entry, tmp_path):
    put(entry.claim())
    out = tmp_path / "out"
    write_atomically(out / "checkpoints" / "step-9.safetensors", b"of another run")
    entry.copy_result(out, {"run": "mine"})
    entry.copy_result(out, {"run": "mine"})
    record = read_result(out)
    assert record["identity"] == entry.identity and record["spec"] == {"run": "mine"}
    assert {"weights.safetensors"} == set(record["files"])
    assert {"checkpoints/step-1.safetensors"} == set(record["checkpoints"])
    assert read_verified(out / "spec.json") == {"run": "mine"}
    files = {name: text for name, text in tree(out).items() if not name.endswith(".json")}
    assert files == {"checkpoints/step-1.safetensors": "kept", "weights.safetensors": "weights"}


def test_checkpoints_are_shared_and_not_copied_and_dropped_in_each_place(entry, tmp_path):
    put(entry.claim())
    out = tmp_path / "out"
    entry.copy_result(out, {})
    entry.copy_result(out, {})
    own, other = (folder / "checkpoints" / "step-1.safetensors" for folder in (entry.result, out))
    assert own.samefile(other)
    drop_checkpoints(out)
    assert own.exists() and not other.exists()
    drop_checkpoints(out, entry.result)
    assert not own.exists()
    assert own.parent.is_dir() and other.parent.is_dir()


def test_checkpoints_are_copied_where_the_disk_cannot_share_them(entry, tmp_path, monkeypatch):
    put(entry.claim())

    def refused(*_: object) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr(os, "link", refused)
    entry.copy_result(tmp_path / "out", {})
    copy = tmp_path / "out" / "checkpoints" / "step-1.safetensors"
    assert copy.read_text() == "kept"
    assert not copy.samefile(entry.result / "checkpoints" / copy.name)


def test_copies_made_at_once_do_not_disturb_each_other(entry, tmp_path):
    put(entry.claim())
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: entry.copy_result(tmp_path / "out", {}), range(40)))
    assert sorted(tree(tmp_path / "out")) == [
        "checkpoints/step-1.safetensors", "run.json", "spec.json", "weights.safetensors"
    ]  # fmt: skip


def test_a_copy_that_fails_has_no_run_json(entry, tmp_path, monkeypatch):
    put(entry.claim())
    out = tmp_path / "out"
    entry.copy_result(out, {})
    (out / "weights.safetensors").write_text("older")
    before = tree(out)
    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space"):
        entry.copy_result(out, {})
    assert tree(out) == {name: text for name, text in before.items() if name != "run.json"}


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_fails_changes_nothing(tmp_path, monkeypatch, step):
    path = tmp_path / "file"
    write_atomically(path, b"before")
    monkeypatch.setattr(os, step, full_disk)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, b"after")
    assert tree(tmp_path) == {"file": "before"}


FILES = ["weights.safetensors", "run.json", "checkpoints/step-1.safetensors"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", [lambda path: flip(path, 13), lambda it: it.write_bytes(b"")])
def test_a_damaged_result_is_set_aside_and_counts_as_not_finished(entry, name, damage):
    put(entry.claim())
    assert entry.whole(pytest.fail)
    damage(entry.result / name)
    said: list[str] = []
    assert entry.finished() and not entry.whole(said.append)
    assert f"{name} is damaged" in said[0] and "counts as not finished" in said[0]
    assert not entry.finished() and (entry.folder / "result.damaged").is_dir()
    put(entry.claim())
    assert entry.whole(pytest.fail) and not (entry.folder / "result.damaged").exists()


def test_a_result_without_weights_is_not_whole_and_one_without_checkpoints_is(entry):
    put(entry.claim())
    drop_checkpoints(entry.result)
    assert entry.whole(pytest.fail)
    (entry.result / "weights.safetensors").unlink()
    assert not entry.whole(lambda line: None)


def test_a_result_of_another_run_is_not_whole(entry):
    put(entry.claim())
    other = Entry(entry.folder.parent, "fedcba9876543210")
    other.folder.mkdir()
    entry.result.rename(other.result)
    said: list[str] = []
    assert not other.whole(said.append) and not entry.whole(said.append)
    assert "is of run 0123456789abcdef" in said[0] and len(said) == 1


def test_a_file_in_the_place_of_a_result_is_set_aside(entry):
    put(entry.claim())
    shutil.rmtree(entry.result)
    entry.result.write_text("no folder")
    said: list[str] = []
    assert not entry.whole(said.append) and "counts as not finished" in said[0]
    assert not entry.result.exists()


def test_an_error_while_the_result_is_written_leaves_none(entry):
    claim = entry.claim()
    write_atomically(entry.folder / "state-1.pt", b"x")
    with pytest.raises(OSError, match="No space"), claim.result({}) as files:
        (files / "weights.safetensors").write_text("half")
        full_disk()
    assert not entry.finished()
    assert sorted(tree(entry.folder)) == ["generation-1", "state-1.pt"]


def test_what_can_be_written_is_told_before(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    assert unwritable(tmp_path / "file") == unwritable(tmp_path / "new/folder/file") == ""
    assert unwritable(tmp_path) == f"{tmp_path} is a folder"
    assert unwritable(tmp_path / "file/below") == f"{tmp_path / 'file'} is a file"
    monkeypatch.setattr(os, "access", lambda path, how: False)
    assert unwritable(tmp_path / "new/file") == f"{tmp_path} is not writable"
