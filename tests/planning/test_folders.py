"""The folders that are written to: one form of their path, and a sentence where they can't be."""

import os
import resource
from pathlib import Path

import pytest

from tests.planning.conftest import sentence
from workflow.planning.folders import (
    check_home,
    check_submittable,
    check_surroundings,
    results_folder,
    unwritable,
)
from workflow.runtime.errors import InputError


@pytest.mark.parametrize("sign", ["$", "`", '"', "\\"])
def test_a_folder_that_slurm_does_not_find_is_refused(sign):
    check_submittable(Path("/a b/it's"))
    said = sentence(check_submittable, Path(f"/home/a{sign}b"))
    assert said.startswith(f"/home/a{sign}b: Slurm's jobs don't find a folder with {sign} in its")


def test_braces_in_the_path_of_the_project_are_refused():
    said = sentence(check_surroundings, Path("/home/a{b}"))
    assert said == "/home/a{b}: Snakemake reads braces in the project's path; rename the folder"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A project's folder, in which one works."""
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("results/", "results"),
        ("./results//lite/.", "results/lite"),
        ("results/../other", "other"),
        ("../other", "../other"),
        ("it's a tëst {x}", "it's a tëst {x}"),
        ("ü" * 127, "ü" * 127),
    ],
)
def test_results_have_one_path_whoever_writes_it(here, given, path):
    assert results_folder(given, here) == path


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("-x", '"-x" begins with "-" or has a control character; name another folder'),
        ("./-x", '"./-x" begins with'),
        ("a\nb", '"a\\nb" begins with "-" or has a control character'),
        ("a\0b", '"a\\u0000b" begins with'),
        (".", '"." holds the project itself; name a folder in it, or elsewhere'),
        ("../..", '"../.." holds the project itself'),
        ("../project", '"../project" holds the project itself'),
        ("loop", 'nothing can be written to "loop" (Too many levels of symbolic links)'),
        ("loop/x", 'nothing can be written to "loop/x" (Too many levels of symbolic links)'),
        ("gone", 'nothing can be written to "gone" (No such file or directory)'),
        (f"a/{'b' * 256}/c", "(a name in it is longer than 255 bytes); name another folder"),
        ("ü" * 128, "(a name in it is longer than 255 bytes); name another folder"),
        ("file", 'nothing can be written to "file" (Not a directory)'),
        ("~nobody-of-this-name/../..", "begins with a user that is not here"),
    ],
)
def test_a_folder_that_results_cannot_have(here, given, says):
    (here / "loop").symlink_to("loop")
    (here / "gone").symlink_to("nowhere")
    (here / "file").touch()
    said = sentence(results_folder, given, here)
    assert said.startswith("config: results: ") and says in said


def test_a_link_to_a_folder_is_one(here, tmp_path):
    (tmp_path / "disk").mkdir()
    (here / "results").symlink_to(tmp_path / "disk")
    assert results_folder("results", here) == "results"


def test_a_disk_that_takes_empty_files_only_is_full(here):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        assert unwritable(Path("results")) == "File too large"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert unwritable(Path("results")) == "" and not os.listdir()


def test_a_working_folder_that_cannot_be_written_is_told_the_way_out(here):
    check_surroundings(here)
    (here / ".snakemake").touch()
    assert sentence(check_surroundings, here) == (
        f'nothing can be written to the working folder "{here}" (Not a directory); work in one of '
        f"your own: snakemake --directory FOLDER --snakefile {here}/Snakefile"
    )


def test_temporary_files_need_a_folder_where_one_is_named(here, monkeypatch):
    monkeypatch.setenv("TMPDIR", "/proc/self")
    with pytest.raises(InputError, match=r'^TMPDIR: nothing can be written to "/proc/self" \('):
        check_surroundings(here)
    monkeypatch.setenv("TMPDIR", "/nowhere")  # then Python and Snakemake take another
    check_surroundings(here)


def test_a_home_that_cannot_be_written_is_named(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/proc/none")
    with pytest.raises(InputError, match=r'^HOME: nothing can be written to "/proc/none/.cache" '):
        check_home()
