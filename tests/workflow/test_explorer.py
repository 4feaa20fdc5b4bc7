"""`make explore` makes a page of the runs that a paper names, and trains no others."""

import json
import re

import pytest

from model.store.checksums import check_files, read_sealed
from tests.workflow.conftest import Project
from workflow.reporting.explorer.page import ENGINE, SCRIPTS

TASKS = """
tasks:
  toy:
    title: A toy
    about: It says little.
    kind: next
    experiment: toy_language
    models: [gumbel]
    examples: 2
"""
PAGE = (
    "<style>{{ style }}</style><script>{{ engine }}{{ scripts }}const DATA = {{ data }};</script>"
)


@pytest.fixture
def explored(fresh: Project) -> Project:
    """The toy project with a task, before its first run, and a page of nothing but its data."""
    (fresh.root / "workflow/papers/toy/explorer.yaml").write_text(TASKS)
    folder = fresh.root / "workflow/explorer"
    files = [f"engine/{name}" for name in ENGINE] + [f"page/{name}" for name in SCRIPTS]
    for name in (*files, "style.css", "explorer.html.j2"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(PAGE if name.endswith(".j2") else f"/* {name} */")
    return fresh


def test_the_page_is_made_of_its_run_alone(explored: Project) -> None:
    assert explored.plan("explore").trained == ["toy_language/gumbel/seed-0"]
    assert "explore" not in explored.plan("report").jobs
    said = explored.script("run", "explore", "--scale", "demo", "--results", "results")
    assert "Explorer: results/demo/explorer.html" in said.splitlines()
    folder = explored.root / "results/demo"
    check_files(folder, read_sealed(folder / "explorer.json")["files"])
    page = (folder / "explorer.html").read_text()
    assert page.startswith("<style>/* style.css */</style>\n<script>/* engine/")
    data = json.loads(re.search(r"const DATA = (.*);</script>", page)[1])
    (task,) = data["tasks"]
    (model,) = task["models"]
    assert (model["run"], len(task["examples"])) == ("toy_language/gumbel/seed-0", 2)
    assert explored.plan("explore").jobs == []


def test_a_paper_without_tasks_has_no_explorer(fresh: Project) -> None:
    said = fresh.snakemake("--dry-run", "explore", fails=True).error
    assert "workflow/papers names a variant of scale demo; name one, or take another" in said
