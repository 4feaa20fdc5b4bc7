"""What command lines share: arguments in JSON, those that Snakemake gets, wrong values."""

import argparse
from pathlib import Path

import pytest

from tests.scripts.processes import command
from workflow.__main__ import main
from workflow.runtime.errors import InputError
from workflow.terminal.arguments import minutes, snakemake_arguments, whole
from workflow.terminal.job_arguments import mapping, mappings


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
    given = ["--paper", "p", "--scale", "demo", "--corpora", text]
    given += ["--results", str(tmp_path), "--out", str(tmp_path / "out")]
    done = command("results", given, torch=False)
    *_, last = done.said.splitlines()
    assert done.status == 2 and "Traceback" not in done.said
    assert "--corpora: expected mappings by name, each with recipe, missing, stated, as" in last
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("plan", ("--device", "gpu"), 'DEVICE= (--device): "gpu" is none of auto, cpu, cuda'),
        ("run", ("--device", "cpu x"), 'DEVICE= (--device): "cpu x" is none of auto, cpu, cuda'),
        ("plan", ("--parallel", "two"), 'PARALLEL= (--parallel): "two" is not a whole number of 1'),
        ("plan", ("--parallel", "0"), 'PARALLEL= (--parallel): "0" is not a whole number of 1 or'),
        ("run", ("--jobs", "two"), 'JOBS= (--jobs): "two" is not a whole number of 1 or more or'),
        ("bundle", ("--minutes", "x"), 'MINUTES= (--minutes): "x" is not a number of minutes'),
        ("bundle", ("--minutes", "nan"), 'MINUTES= (--minutes): "nan" is not a number of minutes'),
        ("reproduce", ("--seed", "x"), 'SEED= (--seed): "x" is not a whole number of 0 or more'),
        (
            "run",
            ("--only", "zhao2019"),
            "--only: names stand alone: python -m workflow run zhao2019 ",
        ),
        ("plan", ("--scael=lite",), '--scael: no such argument; did you mean "--scale"?'),
        ("verify", ("--qq=x",), "--qq: no such argument; there are --help, "),
        ("equivalent", ("--device", "gpu"), 'DEVICE= (--device): "gpu" is none of cpu, cuda'),
    ],
)
def test_a_wrong_value_names_the_variable_of_make(name, given, says, capsys):
    with pytest.raises(SystemExit) as end:
        main([name, *given])
    (line,) = capsys.readouterr().err.splitlines()
    assert end.value.code == 2 and line.startswith(f"error: {says}"), line


def test_values_that_are_right():
    assert [whole(1, "all")(text) for text in ("all", "1", "07")] == ["all", 1, 7]
    assert minutes("0.5") == 0.5


def test_targets_stand_before_files():
    made = snakemake_arguments(["a", "b"], {"scale": "lite"}, [Path("x.yaml"), Path("y.yaml")])
    assert made == ["a", "b", "--config", "scale=lite", "--configfile", "x.yaml", "y.yaml"]
    assert snakemake_arguments([], {}, []) == []


def test_a_target_without_a_name_is_refused():
    with pytest.raises(InputError, match=r'^command line: "" names no target; leave it out'):
        snakemake_arguments(["a", ""], {}, [])


@pytest.mark.parametrize(
    ("script", "name", "text"),
    [
        ("train", "--draft", "[]"),
        ("train", "--draft", '{"data": {}, "run": {}}'),
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
