"""Every command of README and guides would run, or is named here with what it needs."""

import re
import shlex
from collections import defaultdict
from pathlib import Path

import pytest

from tests.workflow.conftest import Project
from tests.workflow.pages.guides import (
    DRY,
    GUIDES,
    PAGES,
    README,
    commands,
    files,
    jobs,
    recipe,
    which,
)
from tests.workflow.test_own_experiment import with_reviews
from workflow.datasets.fetched import mirrors

NEEDS = {
    "source .venv/bin/activate": "a shell",
    "conda env create -f envs/conda.yaml": "conda",
    "docker": "Docker",
    "squeue": "Slurm",
    "scancel": "Slurm",
    "scontrol": "Slurm",
    "sbatch": "Slurm; what it wraps is in test_cluster.py",
    "snakemake --unlock": "a killed snakemake",
    "python -m tests.laboratory.slurm": "Slurm; make slurm runs it",
    "python -m tests.laboratory.explored results --scale demo": "a finished demo, and a browser",
    "python -m tests.laboratory.swept --edits 1000": "minutes; make test makes a tenth",
    "python -m tests.laboratory.flips results": "a finished demo; make offline runs it",
    "python -m tests.laboratory.endurance --kills 1000": "minutes; make offline makes a tenth",
    "tar xf bundle.tar.gz": "a bundle; test_bundle.py unpacks and runs one",
    "python -m workflow.lent.runner": "the same",
    "python provenance.py": "its file; test_crate.py runs it",
    "python cell.py": "its file; test_published.py runs it",
    "python questions.py": "its file; test_numbers.py runs it",
    "python reading.py": "its file; test_guide.py runs it",
    "make plan ROW=": "what is published; commands/test_plan.py plans a row",
    ".venv/bin/python -m pytest test_my_attention.py": "its file; test_own_mechanism.py runs it",
}
VALUES = {"SCALE": "demo|lite|paper", "TORCH": "cpu|keep|lock", "LIST": "1", "DEVICE": "cuda|cpu"}
VALUES |= {"PROFILE": "slurm"}
ONLY = "ONLY="
WHERE = r"--cores (?:all|4)\b|--keep-going|--profile slurm\b"
"""Options that say where and how jobs run, not which."""
OVERLAY = files(README.parent / "docs/configuration.md")["mine.yaml"]
DATA = {"fetch", "synthesise", "prepare", "encode", "index_features"}
SITE = "dry-run: true\ndefault-resources: {slurm_partition: short}\n"
COMMANDS = [
    pytest.param(page, command, id=f"{page.stem}: {command}")
    for page in PAGES
    for command in commands(page)
    if not any(command.startswith(start) for start in NEEDS)
]


def dry(command: str) -> bool:
    """Whether a command is one whose jobs can be planned."""
    program, target, *rest = command.split()
    return program == "snakemake" or (program == "make" and target in DRY and bool(rest))


def overlay(page: Path, command: str) -> tuple[str, str]:
    """The name and text of the file of settings that a command takes, if it takes one."""
    name = "".join(re.findall(r"\b(\w+\.yaml)\b", command)[:1])
    return name, files(page).get(name, OVERLAY) if name else ""


def asked(page: Path, command: str) -> tuple[str, ...]:
    """What is alike of commands that are planned at once: those of make differ in targets only."""
    own = "".join(overlay(page, command))
    if command.startswith("snakemake"):
        return own, *re.sub(WHERE, "", command).split()
    return own, *(one.partition("=")[0] if one.startswith(ONLY) else one for one in which(command))


def at_once(alike: list[str]) -> str:
    """One command for them, which fails where any of their targets is none."""
    words = [shlex.split(command) for command in alike]
    targets = [one.removeprefix(ONLY) for them in words for one in them if one.startswith(ONLY)]
    first = [one for one in words[0] if not one.startswith(ONLY)]
    each = dict.fromkeys(" ".join(targets).split())
    return shlex.join([*first, ONLY + " ".join(each)]) if targets else alike[0]


