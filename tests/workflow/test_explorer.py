"""`make explore` makes a page of the runs that a paper names, and trains no others."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from tests.workflow.conftest import Project
from workflow.reporting.explorer.page import ENGINE, SCRIPTS
from workflow.runtime.integrity import check_files, read_verified

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
    said = explored.command("run", "explore", "--scale", "demo", "--results", "results")
    assert "Explorer: results/demo/explorer.html" in said.splitlines()
    folder = explored.root / "results/demo"
    check_files(folder, read_verified(folder / "explorer.json")["files"])
    page = (folder / "explorer.html").read_text()
    assert "/* style.css */</style><script>/* engine/" in page
    data = json.loads(re.search(r"const DATA = (.*);</script>", page)[1])
    (task,) = data["tasks"]
    (model,) = task["models"]
    assert (model["run"], len(task["examples"])) == ("toy_language/gumbel/seed-0", 2)
    assert explored.plan("explore").jobs == []


LINK = '<a href="explorer.html">'


def test_it_is_made_and_linked_where_all_that_it_shows_is_selected(explored: Project) -> None:
    explored.snakemake("all")
    assert (explored.root / "results/demo/explorer.html").is_file()
    assert LINK in (explored.root / "results/demo/report.html").read_text()
    part = explored.plan("all", config=("results=part", "experiments=toy_tuning"))
    assert part.trained and "explore" not in part.jobs
    folder = explored.root / "results/demo"
    said = explored.command("so-far", "--scale", "demo")
    assert "Report so far:  " in said
    assert LINK.replace('"e', '"../e') in (folder / "so_far" / "report.html").read_text()
    (folder / "explorer.html").unlink()
    explored.command("so-far", "--scale", "demo")
    assert "explorer.html" not in (folder / "so_far" / "report.html").read_text()


def test_a_paper_without_tasks_has_no_explorer(fresh: Project) -> None:
    said = fresh.snakemake("--dry-run", "explore", fails=True).error
    assert "workflow/papers names a variant of scale demo; name one, or take another" in said


PUBLISH = """
from pathlib import Path
from workflow import PUBLISHED
from workflow.reporting.publication.current import planned
from workflow.reporting.publication.publishing import publish
from workflow.commands.publish import plan_of
plan = plan_of(Path("results"), "demo")
assert publish(plan, PUBLISHED, planned(plan)) == {}
"""


def site(explored: Project) -> None:
    """Make the site of what is published, which links report and explorer with its pages."""
    first, to = explored.root / "README.md", explored.root / "site"
    first.write_text("# Toy\n\n[Results](gone.md)\n")
    make = ("site", "--to", "site", "--scale", "demo", "--results", "results")
    assert "README.md: it links to gone.md, which is not there" in explored.command(
        *make, fails=True
    )
    assert not to.exists()
    first.write_text("# Toy\n")
    said = explored.command(*make).splitlines()[-1]
    assert said == f"Site: site/index.html, of {sum(it.is_file() for it in to.rglob('*'))} files"
    for name in ("report", "explorer"):
        assert f'href="reproduction/demo/{name}.html"' in (to / "index.html").read_text()
        assert (to / f"reproduction/demo/{name}.html").is_file()
    text = (to / "reproduction/demo/report.html").read_text()
    assert 'href="explorer.html"' in text and 'href="../../index.html"' in text


def test_the_page_of_published_weights_needs_no_run(explored: Project) -> None:
    explored.snakemake("explore", "results/demo/measures/toy_language/gumbel/seed-0.json")
    page = (explored.root / "results/demo/explorer.html").read_text()
    subprocess.run([sys.executable, "-c", PUBLISH], cwd=explored.root, check=True)
    shutil.rmtree(explored.root / "results")
    said = explored.command("explore", "--published", "--scale", "demo", "--results", "results")
    assert "Explorer: results/demo/explorer.html, of 1 published runs" in said
    assert (explored.root / "results/demo/explorer.html").read_text() == page
    assert not (explored.root / "results/store").exists()
    site(explored)
    said = explored.command("explore", "--published", "--scale", "lite", fails=True)
    assert "docs/reproduction/lite: no weights are published that count today." in said
