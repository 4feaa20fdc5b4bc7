"""The workflow as a module of somebody else's."""

import subprocess
from pathlib import Path

import pytest

from tests.workflow.conftest import Project

FASTER = {
    "results": "theirs",
    "overlay": {
        "name": "faster",
        "experiments": {"toy_language": {"training": {"optimizer": {"lr": 0.01}}}},
    },
}
TABLE = "theirs/demo+faster/tables/toy/corpora.csv"


def outer(folder: Path, snakefile: str, config: object = None) -> Project:
    """A workflow whose own rule takes one of our tables."""
    folder.mkdir()
    given = f"    config: {config!r}\n" if config else ""
    (folder / "Snakefile").write_text(
        f"module saccade:\n    snakefile: {snakefile}\n{given}"
        "use rule * from saccade as saccade_*\n"
        f"rule own:\n    input: {TABLE!r}\n    output: 'done'\n"
        "    shell: 'cp {input} {output}'\n"
    )
    return Project(folder)


def test_a_module_makes_what_the_workflow_around_it_asks_for(fresh, tmp_path):
    own = outer(tmp_path / "outer", repr(str(fresh.root / "workflow" / "Snakefile")), FASTER)
    own.snakemake("done")
    assert (own.root / "done").read_text() == (own.root / TABLE).read_text()
    planned = own.plan("saccade_toy_language").said
    assert "saccade_train" in planned and "theirs/demo+faster/runs/toy_language" in planned


def test_a_mistake_in_what_a_module_is_given_has_a_sentence(fresh, tmp_path):
    snakefile = repr(str(fresh.root / "workflow" / "Snakefile"))
    own = outer(tmp_path / "outer", snakefile, {"scael": "demo"})
    error = own.snakemake("--dry-run", "done", fails=True).error
    assert error.startswith('config: unknown key "scael"') and 'did you mean "scale"' in error


@pytest.mark.parametrize("changed", [False, True], ids=["as committed", "changed"])
def test_of_a_clone_the_files_are_those_of_the_commit(fresh, tmp_path, changed):
    def git(*arguments: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        subprocess.run(["git", "-C", fresh.root, *who, *arguments], check=True, capture_output=True)

    git("init", "-b", "main")
    (fresh.root / ".gitignore").write_text("__pycache__\n")
    git("add", ".")
    git("commit", "-m", "all")
    if changed:
        fresh.edit("workflow/sources.tsv", "1", "2")
    place = f'gitfile({str(fresh.root)!r}, path="workflow/Snakefile", ref="main")'
    own = outer(tmp_path / "outer", place)
    planned = own.snakemake("--dry-run", "saccade_toy_language", fails=changed)
    if changed:
        assert f"the files of {fresh.root} are not those of main" in planned.error
    else:
        assert "saccade_train" in planned.said
