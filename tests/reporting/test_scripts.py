"""The command lines: what they write, their one sentence on an error, and what they import."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.reporting.synthetic import Results

ROOT = Path(__file__).resolve().parents[2]
OUT = ("--results", "x", "--out", "x/lite")
PAPER = ("--paper", "discrete_transformer", "--scale", "lite")


def script(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "workflow.scripts", name, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


def test_all_scripts_after_one_another(results: Results) -> None:
    for variant in ("sst_soft", "sst_two_stream"):
        results.add("text_classification", variant, 0)
    given = ("--measures", *results.measures)
    runs = ("--runs", *results.runs)
    folder = results.folder
    paper = "discrete_transformer"
    table, figure = folder / f"tables/{paper}/table_6_1", folder / f"figures/{paper}/figure_6_1"
    items = ("--tables", "table_6_1", "--figures", "figure_6_1", "--claims")
    shown = ("--tables", f"{table}.csv", "--figures", f"{figure}.svg")
    shown = (*shown, "--claims", folder / f"claims/{paper}.json")
    for done in (
        script("results", *PAPER, *items, *given, *runs, "--results", folder, "--out", folder),
        script("report", "--scale", "lite", *runs, *shown, "--out", folder / "report.html"),
    ):
        assert done.returncode == 0, done.stderr
    page = (folder / "report.html").read_text()
    assert "Table 6.1" in page and "Figure 6.1" in page and "sst_two_stream" in page
    made = {path.name for path in folder.rglob("*") if path.is_file()}
    assert {f"table_6_1.{kind}" for kind in ("csv", "md", "tex", "json")} <= made
    assert {f"figure_6_1.{kind}" for kind in ("pdf", "png", "svg", "json")} <= made
    assert {"report.html", "discrete_transformer.json"} <= made
    assert not [name for name in made if name.endswith(".part")]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("results", *PAPER, "--tables", "table_61", *OUT), "did you mean"),
        (("results", *PAPER, "--figures", "figure_3", *OUT), "did you mean"),
        (("results", *PAPER, "--measures", "none.json", *OUT), "none.json: this file does not"),
    ],
)
def test_errors_are_one_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    done = script(*arguments)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1


def test_planning_imports_nothing_heavy() -> None:
    heavy = ("numpy", "scipy", "pandas", "matplotlib", "torch", "jinja2")
    code = "import sys, workflow.planning.targets"
    code += f"; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize("name", ["scripts.results", "scripts.report", "commands.publish"])
def test_only_drawing_imports_matplotlib(name: str) -> None:
    code = f"import sys, workflow.{name}; assert 'matplotlib' not in sys.modules"
    code += "; assert 'torch' not in sys.modules and 'snakemake' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
