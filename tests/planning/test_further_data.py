"""Evaluators that read a corpus beside the run's own data."""

import pytest

from tests.planning.test_targets import targets
from workflow.errors import InputError
from workflow.planning.identity import data_folder

OFFICIAL = {"dataset": "conll2000", "source": "official"}
SMALL = {"source": "generated", "train": 30, "test": 10, "seed": 0}


def made(project, **config):
    """A project whose first experiment has an evaluator that reads CoNLL-2000."""
    evaluators = project.experiments["one"]["evaluators"]
    evaluators["probe"] = {"path": "model.probe:probe", "tagged": {"dataset": "conll2000"}}
    scales = project.experiments["one"]["scales"]
    scales["demo"]["evaluators"] = {"probe": {"tagged": SMALL}}
    return targets(project, **config)


@pytest.mark.parametrize(
    ("scale", "recipe"), [("demo", {"dataset": "conll2000", **SMALL}), ("lite", OFFICIAL)]
)
def test_the_corpus_is_planned_like_any_data(project, scale, recipe):
    found = made(project, scale=scale)
    run = found.plan.run("one", "small", 0)
    assert run.settings.further_data == {"probe.tagged": recipe}
    folder = data_folder(recipe)
    assert found.recipe(folder) == recipe
    assert recipe in found.recipes and run.recipe in found.recipes
    assert found.plan.run("two", "tuned", 0).settings.further_data == {}


def test_it_is_no_part_of_the_run(project):
    before = targets(project).plan
    after = made(project).plan
    drafts = [plan.run("one", "small", 0).draft(project.root) for plan in (before, after)]
    assert drafts[0] == drafts[1]
    nodes = [plan.run("one", "small", 0).evaluators(project.root) for plan in (before, after)]
    assert nodes[0] != nodes[1]


def test_a_wrong_recipe_is_named(project):
    evaluators = project.experiments["one"]["evaluators"]
    evaluators["probe"] = {"path": "model.probe:probe", "tagged": {"dataset": "conll200"}}
    with pytest.raises(InputError, match=r"evaluators\.probe\.tagged: data: Unknown dataset"):
        targets(project)
