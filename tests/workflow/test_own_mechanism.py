"""What docs/own_mechanism.md says works as it stands there."""

import csv
import re
import shlex
import subprocess
import sys
from pathlib import Path

import yaml

PAGE = (Path(__file__).resolve().parents[2] / "docs/own_mechanism.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.M | re.S)
FILES = {block.splitlines()[0].removeprefix("# "): block for language, block in BLOCKS if language}
NAMES = list(yaml.safe_load(FILES["mine.yaml"])["mechanisms"])
COMMAND, ALONE = [block.strip() for _, block in BLOCKS if block.startswith("snakemake ")]


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
    project.edit("my_attention.py", "torch.randn_like(scores)", "2 * torch.randn_like(scores)")
    edited = project.plan("toy_losses", "--configfile", "mine.yaml")
    assert edited.trained == ["toy_language/own_noisy/seed-0"], "no other reaches what was edited"
    project.snakemake("toy_losses")
    assert losses(project) == before


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
    program, *arguments = shlex.split(COMMAND)
    assert program == "snakemake"
    trained = {run.split("/")[1] for run in with_files(real).plan(*arguments).trained}
    assert {f"sst_{name}" for name in NAMES} <= trained


def test_the_command_for_one_measure_trains_nothing_else(real):
    program, *arguments = shlex.split(ALONE.replace("\\\n", " "))
    assert program == "snakemake"
    planned = with_files(real).plan(*arguments)
    assert planned.trained == ["mechanism_matrix/sst_mine/seed-0"]


def test_a_mistake_is_told(fresh):
    mine = "mechanisms: {mine: my_attentoin:tempered}\n"
    (with_files(fresh).root / "mine.yaml").write_text(mine)
    error = fresh.snakemake("--dry-run", "--configfile", "mine.yaml", fails=True).error
    assert error.startswith("config: mechanisms.mine") and 'no module "my_attentoin"' in error
