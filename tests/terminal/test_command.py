"""What several command lines share: arguments in JSON, and those that Snakemake gets."""

import argparse
from pathlib import Path

import pytest

from tests.scripts.processes import command
from workflow.terminal.command import asked, mapping, mappings


@pytest.mark.parametrize(
    ("read", "text"),
    [
        *[(mapping("path", "code"), text) for text in ("[]", "3", "{", "{}", '{"path": "a:b"}')],
        *[(mappings("path"), text) for text in ("[1]", "null", '{"a": 1}', '{"a": {}}')],
    ],
)
def test_another_value_than_is_expected_is_refused(read, text):
    with pytest.raises(argparse.ArgumentTypeError, match=r"^expected mapping|^expected a mapping"):
        read(text)


def test_the_expected_value_is_read():
    assert mapping("path")('{"path": "a:b", "x": 1}') == {"path": "a:b", "x": 1}
    assert mappings("path")('{"a": {"path": "a:b"}}') == {"a": {"path": "a:b"}}
    assert mappings("path")("{}") == {}


@pytest.mark.parametrize("text", ["[]", '{"a": 1}', '{"a": {"recipe": {}}}'])
def test_corpora_that_are_none_are_refused_by_the_program(tmp_path, text):
    given = ["--paper", "p", "--table", "t", "--scale", "demo", "--data", str(tmp_path)]
    given += ["--corpora", text, "--out-prefix", str(tmp_path / "out")]
    done = command("describe", given, torch=False)
    *_, last = done.said.splitlines()
    assert done.status == 2 and "Traceback" not in done.said
    assert "--corpora: expected mappings by name, each with recipe, folder, missing, as" in last
    assert not list(tmp_path.iterdir())


def test_targets_stand_before_files():
    made = asked(["a", "b"], {"scale": "lite"}, [Path("x.yaml"), Path("y.yaml")])
    assert made == ["a", "b", "--config", "scale=lite", "--configfile", "x.yaml", "y.yaml"]
    assert asked([], {}, []) == []


@pytest.mark.parametrize(
    ("script", "name", "text"),
    [
        ("resolve", "--spec", "[]"),
        ("resolve", "--spec", "{}"),
        ("measure", "--evaluators", "[1]"),
        ("measure", "--evaluators", '{"a": {}}'),
        ("record", "--recorder", "{}"),
        ("encode", "--recipe", "[]"),
        ("prepare", "--recipe", "3"),
        ("synthesise", "--recipe", "{}"),
    ],
)
def test_a_program_of_a_run_refuses_what_is_none(script, name, text):
    done = command(script, [name, text], torch=False)
    assert done.status == 2 and f"argument {name}: expected " in done.said.splitlines()[-1]
