"""The plan of a configuration."""

import json

import pytest

from tests.planning.conftest import sentence
from workflow.planning.identity import identity
from workflow.planning.plan import Plan
from workflow.runtime.errors import InputError


def plan(project, **config):
    """The plan of a project with a changed configuration."""
    project.save()
    return Plan({**project.config, **config}, project.root)


def refused(project, **config):
    """The sentence that refuses a configuration."""
    return sentence(plan, project, **config)


def test_the_runs_of_a_scale(project):
    assert [run.key for run in plan(project).runs("one")] == ["one/small/seed-0"]
    paper = plan(project, scale="paper").runs("one", ["large"])
    assert [run.key for run in paper] == [f"one/large/seed-{n}" for n in range(3)]


def test_the_folder_of_results_is_written_as_people_do(project, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert plan(project, results="~/out/").results == str(tmp_path / "out")


SEEDS = [(None, [0]), (2, [0, 1]), ([7, 5], [5, 7]), ("2", [0, 1])]


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
    draft = made.draft(run)
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
    def code() -> str:
        made = plan(project)
        return made.draft(made.run("one", "small", 0))["code"]

    before = code()
    project.write("model/probe.py", "def probe(subject, **options): return 1\n")
    assert code() == before
    project.write("model/loop.py", "STEPS = 2222\n")
    assert code() != before


def test_an_evaluator_has_the_hash_of_its_own_code(project):
    def evaluators() -> dict:
        made = plan(project)
        return made.evaluators(made.run("one", "small", 0))

    before = evaluators()
    assert before["probe"]["path"] == "model.probe:probe"
    project.write(
        "model/objectives/loss.py", "def loss(weight: float = 2.0, *, sign: int = 1): ...\n"
    )
    assert evaluators() == before
    project.write("model/probe.py", PART)
    assert evaluators() != before


def test_a_plan_is_of_the_code_that_it_found(project):
    made = plan(project)
    run = made.run("one", "small", 0)
    before = made.draft(run)
    project.write("model/loop.py", "STEPS = 3333\n")
    assert plan(project).draft(run)["code"] != before["code"]
    assert made.draft(run) == before, "also where another plan was made meanwhile"


PART = "def probe(subject, **options): return 12345\n"


def test_parents_share_seed_scale_and_overlay(project):
    overlay = {"name": "mine", "experiments": {"one": {"training": {"updates": 4}}}}
    made = plan(project, overlay=overlay)
    (parent,) = made.parents(made.run("two", "tuned", 5)).values()
    assert (parent.key, parent.scale) == ("one/small/seed-5", "demo+mine")
    assert parent.settings.training["updates"] == 4


def test_weights_are_handed_on_to_the_same_model_alone(project):
    softmax = {"normalizer": {"path": "model.normalizers.softmax:Softmax"}, "dropout": 0.1}
    model = project.experiments["one"]["model"] | softmax
    sampled = {"normalizer": {"path": "model.normalizers.gumbel:Gumbel"}, "dropout": 0.0}
    project.write("model/network.py", "class Network:\n    def __init__(self, **settings): ...\n")
    for name in ("softmax", "gumbel"):
        project.write(f"model/normalizers/{name}.py", f"class {name.title()}: ...\n")
    project.experiments["one"]["model"] = model | {"inner": {"residual": True}}
    project.experiments["two"]["model"] = model | {"inner": {"residual": True}} | sampled
    made = plan(project)
    assert made.parents(made.run("two", "tuned", 0))
    project.experiments["two"]["model"]["inner"] = {"residual": False}
    told = "two/tuned/seed-0: training.start_from: model.inner.residual is not that of one/small"
    assert told in refused(project)


def test_an_overlay_changes_only_its_experiment(project):
    overlay = {"name": "mine", "experiments": {"one": {"training": {"optimizer": {"lr": "2e-3"}}}}}
    base, made = plan(project), plan(project, overlay=overlay)

    def name(of, *key):
        return identity({**of.draft(of.run(*key)), "seed": key[-1]})

    assert name(base, "one", "small", 0) != name(made, "one", "small", 0)
    assert name(base, "two", "tuned", 0) == name(made, "two", "tuned", 0)
    assert made.run("one", "small", 0).settings.training["optimizer"]["lr"] == 0.002


def keys(made, *names):
    """By key, the key of the run that is trained in place of each run of some experiments."""
    found = {}
    for run in (run for name in names for run in made.runs(name)):
        twin = made.duplicate_of(run)
        found[run.key] = twin.key if twin else None
    return found


def make_twin(project, variant, **parents):
    """Give experiment two a variant that is trained like one/small at scale demo."""
    change = {"training": {"updates": 2, "start_from": None}, "parents": {"first": None}}
    project.experiments["two"]["variants"][variant] = change
    change["parents"] |= parents


def test_one_run_in_two_experiments_is_trained_by_the_first(project):
    make_twin(project, "again")
    assert keys(plan(project), "one", "two") == {
        "one/small/seed-0": None,
        "two/tuned/seed-0": None,
        "two/tuned/seed-1": None,
        "two/tuned/seed-2": None,
        "two/again/seed-0": "one/small/seed-0",
        # The first does not ask for these seeds here, so the second trains them itself.
        "two/again/seed-1": None,
        "two/again/seed-2": None,
    }
    assert set(keys(plan(project, scale="paper"), "two").values()) == {None}
    only = plan(project, experiments=["two"], seeds=[7])
    assert keys(only, "two")["two/again/seed-7"] == "one/small/seed-7"
    overlay = {"name": "mine", "experiments": {"two": {"training": {"precision": "bf16"}}}}
    assert set(keys(plan(project, overlay=overlay), "two").values()) == {None}


def test_a_variant_that_the_scale_leaves_out_copies_from_one_that_it_runs(project):
    """one/large is not run at scale demo, but may be a parent or be asked for by its path."""
    project.experiments["one"]["variants"]["large"] = {}
    project.experiments["one"]["scales"]["paper"] = {"only": ["small"]}
    made = plan(project)
    assert made.duplicate_of(made.run("one", "large", 0)).key == "one/small/seed-0"
    assert made.duplicate_of(made.run("one", "small", 0)) is None


def test_children_of_twins_are_twins(project):
    make_twin(project, "again")
    tuned = {"parents": {"first": {"experiment": "two", "variant": "again"}}}
    project.experiments["two"]["variants"]["tuned_again"] = tuned
    made = plan(project)
    assert made.duplicate_of(made.run("two", "tuned_again", 1)).key == "two/tuned/seed-1"
    make_twin(project, "other", second={"experiment": "one", "variant": "small"})
    assert keys(plan(project), "two")["two/other/seed-0"] is None


def test_the_recipe_of_a_folder(project):
    made = plan(project)
    run = made.run("one", "small", 0)
    assert made.recipe(run.data) == run.recipe
    with pytest.raises(InputError, match="no experiment uses this data"):
        made.recipe("stack_language/000000000000")


@pytest.mark.parametrize(
    ("overlay", "folder", "says"),
    [
        ("lr", "demo", "demo, not demo+lr; leave out OVERLAY=, or ask for {0}/demo+lr/a/b.json"),
        ("lr", "lite", "lite, not demo+lr; say SCALE=lite and leave out OVERLAY="),
        ("lr", "demo+other", "demo+other, not demo+lr; say OVERLAY=<the file of other>"),
        ("", "demo+lr", "demo+lr, not demo; say OVERLAY=<the file of lr>"),
        ("", "lite+lr", "lite+lr, not demo; say SCALE=lite OVERLAY=<the file of lr>"),
    ],
)
def test_a_file_of_another_scale_or_overlay_is_told_what_to_say(project, overlay, folder, says):
    changes = {"name": overlay, "experiments": {"one": {"seeds": 2}}} if overlay else None
    made = plan(project, scale="demo", overlay=changes)
    said = sentence(made.check_scale, [f"{made.results}/{folder}/a/b.json"])
    assert said.endswith(f"this file is of scale {says.format(made.results)}")


def test_an_overlay_is_checked_at_its_own_scale(project):
    overlay = {"name": "mine", "experiments": {"one": {"training": {"updates": 4}}}}
    assert plan(project, overlay=overlay)
    assert "give either epochs or updates" in refused(project, overlay=overlay, scale="lite")


def test_runs_that_do_not_exist(project):
    with pytest.raises(InputError, match=r'unknown experiment "on".*"one"\?'):
        plan(project).run("on", "small", 0)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"tow": {}}, 'unknown experiment "tow"'),
        ({"two": {"trainin": {}}}, 'unknown key "trainin"'),
        ({"two": {"model": {"layers": 0}}}, "two: model.layers: 0 must be at least 1"),
        ({"two": {"variants": {"tuned": {"model": {"width": "-1"}}}}}, 'model.width: "-1" must be'),
        (
            {"one": {"parents": {"p": {"experiment": "two", "variant": "tuned"}}}},
            "overlay: experiments.one, variant small, scale demo: parents.p: one/small is its own",
        ),
    ],
)
def test_bad_overlays(project, changes, says):
    assert says in refused(project, overlay={"name": "mine", "experiments": changes})


def test_an_overlay_that_makes_variants_equal_is_told_what_to_leave(project):
    del project.experiments["one"]["scales"]["demo"]["only"]
    project.experiments["one"]["variants"]["large"] = {"model": {"width": 9}}
    overlay = {"name": "mine", "experiments": {"one": {"model": {"width": 5}}}}
    assert refused(project, overlay=overlay) == (
        "overlay: experiments.one, variant large, scale demo: the same run as variant small; leave "
        "what they differ in to the variants"
    )


def test_bad_configurations(project, tmp_path):
    assert 'unknown name "tow"' in refused(project, experiments=["tow"])
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
