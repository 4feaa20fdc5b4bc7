"""The command lines: what they write, their one sentence on an error, and what they import."""

import subprocess
import sys
from pathlib import Path

import pytest

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
