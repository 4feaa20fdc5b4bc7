"""The plan of `config.yaml` with a user's files of changes and a command line's settings."""

from copy import deepcopy

import pytest
import yaml
from snakemake.utils import update_config

from workflow.planning.configured import configured, laid_over
from workflow.planning.errors import InputError


@pytest.fixture
def root(project):
    """The folder of the small project, with a mechanism in its configuration."""
    project.save()
    own = {"mechanisms": {"base": {"path": "model.network:Network", "width": 4}}, "seeds": 2}
    changes = {"name": "mine", "experiments": {"one": {"seeds": 4}}}
    project.write("config.yaml", yaml.safe_dump(project.config | own))
    project.write("first.yaml", yaml.safe_dump({"mechanisms": {"mine": "model.loss:loss"}}))
    project.write("second.yaml", yaml.safe_dump({"seeds": None, "overlay": changes}))
    return project.root


def test_files_are_laid_over_the_configuration_key_by_key_as_snakemake_does(root):
    plan = configured(root, [root / "first.yaml"])
    assert list(plan.mechanisms) == ["base", "mine"]
    assert (plan.scale, plan.config["seeds"]) == ("demo", 2)
    both = configured(root, [root / "first.yaml", root / "second.yaml"])
    assert list(both.mechanisms) == ["base", "mine"]
    assert (both.scale, both.config["seeds"]) == ("demo+mine", None)


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


def test_settings_count_whatever_the_files_say(root):
    plan = configured(root, [root / "second.yaml"], seeds=1, scale="lite+mine")
    assert (plan.scale, plan.config["seeds"]) == ("lite+mine", 1)


@pytest.mark.parametrize("text", ["- a\n", "text", "a: b: c\n"])
def test_a_file_that_is_no_mapping_is_named(root, text):
    (root / "mine.yaml").write_text(text)
    with pytest.raises(InputError, match=r"mine\.yaml: not a YAML mapping; correct it"):
        configured(root, [root / "mine.yaml"])
