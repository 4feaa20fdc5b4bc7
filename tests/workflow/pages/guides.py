"""What a page tells people to write into files and to type, and what that would do."""

import re
import shlex
import subprocess
from pathlib import Path

from tests.workflow.conftest import ROOT, Project

README, *GUIDES = PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PROGRAMS = "make|snakemake|python -m|conda|sbatch|scancel|scontrol"
DRY = {"run": "plan", "plan": "plan"}
"""The targets of make that plan Snakemake's jobs, and what tells these."""
ELSEWHERE = {"PROFILE", "JOBS", "TORCH", "PYTHON", "LOCK", "LIST"}
"""Variables that say where jobs run, or what is told of them, not which."""


def blocks(page: Path, *languages: str) -> list[str]:
    """The fenced blocks of some languages; without one they are commands."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    return [text for language, text in found if language in (languages or ("",))]


def files(page: Path) -> dict[str, str]:
    """By its path, each file that a page says to write; the first line, a comment, names it."""
    found = {}
    for block in blocks(page, "yaml", "python", "csv"):
        if named := re.match(r"# (\S+\.\w+)\n", block):
            comments = not named[1].endswith(".csv")
            found[named[1]] = block if comments else block[named.end() :]
    return found


def commands(page: Path) -> list[str]:
    """Each command of a page, in blocks and in lines of text, without comments."""
    lines = [line for text in blocks(page) for line in text.replace("\\\n", " ").splitlines()]
    said = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    lines += re.findall(rf"`((?:{PROGRAMS}) [^`]+)`", said)
    plain = (" ".join(line.partition(" #")[0].split()) for line in lines)
    return list(dict.fromkeys(filter(None, plain)))


def recipe(project: Project, *make: str) -> list[str]:
    """The program and arguments that `make` would run last, without its Python."""
    done = subprocess.run(
        ["make", "-n", *make, "VENV=none", "RESULTS=results"],
        cwd=project.root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    last = done.stdout[done.stdout.rindex("none/bin/python") :]
    return shlex.split(last.replace("\\\n", " "))[2:]


def which(command: str) -> list[str]:
    """What of a `make run` or `make plan` says which jobs there are."""
    variables = shlex.split(command)[2:]
    return sorted(one for one in variables if one.partition("=")[0] not in ELSEWHERE)


def jobs(project: Project, command: str) -> list[str]:
    """The jobs, as `rule run`, that a `snakemake`, `make run` or `make plan` would run."""
    program, *arguments = shlex.split(command)
    if program == "snakemake":
        return project.plan(*arguments).jobs
    _, name, *given = recipe(project, DRY[arguments[0]], *which(command), "LIST=1")
    lines = project.command(name, *given).splitlines()
    return [" ".join(line.split()) for line in lines[:-1] if not line.startswith("Using ")]
