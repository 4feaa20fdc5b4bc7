"""What `make forget` and `make gc` remove, and what they leave alone."""

import os
from pathlib import Path

import pytest

from tests.sealing import put
from workflow.commands.forget import delete_run
from workflow.commands.gc import forget_unused
from workflow.commands.merge import unreadable
from workflow.runtime.errors import UserError
from workflow.runtime.store import Entry
from workflow.scripts.job import note_asker

RUN = "0123456789abcdef"


def claimed(entry: Path) -> Path:
    """Make an entry of the store as training does, with a result."""
    (entry / "result").mkdir(parents=True)
    (entry / "generation-1").touch()
    return entry


def test_a_run_of_the_store_is_forgotten(tmp_path):
    entry = claimed(tmp_path / "store" / RUN)
    put(tmp_path / "demo/runs/one/soft/seed-0/run.json", {"identity": RUN})
    delete_run(RUN, tmp_path)
    assert [path.name for path in entry.iterdir()] == ["generation-2"]
    assert not (tmp_path / "demo/runs/one/soft/seed-0/run.json").exists()


@pytest.mark.parametrize("name", ["notes2", "..", "0123", RUN.upper()])
def test_what_has_no_identity_is_not_forgotten(tmp_path, name):
    entry = claimed(tmp_path / "store" / name)
    with pytest.raises(UserError, match=r"holds no run .*; name one by its identity, the 16 hex"):
        delete_run(name, tmp_path)
    assert (entry / "result").is_dir()


def test_what_no_process_has_claimed_is_not_forgotten(tmp_path):
    (notes := tmp_path / "store" / RUN).mkdir(parents=True)
    (notes / "notes.txt").touch()
    with pytest.raises(UserError, match=f"{RUN} is no run of this project, so nothing was removed"):
        delete_run(RUN, tmp_path)
    assert (notes / "notes.txt").is_file()


@pytest.mark.parametrize("link", [f"store/{RUN}", "demo/runs/one/soft/seed-0"])
def test_links_are_not_followed(tmp_path, link):
    other = claimed(tmp_path / "elsewhere")
    put(other / "run.json", {"identity": RUN})
    (tmp_path / link).parent.mkdir(parents=True)
    (tmp_path / link).symlink_to(other)
    with pytest.raises(UserError, match="so nothing was removed; take it away yourself"):
        delete_run(RUN, tmp_path)
    assert (other / "result").is_dir() and (other / "run.json").is_file()


@pytest.mark.parametrize("spec", [{"schema": 1}, {"identity": None}])
def test_a_spec_without_an_identity_stops_with_a_sentence(tmp_path, spec):
    unused = claimed(tmp_path / "store" / RUN)
    path = tmp_path / "demo/runs/one/soft/seed-0/spec.json"
    put(path, spec)
    with pytest.raises(UserError, match=f"^{path} names no run; delete it, and the next"):
        forget_unused(tmp_path)
    assert unused.is_dir()
    put(path, {"identity": "f" * 16})
    forget_unused(tmp_path)
    assert not unused.exists()


def test_a_run_whose_training_was_cut_short_is_used_until_its_folder_names_another(tmp_path):
    entry, folder = claimed(tmp_path / "store" / RUN), tmp_path / "demo/runs/one/soft/seed-0"
    folder.mkdir(parents=True)
    note_asker(Entry(tmp_path / "store", RUN), folder)
    forget_unused(tmp_path)
    assert entry.is_dir()
    put(folder / "spec.json", {"identity": "f" * 16})
    forget_unused(tmp_path)
    assert not entry.exists()


def test_a_run_whose_training_was_cut_short_is_unused_where_nothing_is_left_of_its_folder(tmp_path):
    entry = claimed(tmp_path / "store" / RUN)
    note_asker(Entry(tmp_path / "store", RUN), tmp_path / "demo/runs/one/soft/seed-0")
    forget_unused(tmp_path)
    assert not entry.exists()


def test_a_pipe_or_a_device_is_no_file_to_merge(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        assert unreadable(path) == f"{path} is no file, but a pipe or a device"
    (tmp_path / "results.tar").touch()
    (tmp_path / "link.tar").symlink_to(tmp_path / "results.tar")
    assert not unreadable(tmp_path / "results.tar") and not unreadable(tmp_path / "link.tar")
