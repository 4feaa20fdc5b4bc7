"""The sentences that command lines end with."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.sealing import flip, put
from workflow import PUBLISHED
from workflow.datasets.io.dataset_files import write_lines
from workflow.files import write_json
from workflow.runtime.atomic import atomic_path
from workflow.runtime.errors import RecipeError, ReportingError, UserError
from workflow.runtime.failure import exit_on_user_error, made_with
from workflow.runtime.integrity import Damaged
from workflow.scripts.job import check_run, read_spec

WRITERS: dict[str, Callable[[Path], None]] = {
    "a dataset's lines": lambda path: write_lines(path, ["a"]),
    "a report's JSON": lambda path: write_json(path, {"schema": 1}),
}


def said(act: Callable[[], object], results: Path | None = None) -> object:
    """What a command line says that fails."""
    with pytest.raises(SystemExit) as end, exit_on_user_error(results):
        act()
    return end.value.code


def raising(error: Exception) -> Callable[..., None]:
    """What fails, whatever it is given."""

    def act(*_: object) -> None:
        raise error

    return act


def damaged(path: Path) -> Callable[..., None]:
    """What finds a file damaged."""
    return raising(Damaged(path, f"{path} is damaged"))


def test_nothing_is_said_to_a_reader_that_has_enough():
    program = (
        "from workflow.runtime.failure import exit_on_user_error\n"
        "with exit_on_user_error():\n  print('a' * 2**20)"
    )
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as output:
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=output, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_told_with_the_file_and_the_remedy(tmp_path, monkeypatch, number, write):
    full = OSError(number, os.strerror(number))
    monkeypatch.setattr("workflow.runtime.atomic.flush", raising(full))
    path = tmp_path / "file"
    expected = f"error: {os.strerror(number)} ({path}); make room and run again."
    assert said(lambda: write(path)) == expected
    assert not list(tmp_path.iterdir())


def test_another_failed_write_of_known_content_names_its_file(tmp_path, monkeypatch):
    broken = OSError(errno.EIO, "Input/output error")
    monkeypatch.setattr("workflow.runtime.atomic.flush", raising(broken))
    path = tmp_path / "file"
    assert said(lambda: write_json(path, {"schema": 1})) == f"error: Input/output error ({path})."


def test_an_error_of_what_is_read_meanwhile_does_not_name_the_file_written(tmp_path):
    def act() -> None:
        with atomic_path(tmp_path / "file"):
            raise OSError(errno.EIO, "Input/output error")

    assert said(act) == "error: Input/output error."


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (RecipeError("No."), "error: No."),
        (ReportingError("No."), "error: No."),
        (UserError("No."), "error: No."),
        (
            PermissionError(errno.EACCES, "Permission denied", "there"),
            "error: Permission denied (there); make it readable and writable.",
        ),
    ],
)
def test_mistakes_of_every_stage_get_their_sentence(error, sentence):
    assert said(raising(error)) == sentence


def test_what_is_in_a_name_breaks_no_sentence():
    assert said(raising(UserError("a\nb \ufeffc ü"))) == "error: a\\nb \\ufeffc ü"


@pytest.mark.parametrize("allocate", [np.empty, torch.empty])
def test_memory_that_a_cpu_does_not_have_gets_its_sentence(allocate):
    sentence = str(said(lambda: allocate(10**15)))
    assert sentence.startswith("error: there is not enough memory (")
    assert sentence.endswith("or give the job more.") and "\n" not in sentence
    with pytest.raises(RuntimeError, match="a wrong shape"):
        said(raising(RuntimeError("a wrong shape")))


def test_a_library_raises_and_leaves_the_end_to_the_program(tmp_path):
    with pytest.raises(UserError, match="does not exist"):
        check_run("the run", tmp_path, "i", tmp_path)
    spec = put(tmp_path / "spec.json", {"identity": "i", "data": {}})
    with pytest.raises(Damaged, match="is not the spec of a run"):
        read_spec(spec)
    flip(spec, 800)
    with pytest.raises(Damaged, match="is damaged, or was changed by hand"):
        read_spec(spec)


@pytest.mark.parametrize("given", [True, False], ids=["results", "store"])
def test_what_is_damaged_among_the_results_is_set_aside(tmp_path, monkeypatch, given):
    monkeypatch.setenv("SACCADE_STORE", str(tmp_path / "else" if given else tmp_path / "store"))
    path = put(tmp_path / "demo/plan.json", {"schema": 1})
    aside = path.with_name("plan.json.damaged")
    assert said(damaged(path), tmp_path if given else None) == (
        f"error: {path} is damaged; {aside} is what was set aside: "
        "run the same command again to make it anew."
    )
    assert aside.is_file() and not path.exists()


def test_what_is_damaged_elsewhere_is_left(tmp_path, monkeypatch):
    path = put(tmp_path / "plan.json", {"schema": 1})
    sentence = f"error: {path} is damaged; where it is one of the results, make mend makes it anew."
    assert said(damaged(path), tmp_path / "results") == sentence
    monkeypatch.delenv("SACCADE_STORE", raising=False)
    assert said(damaged(path)) == sentence
    assert path.is_file()


def test_what_is_damaged_of_what_is_published_is_restored_by_git():
    path = PUBLISHED / "lite/index.json"
    assert said(damaged(path)) == f"error: {path} is damaged; restore it: git restore {path}."
    assert path.is_file()


@pytest.mark.parametrize(
    ("path", "goes"),
    [
        ("store/i/result/checkpoints/step-1.safetensors", "store/i/result"),
        ("store/i/kept/step-1.safetensors", "store/i"),
        ("store/i/measures/accuracy-0.json", "store/i/measures/accuracy-0.json"),
        ("data/sst/0/raw/train.txt", "data/sst/0/raw"),
        ("data/sst/0/encoded/manifest.json", "data/sst/0/encoded"),
        ("data/sources/sst/a.origin.json", "data/sources/sst/a.origin.json"),
        ("lite/runs/e/v/seed-0/checkpoints/step-1.safetensors", "lite/runs/e/v/seed-0/checkpoints"),
        ("lite/runs/e/v/seed-0/run.json", "lite/runs/e/v/seed-0/run.json"),
    ],
)
def test_what_a_rule_makes_together_goes_together(path, goes, tmp_path):
    assert made_with(tmp_path / path, tmp_path) == tmp_path / goes
