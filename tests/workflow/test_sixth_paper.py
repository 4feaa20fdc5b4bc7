"""A paper is added by YAML and CSV alone: it runs, and has its row in every count."""

import json
import re
import subprocess
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.workflow.conftest import ROOT, Project, copy_code
from workflow.reporting.publication.summary import PAGES

SIXTH = Path(__file__).parent / "sixth"
ROW = "\n| [Learning the Stack Language in Four Updates]({}sixth2026.md) | 2 | "


@pytest.fixture
def six(tmp_path: Path) -> Project:
    """The project with its papers and a sixth, as a working tree of git."""
    papers = sorted((ROOT / "workflow/papers").iterdir())
    project = copy_code(tmp_path / "project", *papers, SIXTH)
    (project.root / "docs").mkdir()
    for page, names in PAGES.items():
        marks = [f"<!-- {name}:begin -->\n<!-- {name}:end -->\n" for name in names]
        (project.root / page).write_text("".join(marks))
    (project.root / ".gitignore").write_text("__pycache__/\n.snakemake/\nresults/\n")
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "six"]):
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *identity, *command], cwd=project.root, check=True)
    return project


def test_it_is_data_alone() -> None:
    assert {path.suffix for path in SIXTH.iterdir()} == {".yaml", ".csv"}
    assert sum(len(path.read_text().splitlines()) for path in SIXTH.iterdir()) <= 250


@pytest.mark.timeout(900)
def test_its_demo_runs_and_the_reports_have_it(six: Project) -> None:
    demo = six.snakemake("report", config=("experiments=sixth",))
    assert demo.trained == ["sixth_language/discrete/seed-0", "sixth_language/soft/seed-0"]
    results = six.root / "results/demo"
    assert (results / "figures/sixth/figure_1.png").is_file()
    report = (results / "report.html").read_text()
    own = report.partition('<section id="sixth2026"')[2].partition("</section>")[0]
    assert '<h2 id="sixth2026-title">Learning the Stack Language in Four Updates</h2>' in own
    assert '<a href="https://example.org/sixth">sixth2026</a>: A. Author, B. Author (2026)' in own
    assert "ppl is the perplexity of a symbol." in own
    assert "Table 1: losses of a sixth paper" in own and "Figure 1: how a sixth paper" in own
    assert report.count("(sixth2026 section 2") == 2
    check_snakemakes_report(six)


@pytest.mark.timeout(900)
def test_it_is_published_and_every_count_has_its_row(six: Project) -> None:
    six.snakemake("sixth", config=("scale=lite", "experiments=sixth"))
    six.command("publish", "--scale", "lite")
    readme = (six.root / "README.md").read_text()
    page = (six.root / "docs/reproduction/lite/README.md").read_text()
    targets = (six.root / "docs/scales.md").read_text()
    assert ROW.format("") in page and ROW.format("docs/reproduction/lite/") in readme
    assert "- **[Learning the Stack Language in Four Updates](https://ex" in readme
    assert "| `sixth` | [`sixth2026`](https://example.org/sixth) | " in targets
    assert "| `sixth_language` | Table 1 and Figure 1 |" in targets
    own = (six.root / "docs/reproduction/lite/sixth2026.md").read_text()
    assert "Symbols:" not in own and "2 claims: " in own, "its page does not use ppl"
    assert "](claims/sixth.json#L" in own
    check_a_row_is_made_anew(six)


def check_a_row_is_made_anew(project: Project) -> None:
    """Check that a published row is trained with another seed, compared and logged."""
    said = project.command("reproduce", "--row", "sixth/table_1/soft")
    assert "loss/nll " in said and "Logged:   docs/reproduction/LOG.md" in said
    made = project.root / "results/reproduced/lite/measures/sixth_language/soft"
    assert [path.name for path in made.iterdir()] == ["seed-2.json"]
    *_, line = (project.root / "docs/reproduction/LOG.md").read_text().splitlines()
    assert "| `sixth/table_1/soft` | 2 |" in line and "loss/nll " in line
    said = project.command("reproduce", "--row", "sixth/table_1/soft", "--seed", "0", fails=True)
    assert "SEED=0 is published of sixth/table_1/soft" in said
    project.command("publish", "--check")


def check_snakemakes_report(project: Project) -> None:
    """Check what `snakemake --report` has of the finished paper: it fetches nothing."""
    project.snakemake("report", "--report", "results/all.zip", config=("experiments=sixth",))
    with ZipFile(project.root / "results/all.zip") as made:
        page = made.read("all/report.html").decode()
        data = [name for name in made.namelist() if "/data/" in name]
    found = re.findall(r'var (categories|results) = (\{".*\});', page)
    shown = {name: json.loads(said) for name, said in found}
    folder = project.root / "results/demo/tables/sixth"
    tables = sorted(path.stem for path in folder.glob("*.csv"))
    files = {"tables": [f"tables/sixth/{name}.csv" for name in tables]}
    files |= {"figures": ["figures/sixth/figure_1.png"], "claims": ["claims/sixth.json"]}
    files = {kind: [f"results/demo/{name}" for name in names] for kind, names in files.items()}
    assert shown["categories"] == {"A Sixth Paper": files}
    assert len(data) == len(tables) + 2
    labels = {"paper": "sixth", "figure": "figure_1", "scale": "demo"}
    figure = shown["results"][files["figures"][0]]
    assert figure["labels"] == labels and "has its data" in figure["caption"]
    assert shown["results"][files["claims"][0]]["labels"] == {"paper": "sixth", "scale": "demo"}
    assert "Saccade reproduces papers" in page
    assert not re.search(r'<(?:script|link|img)[^>]+(?:src|href)="?https?:', page)
