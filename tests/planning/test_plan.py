"""The plan of a configuration."""

import json

import pytest

from workflow.planning.errors import InputError
from workflow.planning.identity import identity
from workflow.planning.plan import Plan


def plan(project, **config):
    """The plan of a project with a changed configuration."""
    project.save()
    return Plan({**project.config, **config}, project.root)


def refused(project, **config):
    """The sentence that refuses a configuration."""
    with pytest.raises(InputError) as caught:
        plan(project, **config)
    return str(caught.value)


def test_the_runs_of_a_scale(project):
    assert [run.key for run in plan(project).runs("one")] == ["one/small/seed-0"]
    paper = plan(project, scale="paper").runs("one", ["large"])
    assert [run.key for run in paper] == [f"one/large/seed-{n}" for n in range(3)]


SEEDS = [(None, [0]), (2, [0, 1]), ([7, 5, 7], [5, 7]), ("2", [0, 1])]


@pytest.mark.parametrize(("seeds", "found"), SEEDS)
def test_seeds(project, seeds, found):
    assert [run.seed for run in plan(project, seeds=seeds).runs("one")] == found


@pytest.mark.parametrize(
    ("wanted", "found"),
    [("all", ["one", "two"]), ("two", ["two"]), (["one"], ["one"]), (["paper"], ["one", "two"])],
)
def test_the_selection(project, wanted, found):
    assert plan(project, experiments=wanted).selected == found


def test_a_draft_is_a_spec_but_for_digest_and_parents(project):
    made = plan(project)
    run = made.run("one", "small", 0)
    draft = made.run("one", "small", 0).draft(project.root)
    assert draft["run"] == {
        "paper": "paper",
        "experiment": "one",
        "variant": "small",
        "label": "small",
        "seed": 0,
        "scale": "demo",
        "data": run.recipe,
    }
    assert run.recipe["grammar"] == "uniform"
    assert run.data == f"stack_language/{draft['data']['recipe']}"
    assert draft["training"]["updates"] == 2
    assert set(draft) == {
        *("schema", "run", "seed", "data", "model", "objective", "training"),
        *("checkpoints", "parents", "code"),
    }
    json.dumps(draft)


def test_the_code_of_a_run_is_the_trainer_and_its_parts(project):
    made = plan(project)
    before = made.run("one", "small", 0).draft(project.root)["code"]
    project.write("model/probe.py", "def probe(subject, **options): return 1\n")
    assert made.run("one", "small", 0).draft(project.root)["code"] == before
    project.write("model/loop.py", "STEPS = 2222\n")
    assert made.run("one", "small", 0).draft(project.root)["code"] != before


def test_an_evaluator_has_the_hash_of_its_own_code(project):
    made = plan(project)
    before = made.run("one", "small", 0).evaluators(project.root)
    assert before["probe"]["path"] == "model.probe:probe"
    project.write("model/loss.py", PART)
    assert made.run("one", "small", 0).evaluators(project.root) == before
    project.write("model/probe.py", PART)
    assert made.run("one", "small", 0).evaluators(project.root) != before


PART = "def probe(subject, **options): return 12345\n"


def test_parents_share_seed_scale_and_overlay(project):
    overlay = {"name": "mine", "experiments": {"one": {"training": {"updates": 4}}}}
    made = plan(project, overlay=overlay)
    (parent,) = made.parents(made.run("two", "tuned", 5)).values()
    assert (parent.key, parent.scale) == ("one/small/seed-5", "demo+mine")
    assert parent.settings["training"]["updates"] == 4


def test_an_overlay_changes_only_its_experiment(project):
    overlay = {"name": "mine", "experiments": {"one": {"training": {"optimizer": {"lr": "2e-3"}}}}}
    base, made = plan(project), plan(project, overlay=overlay)

    def name(of, *key):
        return identity({**of.run(*key).draft(project.root), "seed": key[-1]})

    assert name(base, "one", "small", 0) != name(made, "one", "small", 0)
    assert name(base, "two", "tuned", 0) == name(made, "two", "tuned", 0)
    assert made.run("one", "small", 0).settings["training"]["optimizer"]["lr"] == 0.002


def test_one_run_in_two_experiments_is_refused(project):
    two = project.experiments["two"]
    two["variants"]["again"] = {"training": {"updates": 2}, "parents": {"first": None}}
    two["variants"]["again"]["training"]["start_from"] = None
    for experiments in ("all", ["one"]):
        sentence = refused(project, experiments=experiments)
        assert "two/again is the same run as one/small at scale demo" in sentence
    assert plan(project, scale="paper")
    two["variants"]["again"]["training"]["updates"] = 3
    assert plan(project)
    overlay = {"name": "mine", "experiments": {"two": {"training": {"updates": 2}}}}
    assert "at scale demo+mine" in refused(project, overlay=overlay)


def test_the_recipe_of_a_folder(project):
    made = plan(project)
    run = made.run("one", "small", 0)
    assert made.recipe(run.data) == run.recipe
    with pytest.raises(InputError, match="no experiment uses this data"):
        made.recipe("stack_language/000000000000")


def test_an_overlay_is_checked_at_its_own_scale(project):
    overlay = {"name": "mine", "experiments": {"one": {"training": {"updates": 4}}}}
    assert plan(project, overlay=overlay)
    assert "give either epochs or updates" in refused(project, overlay=overlay, scale="lite")


def test_runs_that_do_not_exist(project):
    with pytest.raises(InputError, match=r'unknown experiment "on".*"one"\?'):
        plan(project).run("on", "small", 0)


def test_bad_configurations(project, tmp_path):
    assert 'unknown name "tow"' in refused(project, experiments=["tow"])
    assert 'unknown experiment "tow"' in refused(
        project, overlay={"name": "x", "experiments": {"tow": {}}}
    )
    assert 'unknown key "trainin"' in refused(
        project, overlay={"name": "x", "experiments": {"two": {"trainin": {}}}}
    )
    for change, says in (
        ({"model": {"layers": 0}}, "two: model.layers: 0 must be at least 1"),
        ({"variants": {"tuned": {"model": {"width": "-1"}}}}, "tuned.model.width: -1 must be"),
    ):
        overlay = {"name": "x", "experiments": {"two": change}}
        assert says in refused(project, overlay=overlay)
    (tmp_path / "file").write_text("")
    assert "nothing can be written" in refused(project, results=str(tmp_path / "file" / "deeper"))
    assert "is not a folder" in refused(project, mirror=str(tmp_path / "absent"))
    assert "has no index SOURCES.tsv" in refused(project, mirror=str(tmp_path))


def test_a_mirror_is_taken(project, tmp_path):
    (tmp_path / "SOURCES.tsv").write_text("")
    assert plan(project, mirror=str(tmp_path)).mirror == str(tmp_path)
    assert plan(project).mirror == ""


def test_an_experiment_that_is_not_selected_is_checked_too(project):
    project.experiments["two"]["training"]["threads"] = 0
    assert "experiments.two.training.threads: 0 must be at least 1" in refused(
        project, experiments=["one"]
    )
