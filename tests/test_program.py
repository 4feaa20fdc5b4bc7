"""`python -m workflow`: its commands, what `--help` says of them, and a name that is none."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from workflow.__main__ import main

ROOT = Path(__file__).parents[1]


def program(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Start the program, and say what it imports."""
    command = [sys.executable, "-X", "importtime", "-m", "workflow", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_help_has_a_sentence_for_each_command_and_imports_none_of_them():
    listed = program("--help")
    lines = dict(re.findall(r"^  (\S+) +(.*)$", listed.stdout, re.M))
    files = {path.stem.replace("_", "-") for path in ROOT.glob("workflow/commands/[a-z]*.py")}
    assert lines.keys() == files
    for text in lines.values():
        assert text.endswith(".") and len(text) <= 86, text
    assert "snakemake" not in listed.stderr and "workflow.commands" not in listed.stderr


def test_what_make_calls_is_a_command_and_takes_what_it_is_given(capsys):
    makefile = (ROOT / "Makefile").read_text()
    calls = re.findall(r"\$\(SACCADE\) (\S+)((?:.*\\\n)*.*)", makefile)
    assert len(calls) > 15
    named = dict(re.findall(r"^(\w+) = \$\(call given,\w+,(--\w+)\)", makefile, re.M))
    for name, rest in calls:
        options = {named[one] for one in re.findall(r"\$\((\w+)\)", rest) if one in named}
        options |= set(re.findall(r"--[a-z-]+", rest))
        with pytest.raises(SystemExit):
            main([name, "--help"])
        text = capsys.readouterr().out
        assert all(option in text for option in options), (name, options)


@pytest.mark.parametrize(
    ("name", "near"), [("paln", "plan"), ("sofar", "so-far"), ("so_far", "so-far")]
)
def test_a_name_that_is_no_command_tells_the_nearest(name, near):
    with pytest.raises(SystemExit, match=f'^error: no command "{name}"; did you mean "{near}"'):
        main([name])
