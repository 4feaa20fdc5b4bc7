import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from workflow.commands import equivalent
from workflow.equivalence.proof import Proof
from workflow.equivalence.sameness import ResultComparison
from workflow.equivalence.sides import CodeKind
from workflow.planning.equivalents import FILE, Equivalents
from workflow.runtime.errors import InputError

OLD, NEW, NEWER = "a" * 16, "b" * 16, "c" * 16


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a commit and an empty file of lines."""
    monkeypatch.setattr(equivalent, "ROOT", tmp_path)
    git(tmp_path, "init", "-q")
    (tmp_path / FILE).parent.mkdir(parents=True)
    commit(tmp_path, "")
    return tmp_path


def git(root: Path, *arguments: str) -> str:
    name = ["-c", "user.name=a", "-c", "user.email=a@b"]
    command = ["git", "-C", str(root), *name, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def commit(root: Path, more: str) -> str:
    with (root / FILE).open("a") as stream:
        stream.write(more)
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", "a change")
    return git(root, "rev-parse", "HEAD")


def line(old: str, new: str, since: str, **others: Any) -> str:
    proof = Proof(CodeKind("training", old, new), "a/b", updates=40)
    return json.dumps({**equivalent.line_of(proof, since), **others}) + "\n"


@pytest.mark.parametrize("name", ["", "0" * 40, "no-such-branch"])
def test_a_commit_outside_of_the_history_is_refused(history: Path, name: str):
    with pytest.raises(InputError, match="SINCE"):
        equivalent._commit(name)
    assert equivalent._commit("HEAD") == git(history, "rev-parse", "HEAD")


def test_code_that_is_not_committed_is_not_proven(history: Path):
    (history / "model").mkdir()
    (history / "model" / "new.py").write_text("")
    with pytest.raises(InputError, match="model/ is not as committed"):
        equivalent._prove("HEAD", "", "cpu")


def test_lines_are_those_that_commits_added_newest_first(history: Path):
    since = git(history, "rev-parse", "HEAD")
    first = commit(history, line(OLD, NEW, since))
    second = commit(history, line(NEW, NEWER, first))
    added = equivalent._added()
    assert [*added] == [second, first]
    assert [one["new"] for lines in added.values() for one in lines] == [NEWER, NEW]


def test_what_is_only_stated_is_no_proof(history: Path):
    stated = {"verdict": "stated, not proven", "old": OLD, "new": NEW, "date": "2026-01-01"}
    commit(history, json.dumps({**stated, "what": "training", "name": "a/b"}) + "\n")
    assert equivalent._added() == {}
    assert equivalent._check(0.1)


def test_a_line_by_hand_is_refused(history: Path):
    with (history / FILE).open("a") as stream:
        stream.write(line(OLD, NEW, git(history, "rev-parse", "HEAD")))
    with pytest.raises(InputError, match="not committed"):
        equivalent._added()


def test_a_line_whose_old_code_nobody_has_is_refused(history: Path):
    commit(history, line(OLD, NEW, "0" * 40))
    with pytest.raises(InputError, match="no commit of this checkout"):
        equivalent._added()


def test_a_line_that_contradicts_others_is_not_written(history: Path):
    since = git(history, "rev-parse", "HEAD")
    commit(history, line(OLD, NEW, since) + line("d" * 16, "e" * 16, since))
    before = (history / FILE).read_text()
    with pytest.raises(InputError):
        equivalent._append(json.loads(line(NEW, OLD, since)))
    with pytest.raises(InputError):
        equivalent._append(json.loads(line(NEW, "e" * 16, since)))
    assert (history / FILE).read_text() == before
    equivalent._append(json.loads(line(NEW, NEWER, since)))
    assert Equivalents.read(history).representative(NEWER) == OLD


def test_a_third_rounding_is_compared_end_to_end(history: Path, monkeypatch: pytest.MonkeyPatch):
    """Of a chain of roundings the first code is far from the last where each step is allowed."""
    since = git(history, "rev-parse", "HEAD")
    rounded = {"verdict": "same to rounding"}
    commit(history, line(OLD, NEW, since, **rounded) + line(NEW, NEWER, since, **rounded))
    asked = []

    class Both:
        def __init__(self, commit: str, *_: object) -> None:
            asked.append(commit)

        def __enter__(self) -> "Both":
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def kinds(self) -> dict[CodeKind, list[object]]:
            return {CodeKind("training", OLD, "d" * 16): []}

    far = ResultComparison("different", 1.0, 0.1)
    monkeypatch.setattr(equivalent, "_sides", Both)
    monkeypatch.setattr(equivalent, "prove", lambda sides, kind, uses: Proof(kind, "", far))
    close = ResultComparison("same to rounding", 1e-7, 1e-6)
    known = Equivalents.read(history)
    third = Proof(CodeKind("training", NEWER, "d" * 16), "a/b", close)
    equivalent._end_to_end(third, known, history, "cpu")
    assert (asked, third.accepted) == ([since], False)
    second = Proof(CodeKind("training", NEW, "e" * 16), "a/b", close)
    equivalent._end_to_end(second, known, history, "cpu")
    assert (asked, second.accepted) == ([since], True)
