"""What evaluators read beside their run: records of other runs, another corpus."""

import pytest

from tests.planning.test_targets import targets
from workflow.planning.identity import data_folder
from workflow.reporting.publication.current import traits
from workflow.runtime.errors import InputError


def made(project, **config):
    """A project whose first experiment has records, which one variant compares."""
    one = project.experiments["one"]
    one["record"] = {"path": "model.probe:probe"}
    one["variants"]["small"]["evaluators"] = {
        "compare": {
            "path": "model.probe:probe",
            "own": {"variant": "small"},
            "others": {"variant": "small", "others": True},
            "large": {"variant": "large"},
        }
    }
    return targets(project, **config)


def compared(project):
    """What that variant compares, to be changed."""
    made(project)
    return project.experiments["one"]["variants"]["small"]["evaluators"]["compare"]


def test_the_same_seed_is_read_or_all_others_as_far_as_they_are_run(project):
    plan = made(project, scale="lite").plan
    read = plan.records(plan.run("one", "small", 1))
    keys = {name: [run.key for run in runs] for name, runs in read.items()}
    assert keys == {
        "compare.own": ["one/small/seed-1"],
        "compare.others": ["one/small/seed-0", "one/small/seed-2"],
        "compare.large": ["one/large/seed-1"],
    }
    demo = made(project, scale="demo").plan
    read = demo.records(demo.run("one", "small", 0))
    assert read["compare.large"] == read["compare.others"] == []
    assert demo.records(demo.run("two", "tuned", 0)) == {}


def test_a_record_may_be_of_a_higher_seed_as_far_as_it_is_run(project):
    compared(project)["large"]["offset"] = 1
    plan = targets(project, scale="lite").plan
    found = [plan.records(plan.run("one", "small", seed))["compare.large"] for seed in (0, 1, 2)]
    keys = [[run.key for run in runs] for runs in found]
    assert keys == [["one/large/seed-1"], ["one/large/seed-2"], []]


@pytest.mark.parametrize("seeds", [None, 2, [0, 5]])
def test_what_is_read_is_run_whatever_the_configured_seeds_are(project, seeds):
    one = project.experiments["one"]
    one["variants"]["large"]["seeds"] = [100, 101, 102]
    compared(project)["large"]["offset"] = 100
    plan = targets(project, scale="lite", seeds=seeds).plan
    for run in plan.runs("one", ["small"]):
        assert [one.seed for one in plan.records(run)["compare.large"]] == [100 + run.seed]


def test_runs_may_be_named_by_the_variants_own_name(project):
    compare, one = compared(project), project.experiments["one"]
    for argument in ("own", "others"):
        compare[argument]["variant"] = "{variant}"
    one["variants"]["tiny_small"] = one["variants"]["small"] | {"model": {"width": 2}}
    one["variants"]["tiny_other"] = {"model": {"width": 3}}
    one["variants"]["tiny_small"]["evaluators"] = {
        "compare": {"path": "model.probe:probe", "other": {"variant": "{stem}_other"}}
    }
    plan = targets(project, scale="lite").plan
    read = plan.records(plan.run("one", "small", 1))
    assert [run.key for run in read["compare.own"]] == ["one/small/seed-1"]
    assert [run.key for run in read["compare.others"]] == ["one/small/seed-0", "one/small/seed-2"]
    read = plan.records(plan.run("one", "tiny_small", 1))
    assert [run.key for run in read["compare.other"]] == ["one/tiny_other/seed-1"]


def test_a_measure_is_stale_when_what_it_reads_is_made_otherwise(project):
    def measuring() -> object:
        plan = made(project, scale="lite").plan
        run = plan.run("one", "small", 0)
        return traits(plan.draft(run), plan.evaluators(run))

    before = measuring()
    assert measuring() == before
    project.experiments["one"]["variants"]["large"]["model"]["width"] = 16
    wider = measuring()
    assert wider["measuring code"] != before["measuring code"]
    assert wider["settings"] == before["settings"]
    project.write("model/probe.py", "def probe(subject, **options): return 1\n")
    assert measuring()["measuring code"] != wider["measuring code"]


def test_a_record_is_no_part_of_the_run(project):
    before, after = targets(project).plan, made(project).plan
    drafts = [plan.draft(plan.run("one", "small", 0)) for plan in (before, after)]
    assert drafts[0] == drafts[1]


def test_a_run_without_a_record_is_told(project):
    plan = made(project).plan
    with pytest.raises(InputError, match=r"two/tuned/seed-0: this variant has no record"):
        plan.recorder(plan.run("two", "tuned", 0))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"variant": 5}, r'unknown variant of one "5"'),
        ({"variant": "smal"}, r'unknown variant of one "smal" .*did you mean "small"'),
        ({"variant": "tuned", "experiment": "two"}, r"two/tuned has no record at scale demo"),
        ({"variant": "tuned", "experiment": "too"}, r'unknown experiment "too"'),
        ({"variant": "small", "offset": "one"}, r"offset is one; give a whole number"),
    ],
)
def test_records_that_are_not_there_are_named(project, change, sentence):
    compared(project)["large"] = change
    with pytest.raises(InputError, match=rf"evaluators\.compare\.large: {sentence}"):
        targets(project)


def test_a_checkpoint_beyond_the_last_update_is_refused(project):
    project.experiments["one"]["checkpoints"] = [1, 2, 11]
    with pytest.raises(InputError, match=r"checkpoints: 11 is beyond the last update, 2"):
        targets(project)


OFFICIAL = {"dataset": "conll2000", "source": "official"}
SMALL = {"source": "generated", "train": 30, "test": 10, "seed": 0}


def reading(project, **config):
    """A project whose first experiment has an evaluator that reads CoNLL-2000."""
    evaluators = project.experiments["one"]["evaluators"]
    evaluators["probe"] = {"path": "model.probe:probe", "tagged": {"dataset": "conll2000"}}
    scales = project.experiments["one"]["scales"]
    scales["demo"]["evaluators"] = {"probe": {"tagged": SMALL}}
    return targets(project, **config)


@pytest.mark.parametrize(
    ("scale", "recipe"), [("demo", {"dataset": "conll2000", **SMALL}), ("lite", OFFICIAL)]
)
def test_a_further_corpus_is_planned_like_any_data(project, scale, recipe):
    found = reading(project, scale=scale)
    run = found.plan.run("one", "small", 0)
    assert run.settings.further_data == {"probe.tagged": recipe}
    folder = data_folder(recipe)
    assert found.recipe(folder) == recipe
    assert recipe in found.recipes and run.recipe in found.recipes
    assert found.plan.run("two", "tuned", 0).settings.further_data == {}


def test_a_further_corpus_is_no_part_of_the_run(project):
    before = targets(project).plan
    after = reading(project).plan
    drafts = [plan.draft(plan.run("one", "small", 0)) for plan in (before, after)]
    assert drafts[0] == drafts[1]
    nodes = [plan.evaluators(plan.run("one", "small", 0)) for plan in (before, after)]
    assert nodes[0] != nodes[1]


def test_a_wrong_recipe_of_a_further_corpus_is_named(project):
    evaluators = project.experiments["one"]["evaluators"]
    evaluators["probe"] = {"path": "model.probe:probe", "tagged": {"dataset": "conll200"}}
    with pytest.raises(InputError, match=r"evaluators\.probe\.tagged: data: unknown dataset"):
        targets(project)
