"""What the README tells people to type works as it stands there."""

import re
import shlex
from pathlib import Path

import pytest

from workflow.datasets.fetched import mirrors

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.M | re.S)
INLINE = re.findall(r"`(snakemake -[^`]+)`", README)
COMMANDS = [
    line.partition("#")[0].strip()
    for language, block in BLOCKS
    if not language
    for line in block.splitlines()
    if line.startswith("snakemake ")
]
OVERLAY = "snakemake --cores all stack_language --configfile mine.yaml"


@pytest.fixture
def prepared(real, tmp_path):
    """The project with what the README's commands name: a mirror, the overlay, own attention."""
    (tmp_path / "FOLDER").mkdir()
    (tmp_path / "FOLDER/SOURCES.tsv").write_text("\t".join(mirrors.COLUMNS) + "\n")
    (real.root / "my_attention.py").write_text("def tempered(scores): return scores.softmax(-1)\n")
    for language, block in BLOCKS:
        if language == "yaml":
            name = block.splitlines()[0].removeprefix("# ")
            (real.root / name).write_text(block)
    return real


def test_the_commands_are_found():
    assert len(COMMANDS) >= 6
    assert OVERLAY in INLINE


@pytest.mark.parametrize("command", [*COMMANDS, *INLINE])
def test_a_command_can_be_planned(prepared, tmp_path, command):
    for name, path in (("FOLDER", tmp_path / "FOLDER"), ("CHECKOUT", prepared.root)):
        command = command.replace(name, shlex.quote(str(path)))
    program, *arguments = shlex.split(command)
    assert program == "snakemake"
    assert prepared.plan(*arguments).trained


def test_the_overlay_trains_that_experiment_and_nothing_else(prepared):
    outcome = prepared.plan(*shlex.split(OVERLAY)[1:])
    assert {run.partition("/")[0] for run in outcome.trained} == {"stack_language"}
    assert "results/demo+slower/runs/" in outcome.said
    assert "results/demo/runs/" not in outcome.said


def test_every_make_target_of_the_readme_exists():
    makefile = (Path(__file__).resolve().parents[2] / "Makefile").read_text(encoding="utf-8")
    asked = set(re.findall(r"(?:^|`)make ([a-z-]+)", README, re.M))
    assert {"demo", "test"} <= asked <= set(re.findall(r"^([a-z-]+):", makefile, re.M))