ALIKE: defaultdict[tuple[str, ...], list[tuple[Path, str]]] = defaultdict(list)
for one in COMMANDS:
    if dry(one.values[1]):
        ALIKE[asked(*one.values)].append(one.values)
PLANNED = [(them[0][0], at_once([command for _, command in them])) for them in ALIKE.values()]
OTHERS = [one for one in COMMANDS if not one.values[1].startswith("snakemake")]


def spelled(project: Project, command: str) -> None:
    """Fail for a target or variable of make that there is not, or a value that it can't have."""
    program, target, *variables = shlex.split(command)
    makefile = (project.root / "Makefile").read_text()
    assert program == "make", f"{command}: name it in NEEDS, or plan it"
    assert re.search(rf"^{target}:", makefile, re.M), command
    for name, value in (variable.split("=", 1) for variable in variables):
        assert re.search(rf"^{name} [?:]?=|[(,]{name}\b", makefile, re.M), f"{command}: {name}"
        assert re.fullmatch(VALUES.get(name, ".+"), value), f"{command}: {name}"
        assert name != "LOCK" or (project.root / value).is_file()


@pytest.fixture(scope="module")
def prepared(copied: Project) -> Project:
    """The project with what commands name: own attention and reviews, a mirror, a profile."""
    (copied.root / "FOLDER").mkdir()
    (copied.root / "FOLDER/SOURCES.tsv").write_text("\t".join(mirrors.COLUMNS) + "\n")
    (copied.root / "PATH").mkdir()
    (copied.root / "PATH/config.yaml").write_text(SITE)
    written = {name: text for page in GUIDES for name, text in files(page).items()}
    for name in ("my_attention.py", "my_first_attention.py"):
        (copied.root / name).write_text(written[name])
    return with_reviews(copied)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("page", "command"), PLANNED)
def test_a_command_would_run_jobs(prepared: Project, page: Path, command: str) -> None:
    name, own = overlay(page, command)
    if name:
        (prepared.root / name).write_text(own)
    command = command.replace("CHECKOUT", shlex.quote(str(prepared.root)))
    rules = {job.split()[0] for job in jobs(prepared, command)}
    assert rules and ("--until" not in command or rules <= DATA)


@pytest.mark.parametrize(("page", "command"), OTHERS)
def test_a_command_is_one_of_make_or_a_program(prepared: Project, page: Path, command: str) -> None:
    program, *rest = command.split()
    if program == "python":
        name, *options = [*rest[2:], "--help"]
        said = prepared.command(name, "--help")
        assert all(option in said for option in options if option.startswith("-"))
    else:
        spelled(prepared, command)


def test_commands_are_found_and_each_need_is_one() -> None:
    found = [one.values for one in COMMANDS]
    assert {page for page, _ in found} >= {page for page in PAGES if "`make" in page.read_text()}
    assert len(PLANNED) > 20 and len(OTHERS) > 40
    said = [command for page in PAGES for command in commands(page)]
    for start in NEEDS:
        assert any(command.startswith(start) for command in said), f"{start} stands nowhere"


def test_an_overlay_trains_its_experiment_and_nothing_else(prepared: Project) -> None:
    (prepared.root / "mine.yaml").write_text(OVERLAY)
    command = "snakemake --cores all stack_language --configfile mine.yaml"
    outcome = prepared.plan(*shlex.split(command)[1:])
    assert {run.partition("/")[0] for run in outcome.trained} == {"stack_language"}
    assert "results/demo+slower/runs/" in outcome.said
    assert "results/demo/runs/" not in outcome.said


def test_make_run_is_told_what_make_plan_is(prepared: Project) -> None:
    given = ("SCALE=lite", "ONLY=stack_language", "OVERLAY=mine.yaml")
    (_, run, *told), (_, plan, *planned) = (recipe(prepared, to, *given) for to in ("run", "plan"))
    assert (run, plan) == ("run", "plan")
    assert told == planned
