"""What docs/own_mechanism.md says works as it stands there."""

import csv
import subprocess
import sys

import yaml

from tests.workflow.conftest import ROOT
from tests.workflow.pages.guides import commands, files, jobs

PAGE = ROOT / "docs/own_mechanism.md"
FILES = files(PAGE)
NAMES = list(yaml.safe_load(FILES["mine.yaml"])["mechanisms"])
COMMAND, _, ALONE, *_ = [line for line in commands(PAGE) if "OVERLAY=" in line]


def with_files(project):
    """The project with the files of the page beside its Snakefile."""
    for name, text in FILES.items():
        (project.root / name).write_text(text)
    return project


def losses(project):
    """The losses of the table by row."""
    with (project.root / "results/demo/tables/toy/losses.csv").open() as stream:
        return {record["row"]: record["mean"] for record in csv.DictReader(stream)}


def test_the_mechanisms_of_the_page_become_rows(project):
    before = losses(project)
    outcome = with_files(project).snakemake("toy_losses", "--configfile", "mine.yaml")
    assert outcome.trained == sorted(f"toy_language/own_{name}/seed-0" for name in NAMES)
    found = losses(project)
    assert list(found) == ["soft", "discrete", *NAMES]
    assert {row: found[row] for row in before} == before
    assert len(set(found.values())) == len(found)
    assert all(0 < float(loss) < 10 for loss in found.values())
    table = project.root / "results/demo/tables/toy/losses.csv"
    table.write_text(table.read_text().replace("soft", "Soft"))
    project.command("mend", "--results", "results", "--configfile", "mine.yaml")
    assert losses(project) == found
    project.edit("my_attention.py", "torch.randn_like(scores)", "2 * torch.randn_like(scores)")
    edited = project.plan("toy_losses", "--configfile", "mine.yaml")
    assert edited.trained == ["toy_language/own_noisy/seed-0"], "no other reaches what was edited"
    project.snakemake("toy_losses")
    assert losses(project) == before


def test_one_that_fails_costs_the_others_nothing(project):
    with_files(project)
    (project.root / "broken.py").write_text(
        "import torch\n\n\nclass Broken(torch.nn.Module):\n    def forward(self, scores):\n"
        "        raise RuntimeError('not today')\n"
    )
    (project.root / "mine.yaml").write_text(
        "mechanisms: {bad: broken:Broken, fine: my_attention:tempered}\n"
    )
    asked = ("--scale", "demo", "--results", "results", "--configfile", "mine.yaml")
    said = project.command("run", "toy_losses", *asked, fails=True)
    assert "Tables of what did not fail: make so-far SCALE=demo OVERLAY=mine.yaml" in said
    assert "Report so far:  results/demo/so_far/report.html" in said
    table = project.root / "results/demo/so_far/tables/toy/losses"
    with table.with_suffix(".csv").open() as stream:
        found = {record["row"]: record for record in csv.DictReader(stream)}
    assert float(found["fine"]["mean"]) > 0 and found["bad"]["mean"] == ""
    assert (
        "broken:Broken is no attention" in found["bad"]["note"]
        and found["bad"]["verdict"] == "not run"
    )
    assert "- Failed (bad): " in table.with_suffix(".md").read_text()


def test_one_mechanism_on_the_command_line_is_in_the_report(project):
    with_files(project)
    own = ("experiments=toy_language", "mechanisms={mine: my_attention:tempered}")
    outcome = project.snakemake("report", config=own)
    assert outcome.trained == ["toy_language/own_mine/seed-0"]
    page = (project.root / "results/demo/report.html").read_text()
    assert '<th scope="row">mine</th>' in page


def test_the_test_of_the_page_passes(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "test_my_attention.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def test_the_command_of_the_page_trains_the_mechanisms(real):
    assert {f"train mechanism_matrix/sst_{name}/seed-0" for name in NAMES} <= {
        *jobs(with_files(real), COMMAND)
    }


def test_the_command_for_one_measure_trains_nothing_else(real):
    planned = jobs(with_files(real), ALONE)
    assert [job for job in planned if job.startswith("train ")] == [
        "train mechanism_matrix/sst_mine/seed-0"
    ]


def test_a_mistake_is_told(fresh):
    mine = "mechanisms: {mine: my_attentoin:tempered}\n"
    (with_files(fresh).root / "mine.yaml").write_text(mine)
    error = fresh.snakemake("--dry-run", "--configfile", "mine.yaml", fails=True).error
    assert "/mine.yaml, line 1: mechanisms.mine" in error and 'no module "my_attentoin"' in error
