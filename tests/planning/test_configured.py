"""The plan of `config.yaml` with a user's files of changes and a command line's settings."""

import os
import re
from copy import deepcopy
from pathlib import Path

import pytest
import yaml
from snakemake.utils import update_config

from tests.planning.conftest import sentence
from workflow.planning.configured import VARIABLES, configuration, configured, laid_over
from workflow.runtime.errors import InputError


@pytest.fixture
def root(project):
    """The folder of the small project, with a mechanism in its configuration."""
    project.save()
    own = {"mechanisms": {"base": {"path": "model.network:Network", "width": 4}}, "seeds": 2}
    changes = {"name": "mine", "experiments": {"one": {"seeds": 4}}}
    project.write("config.yaml", yaml.safe_dump(project.config | own))
    project.write("first.yaml", "mechanisms: {mine: 'model.objectives.loss:loss'}")
    project.write("second.yaml", yaml.safe_dump({"seeds": None, "overlay": changes}))
    return project.root


def test_files_are_laid_over_the_configuration_key_by_key_as_snakemake_does(root):
    plan = configured(root, [root / "first.yaml"])
    assert list(plan.mechanisms) == ["base", "mine"]
    assert (plan.scale, plan.config["seeds"]) == ("demo", 2)
    both = configured(root, [root / "first.yaml", root / "second.yaml"])
    assert list(both.mechanisms) == ["base", "mine"]
    assert (both.scale, both.config["seeds"]) == ("demo+mine", None)


def test_settings_are_laid_over_the_files(root):
    files = [root / "first.yaml"]
    given = {"mechanisms": {"mine": "model.objectives.loss:other"}, "seeds": 1}
    config = configuration(root, files, given)
    assert config["mechanisms"] == {
        "base": {"path": "model.network:Network", "width": 4},
        "mine": "model.objectives.loss:other",
    }
    assert config["seeds"] == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"a": {"b": 9}},
        {"a": {"c": {"e": 9}}},
        {"a": 9},
        {"x": {"y": 9}},
        {"n": {"y": 9}},
        {"a": {}},
    ],
)
def test_it_is_the_configuration_that_snakemake_would_have(changes):
    config = {"a": {"b": 1, "c": {"d": 2}}, "x": 3, "n": None, "l": [1]}
    theirs, before = deepcopy(config), deepcopy(config)
    update_config(theirs, changes)
    assert laid_over(config, changes) == theirs
    assert config == before


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("overlay: {name: o, experiments: {tow: {}}}", "f.yaml, line 2: overlay: experiments: unk"),
        ("overlay:\n name: o\n experiments: {one: {seed: 1}}", "f.yaml, line 4: overlay: experim"),
        ("overlay: {name: o, experiments: {one: {model: {w: 1}}}}", "f.yaml, line 2: overlay: exp"),
        ("overlay: {name: o}", "f.yaml, line 2: overlay: the key"),
        ("mechanisms: {odd: nothing}", "f.yaml, line 2: mechanisms.odd: "),
        ("mechanisms: {base: {wdth: 1}}", "f.yaml, line 2: mechanisms.base"),
        ("sceal: lite", 'f.yaml, line 2: unknown key "sceal"'),
        ("'seeds ': 1", 'f.yaml, line 2: unknown key "seeds "'),
        ("\u00a0seeds: 1", 'f.yaml, line 2: unknown key "\u00a0seeds"'),
        ("__use_yte__: true", 'f.yaml, line 2: unknown key "__use_yte__"'),
        ("scale: lit", "config: scale: "),
    ],
)
def test_a_mistake_names_its_file_and_line(root, project, text, says):
    project.write("f.yaml", f"# mine\n{text}")
    given = {"scale": "lit"} if text.startswith("scale") else {}
    files = [root / "first.yaml", root / "f.yaml"]
    said = sentence(configured, root, files, **given)
    assert said.removeprefix(f"{root}/").startswith(says), said


def test_a_mistake_in_the_configuration_itself_names_it(root, project):
    project.write("config.yaml", yaml.safe_dump(project.config | {"experiments": "tow"}))
    said = sentence(configured, root, [root / "first.yaml"])
    assert re.match(r'config.yaml, line \d+: experiments: unknown name "tow"', said)


def test_a_variable_of_the_environment_that_nothing_reads_is_refused(root, monkeypatch):
    monkeypatch.setenv("SACCADE_STORE", "results/store")
    assert configured(root).scale == "demo"
    monkeypatch.setenv("SACCADE_SCALE", "lite")
    said = sentence(configured, root)
    assert said.startswith("environment: nothing reads SACCADE_SCALE; ")
    assert said.endswith('; did you mean "SCALE"?')


def test_every_variable_that_the_project_reads_is_known():
    project = Path(__file__).resolve().parents[2]
    rooms = ("model", "workflow", "tests")
    files = [file for room in rooms for file in (project / room).rglob("*")]
    texts = [file.read_text() for file in files if file.suffix in (".py", ".smk")]
    read = {name for text in texts for name in re.findall(r"SACCADE_([A-Z_]+)", text)}
    assert read - {"SCALE"} == VARIABLES


def test_settings_count_whatever_the_files_say(root):
    plan = configured(root, [root / "second.yaml"], seeds=1, scale="lite+mine")
    assert (plan.scale, plan.config["seeds"]) == ("lite+mine", 1)


def test_a_file_that_cannot_be_used_is_named(root):
    (root / "mine.yaml").write_text("- a\n")
    with pytest.raises(InputError, match=r"mine\.yaml: expected a mapping, found \[a\]"):
        configured(root, [root / "mine.yaml"])
    with pytest.raises(InputError, match=r"none\.yaml: cannot be read"):
        configured(root, [root / "none.yaml"])


def test_what_is_no_regular_file_is_not_waited_for(root):
    os.mkfifo(root / "pipe.yaml")
    for file in (root / "pipe.yaml", Path("/dev/zero")):
        with pytest.raises(InputError, match=rf"{file}: cannot be read \(it is no regular file"):
            configured(root, [file])
    (root / "link.yaml").symlink_to("first.yaml")
    long = root / f"{'a' * 250}.yaml"
    long.write_text("seeds: 3")
    assert configured(root, [root / "link.yaml", long]).config["seeds"] == 3
    with pytest.raises(InputError, match=r"cannot be read \(File name too long"):
        configured(root, [root / f"{'a' * 256}.yaml"])


def test_two_overlays_would_hide_under_one_name(root):
    files = [root / "second.yaml", root / "mine.yaml"]
    other = {"name": "other", "experiments": {"one": {"seeds": 1}}}
    files[1].write_text(yaml.safe_dump({"overlay": other}))
    assert sentence(configured, root, files) == (
        f'{files[1]}: overlay.name: "other", where {files[0]} has the overlay "mine"; write both '
        "into one file, or give both one name"
    )
    files[1].write_text(yaml.safe_dump({"overlay": {**other, "name": "mine"}}))
    assert configured(root, files).experiments["one"].overlay["seeds"] == 1
