"""A plan on some examples of each split, on a made-up project."""

import pytest

from tests.planning.conftest import sentence
from tests.planning.test_targets import targets
from workflow.commands.publish import plan_of
from workflow.planning.departures import overlaid
from workflow.planning.inputs import Inputs
from workflow.planning.limited import ScaleParts
from workflow.planning.plan import Plan
from workflow.runtime.errors import ReportingError


def plan(project, **config) -> Plan:
    project.save()
    return Plan({**project.config, **config}, project.root)


@pytest.mark.parametrize(
    ("scale", "parts", "variables"),
    [
        ("lite", ("lite", "", ""), "SCALE=lite"),
        ("lite+mine", ("lite", "mine", ""), "SCALE=lite OVERLAY=mine.yaml"),
        ("demo+limit=20", ("demo", "", "20"), "SCALE=demo LIMIT=20"),
        ("lite+a+limit=5", ("lite", "a", "5"), "SCALE=lite OVERLAY=a.yaml LIMIT=5"),
    ],
)
def test_a_scale_says_how_it_is_asked_for(scale, parts, variables):
    assert ScaleParts.of(scale) == parts
    assert " ".join(ScaleParts.of(scale).variables()) == variables


def test_a_limit_has_a_folder_of_its_own_and_reads_the_first_examples(project):
    made = targets(project, limit=20)
    run = made.plan.run("one", "small", 0)
    assert made.plan.folder == "out/demo+limit=20"
    assert made.plan.draft(run)["run"]["scale"] == "demo+limit=20"
    wildcards = type("", (), {"experiment": "one", "variant": "small", "seed": "0"})
    assert Inputs(made).encoded(wildcards) == f"out/data/{run.data}/limit-20"
    whole = targets(project)
    assert Inputs(whole).encoded(wildcards) == f"out/data/{run.data}/encoded"


@pytest.mark.parametrize(("limit", "updates"), [(1, 1), (40, 4), (1000, 10)])
def test_training_is_shorter_and_never_longer(project, limit, updates):
    project.experiments["one"] |= {"checkpoints": [1, 5, 10], "scales": {}}
    project.experiments["one"]["training"]["average"] = {"last": 2, "updates": 5}
    settings = plan(project, scale="paper", limit=limit).run("one", "small", 0).settings
    assert settings.training["updates"] == updates and "average" not in settings.training
    assert settings.checkpoints[-1] == updates and settings.checkpoints[0] == 1


def test_epochs_become_updates(project):
    settings = plan(project, scale="lite", limit=40).run("one", "large", 0).settings
    assert settings.training["updates"] == 4 and "epochs" not in settings.training


@pytest.mark.parametrize(("seeds", "found"), [(None, [0]), (2, [0, 1])])
def test_there_is_one_seed_unless_seeds_are_set(project, seeds, found):
    runs = plan(project, scale="paper", limit=20, seeds=seeds).runs("one", ["small"])
    assert [run.seed for run in runs] == found


def test_without_a_limit_a_run_is_what_it_was(project):
    drafts = [plan(project, **more).draft for more in ({}, {"limit": None})]
    run = plan(project).run("one", "small", 0)
    assert drafts[0](run) == drafts[1](run)


def test_what_a_limit_changes_is_told(project):
    made = plan(project, scale="paper", limit=40)
    assert overlaid(made, [made.run("one", "small", 0)]) == {
        "one/small": {"examples of each split": ["all", 40], "training.updates": [10, 4]}
    }


@pytest.mark.parametrize(
    ("limit", "said"), [("0", "at least 1"), (-1, "at least 1"), ("many", "whole number")]
)
def test_a_limit_is_a_number_above_0(project, limit, said):
    told = sentence(plan, project, limit=limit)
    assert told.startswith("config: limit: ") and said in told


def test_the_folder_of_another_limit_is_told(project):
    made = plan(project, limit=20)
    file = f"{made.results}/demo/measures/one/small/seed-0.json"
    assert "leave out LIMIT=" in sentence(made.check_scale, [file])
    other = f"{made.results}/demo+limit=5/measures/one/small/seed-0.json"
    assert "; say LIMIT=5" in sentence(plan(project).check_scale, [other])


@pytest.mark.parametrize(("scale", "limit"), [("lite", 20), ("lite+limit=20", None)])
def test_it_is_not_published(tmp_path, scale, limit):
    with pytest.raises(ReportingError, match=r"are not published; leave out LIMIT="):
        plan_of(tmp_path, scale, limit=limit)
