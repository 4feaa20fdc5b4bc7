"""Records of checkpoints: who reads which, what makes a measure stale, and mistakes."""

import pytest

from tests.planning.test_targets import targets
from workflow.errors import InputError
from workflow.reporting.publication.current import traits


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
    made(project)
    compare = project.experiments["one"]["variants"]["small"]["evaluators"]["compare"]
    compare["large"]["offset"] = 1
    plan = targets(project, scale="lite").plan
    found = [plan.records(plan.run("one", "small", seed))["compare.large"] for seed in (0, 1, 2)]
    keys = [[run.key for run in runs] for runs in found]
    assert keys == [["one/large/seed-1"], ["one/large/seed-2"], []]


@pytest.mark.parametrize("seeds", [None, 2, [0, 5]])
def test_what_is_read_is_run_whatever_the_configured_seeds_are(project, seeds):
    one = project.experiments["one"]
    one["variants"]["large"]["seeds"] = [100, 101, 102]
    made(project)
    one["variants"]["small"]["evaluators"]["compare"]["large"]["offset"] = 100
    plan = targets(project, scale="lite", seeds=seeds).plan
    for run in plan.runs("one", ["small"]):
        assert [one.seed for one in plan.records(run)["compare.large"]] == [100 + run.seed]


def test_runs_may_be_named_by_the_variants_own_name(project):
    made(project)
    one = project.experiments["one"]
    templates = {"own": "{variant}", "others": "{variant}", "large": "large"}
    for argument, name in templates.items():
        one["variants"]["small"]["evaluators"]["compare"][argument]["variant"] = name
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


def test_a_name_that_is_no_word_is_told(project):
    made(project)
    compare = project.experiments["one"]["variants"]["small"]["evaluators"]["compare"]
    compare["own"]["variant"] = 5
    with pytest.raises(InputError, match=r'compare\.own: unknown variant of one "5"'):
        targets(project)


def test_a_measure_is_stale_when_what_it_reads_is_made_otherwise(project):
    def measuring() -> object:
        plan = made(project, scale="lite").plan
        run = plan.run("one", "small", 0)
        return traits(run.draft(project.root), plan.evaluators(run))

    before = measuring()
    assert measuring() == before
    project.experiments["one"]["variants"]["large"]["model"]["width"] = 16
    wider = measuring()
    assert wider["measuring code"] != before["measuring code"]
    assert wider["settings"] == before["settings"]
    project.write("model/probe.py", "def probe(subject, **options): return 1\n")
    assert measuring()["measuring code"] != wider["measuring code"]


def test_a_record_is_no_part_of_the_run(project):
    before = targets(project).plan.run("one", "small", 0).draft(project.root)
    assert made(project).plan.run("one", "small", 0).draft(project.root) == before


def test_a_run_without_a_record_is_told(project):
    plan = made(project).plan
    with pytest.raises(InputError, match=r"two/tuned/seed-0: this variant has no record"):
        plan.run("two", "tuned", 0).recorder(project.root)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"variant": "smal"}, r'unknown variant of one "smal" .*did you mean "small"'),
        ({"variant": "tuned", "experiment": "two"}, r"two/tuned has no record at scale demo"),
        ({"variant": "tuned", "experiment": "too"}, r'unknown experiment "too"'),
        ({"variant": "small", "offset": "one"}, r"offset is one; give a whole number"),
    ],
)
def test_records_that_are_not_there_are_named(project, change, sentence):
    made(project)
    reads = project.experiments["one"]["variants"]["small"]["evaluators"]["compare"]
    reads["large"] = change
    with pytest.raises(InputError, match=rf"evaluators\.compare\.large: {sentence}"):
        targets(project)


def test_a_checkpoint_beyond_the_last_update_is_refused(project):
    project.experiments["one"]["checkpoints"] = [1, 2, 11]
    with pytest.raises(InputError, match=r"checkpoints: 11 is beyond the last update, 2"):
        targets(project)
