"""The sentences that command lines end with."""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from model.files import aside
from tests.scripts.processes import command
from workflow.datasets.errors import RecipeError
from workflow.datasets.files import write_lines
from workflow.errors import Mistake
from workflow.reporting.files import ReportingError, write_json
from workflow.scripts.failure import one_sentence
from workflow.scripts.job import read_json

WRITERS: dict[str, Callable[[Path], None]] = {
    "a dataset's lines": lambda path: write_lines(path, ["a"]),
    "a report's JSON": lambda path: write_json(path, {}),
}


def said(act: Callable[[], object]) -> object:
    """What a command line says that fails."""
    with pytest.raises(SystemExit) as end, one_sentence():
        act()
    return end.value.code


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_told_with_the_file_and_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, write: Callable[[Path], None]
) -> None:
    def full(_: Path) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("model.files.flush", full)
    path = tmp_path / "file"
    expected = f"error: {os.strerror(number)} ({path}); make room and run again."
    assert said(lambda: write(path)) == expected
    assert not list(tmp_path.iterdir())


def test_another_failed_write_of_known_content_names_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Path) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("model.files.flush", broken)
    path = tmp_path / "file"
    assert said(lambda: write_json(path, {})) == f"error: Input/output error ({path})."


def test_an_error_of_what_is_read_meanwhile_does_not_name_the_file_written(tmp_path: Path) -> None:
    def act() -> None:
        with aside(tmp_path / "file"):
            raise OSError(errno.EIO, "Input/output error")

    assert said(act) == "error: Input/output error."


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (RecipeError("No."), "error: No."),
        (ReportingError("No."), "error: No."),
        (Mistake("No."), "error: No."),
        (
            PermissionError(errno.EACCES, "Permission denied", "there"),
            "error: Permission denied (there); make it readable and writable.",
        ),
    ],
)
def test_mistakes_of_every_stage_get_their_sentence(error: Exception, sentence: str) -> None:
    def act() -> None:
        raise error

    assert said(act) == sentence


def test_what_a_program_cannot_write_or_read_gets_its_sentence(tmp_path: Path) -> None:
    manifest, file = tmp_path / "manifest.json", tmp_path / "file"
    manifest.write_text(json.dumps({"digest": "d"}))
    file.touch()
    draft = json.dumps({"data": {}, "run": {}})
    given = ("--spec", draft, "--manifest", str(manifest), "--out", str(file / "spec.json"))
    assert f"({file})" in command("resolve", [*given], torch=False).error
    spec = tmp_path / "results/demo/runs/experiment/variant/seed-0/spec.json"
    spec.mkdir(parents=True)
    forget = ("--results", str(tmp_path / "results"), "--unused")
    assert f"{spec} cannot be read" in command("forget", [*forget], torch=False).error


def test_a_library_raises_and_leaves_the_end_to_the_program(tmp_path: Path) -> None:
    with pytest.raises(Mistake, match="cannot be read"):
        read_json(tmp_path / "none.json")
