"""Resume states: the newest two are kept, damaged ones never count, older claims save nothing."""

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load

from tests.sealing import flip
from workflow.runtime.disk_checkpointer import DiskCheckpointer
from workflow.runtime.integrity import Damaged
from workflow.runtime.store import Entry, Fenced


@pytest.fixture
def entry(tmp_path: Path) -> Entry:
    """A run's empty place in a store."""
    return Entry(tmp_path / "store", "0123456789abcdef")


@pytest.fixture
def said() -> list[str]:
    """The sentences of the keeper."""
    return []


@pytest.fixture
def keeper(entry: Entry, said: list[str]) -> DiskCheckpointer:
    """A keeper of the run's states."""
    return DiskCheckpointer(entry.claim(), interval=1e9, say=said.append)


def state(update: int) -> dict[str, Any]:
    """A state of the kind that training saves."""
    rows = [{"step": n, "loss": 1 / n} for n in range(1, update + 1)]
    weights = {"weight": torch.full((50, 50), float(update))}
    return {"model": weights, "progress": {"update": update, "rows": rows}}


def updates(keeper: DiskCheckpointer) -> list[int]:
    """The updates of the states on disk."""
    return sorted(int(path.stem[6:]) for path in keeper.folder.glob("state-*"))


def damage(keeper: DiskCheckpointer, update: int, keep: int = 1000) -> None:
    """Cut a state short."""
    path = keeper.folder / f"state-{update:012d}.pt"
    path.write_bytes(path.read_bytes()[:keep])


def test_the_newest_of_two_states_is_loaded(keeper, said):
    for update in (8, 9, 10):
        keeper.save(state(update))
    assert updates(keeper) == [9, 10]
    found = keeper.load()
    assert found["progress"] == state(10)["progress"] and said == []
    assert torch.equal(found["model"]["weight"], state(10)["model"]["weight"])


@pytest.mark.parametrize("keep", [0, 31, 32, 1000])
def test_a_state_that_was_cut_short_is_passed_over(keeper, said, keep):
    keeper.save(state(1))
    keeper.save(state(2))
    damage(keeper, 2, keep)
    assert keeper.load()["progress"]["update"] == 1
    assert len(said) == 1 and "state-000000000002.pt is damaged and was removed" in said[0]


def test_an_older_claim_saves_and_keeps_nothing(keeper):
    keeper.save(state(1))
    keeper.claim.entry.claim()
    with pytest.raises(Fenced):
        keeper.save(state(2))
    with pytest.raises(Fenced):
        keeper.keep(2, state(2)["model"])
    assert updates(keeper) == [1] and not (keeper.folder / "kept").exists()


def test_a_state_runs_no_code(keeper, said):
    class Malicious:
        def __reduce__(self) -> Any:
            return (os.mkdir, ("never",))

    keeper.save(state(1))
    keeper.save(state(2) | {"model": Malicious()})
    assert keeper.load()["progress"]["update"] == 1
    assert len(said) == 1 and "state-000000000002.pt may hold code" in said[0]
    assert updates(keeper) == [1] and not Path("never").exists()


def test_kept_weights_can_be_read_unless_they_were_damaged(keeper):
    keeper.keep(7, state(7)["model"])
    assert torch.equal(keeper.weights_of(7)["weight"], state(7)["model"]["weight"])
    [(name, content)] = keeper.kept()
    assert name == "step-7.safetensors"
    assert torch.equal(load(content)["weight"], state(7)["model"]["weight"])
    path = keeper.folder / "kept" / name
    flip(path, 8 * path.stat().st_size - 8)
    for use in (lambda: keeper.weights_of(7), lambda: list(keeper.kept())):
        with pytest.raises(Damaged, match=r"step-7.safetensors is damaged"):
            use()


def test_the_history_that_can_be_watched_goes_back_with_the_state(keeper):
    rows: list[dict[str, Any]] = []
    for row in state(3)["progress"]["rows"]:
        rows.append(row)
        keeper.record(rows)

    def watched() -> list[dict[str, Any]]:
        text = (keeper.folder / "history.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    assert watched() == rows
    keeper.save(state(2))
    keeper.load()
    assert watched() == rows[:2]
    keeper.record(rows[:1])
    assert watched() == rows[:1]


def test_a_save_is_due_after_the_interval(entry, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    keeper = DiskCheckpointer(entry.claim(), interval=60, say=print)
    assert not keeper.due()
    clock[0] += 60
    assert keeper.due()
    keeper.save(state(1))
    assert not keeper.due()


def test_saving_takes_half_a_per_cent_of_the_time_at_most(entry, monkeypatch):
    clock, writing = [100.0], [3.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])

    def written(path, content):
        clock[0] += writing[0]

    monkeypatch.setattr("workflow.runtime.disk_checkpointer.write_atomically", written)
    keeper = DiskCheckpointer(entry.claim(), interval=None, say=print)
    for seconds, pause in ((3.0, 600), (0.2, 120)):  # 3 of 600, and two minutes at least
        writing[0] = seconds
        keeper.save(state(1))
        clock[0] += pause - 1
        assert not keeper.due()
        clock[0] += 1
        assert keeper.due()


def test_a_new_run_has_no_state(keeper, said):
    assert keeper.load() is None and said == []


def test_damaged_states_do_not_push_out_those_saved_after_them(keeper, said):
    keeper.save(state(8))
    keeper.save(state(9))
    damage(keeper, 8)
    damage(keeper, 9)
    assert keeper.load() is None
    assert said[-1] == "no whole state is left; training begins anew."
    keeper.save(state(1))
    assert keeper.load()["progress"]["update"] == 1


def test_a_full_disk_leaves_the_states_before(keeper, monkeypatch):
    keeper.save(state(1))
    keeper.save(state(2))

    def full_disk(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(os, "fsync", full_disk)
        keeper.save(state(3))
    assert updates(keeper) == [1, 2] and not list(keeper.folder.glob(".*"))
    assert keeper.load()["progress"]["update"] == 2


def test_training_stops_at_the_deadline(entry, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    keeper = DiskCheckpointer(entry.claim(), interval=60, say=print, deadline=130)
    assert not keeper.stopping()
    clock[0] = 130
    assert keeper.stopping()
