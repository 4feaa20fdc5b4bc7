"""The command lines: what they write, their one sentence on an error, and what they import."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.reporting.synthetic import Results

ROOT = Path(__file__).resolve().parents[2]
PAPER = ("--paper", "discrete_transformer", "--scale", "lite")


def script(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", f"workflow.scripts.{name}", *map(str, arguments)],
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
    table = folder / "tables/discrete_transformer/table_6_1"
    figure = folder / "figures/discrete_transformer/figure_6_1"
    claims = folder / "claims/discrete_transformer.json"
    shown = ("--tables", f"{table}.csv", "--figures", f"{figure}.svg", "--claims", claims)
    for done in (
        script("tabulate", *PAPER, "--table", "table_6_1", *given, *runs, "--out-prefix", table),
        script("plot", *PAPER, "--figure", "figure_6_1", *given, *runs, "--out-prefix", figure),
        script("claim", *PAPER, *given, *runs, "--out", claims),
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
        (("tabulate", *PAPER, "--table", "table_61", "--out-prefix", "x"), "did you mean"),
        (("plot", *PAPER, "--figure", "figure_3", "--out-prefix", "x"), "did you mean"),
        (
            ("claim", *PAPER, "--measures", "none.json", "--out", "x"),
            "none.json: this file does not exist",
        ),
        (("publish",), "--scale is missing"),
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


@pytest.mark.parametrize("name", ["tabulate", "claim", "report", "publish"])
def test_only_plot_imports_matplotlib(name: str) -> None:
    code = f"import sys, workflow.scripts.{name}; assert 'matplotlib' not in sys.modules"
    code += "; assert 'torch' not in sys.modules and 'snakemake' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
