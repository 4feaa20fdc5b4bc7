"""Resolution of experiments, and the mistakes that are found in them."""

import re
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest

from tests.planning.conftest import sentence
from workflow.planning.experiments import Experiment, load_experiments
from workflow.planning.nodes import Parts
from workflow.planning.plan import Plan
from workflow.planning.resources import Resources
from workflow.planning.settings import Settings, deep_merge
from workflow.runtime.errors import InputError


def check(project, overlay=None):
    """Load and check all experiments of a project, one with an overlay at scale demo."""
    experiments, parts = load_experiments(project.save()), Parts(project.root)
    for experiment in experiments.values():
        experiment.check(experiments, parts)
    if overlay is not None:
        changed = replace(experiments["one"], overlay=overlay)
        changed.check(experiments, parts, ["demo"])


def resolved(definition, variant, scale=None, overlay=None) -> Settings:
    """The settings of a variant of a definition that says no more than a test needs."""
    kinds = ("data", "model", "objective", "training", "evaluators")
    whole = {**{kind: {} for kind in kinds}, **definition, "scales": {"demo": scale or {}}}
    one = Experiment("one", "paper", Path("one.yaml"), whole, overlay or {})
    return one.resolve(variant, "demo")


@pytest.mark.parametrize(
    ("base", "change", "result"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}, {"a": {"b": 3, "c": 2}}),
        ({"a": 1, "b": 2}, {"a": None}, {"b": 2}),
        ({"b": 2}, {"a": None}, {"b": 2}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": 1}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({"a": {"b": 1}}, {"a": 1}, {"a": 1}),
        ({"n": {"path": "a:A", "x": 1}}, {"n": {"y": 2}}, {"n": {"path": "a:A", "x": 1, "y": 2}}),
        ({"n": {"path": "a:A", "x": 1}}, {"n": {"path": "a:A"}}, {"n": {"path": "a:A", "x": 1}}),
        ({"n": {"path": "a:A", "x": 1}}, {"n": {"path": "b:B"}}, {"n": {"path": "b:B"}}),
        ({"d": {"dataset": "a", "x": 1}}, {"d": {"dataset": "b"}}, {"d": {"dataset": "b"}}),
        ({}, {"n": {"a": None, "b": 1}}, {"n": {"b": 1}}),
    ],
)
def test_merge(base, change, result):
    before = deepcopy((base, change))
    assert deep_merge(base, change) == result
    assert (base, change) == before


def test_every_layer_wins_over_the_one_before():
    layers = ["experiment", "variant", "scale", "scale_variant", "overlay", "overlay_variant"]
    sets = {name: dict.fromkeys(layers[i:], name) for i, name in enumerate(layers)}
    definition = {
        "model": sets["experiment"],
        "variants": {"v": {"model": sets["variant"]}, "w": {"model": {"experiment": "wrong"}}},
    }
    scale = {"model": sets["scale"], "variants": {"v": {"model": sets["scale_variant"]}}}
    overlay = {"model": sets["overlay"], "variants": {"v": {"model": sets["overlay_variant"]}}}
    found = resolved(definition, "v", scale, overlay).model
    assert found == {name: name for name in layers}


def test_resources_are_merged_like_settings_and_have_defaults():
    definition = {
        "resources": {"memory": "500MB", "runtime": "2d"},
        "variants": {"v": {"resources": {"gpu": 0, "where": "local"}}, "w": {}},
    }
    scale = {"resources": {"runtime": "90m"}, "variants": {"v": {"resources": {"memory": None}}}}

    def asked(variant, scale, overlay):
        return resolved(definition, variant, scale, overlay).resources

    assert asked("w", {}, {}) == Resources(1, 500, 2880, "cluster")
    assert asked("v", {}, {}) == Resources(0, 500, 2880, "local")
    assert asked("v", scale, {}) == Resources(0, 4000, 90, "local")
    overlay = {"variants": {"v": {"resources": {"memory": "16GB", "where": "cluster"}}}}
    assert asked("v", scale, overlay) == Resources(0, 16000, 90, "cluster")


def test_resources_are_no_part_of_a_run(project):
    project.save()
    plain = Plan(project.config, project.root)
    project.experiments["one"]["resources"] = {"gpu": 0, "runtime": "5m", "where": "local"}
    project.save()
    changed = Plan(project.config, project.root)
    runs = [plan.run("one", "small", 0) for plan in (plain, changed)]
    assert plain.draft(runs[0]) == changed.draft(runs[1])
    assert runs[1].settings.resources == Resources(0, 4000, 5, "local")


def test_a_variant_may_have_seeds_of_its_own():
    scales = {"demo": {"seeds": 1}, "lite": {"variants": {"w": {"seeds": 4}}}}
    definition = {"seeds": 3, "variants": {"v": {"seeds": 2}, "w": {}}, "scales": scales}
    one = Experiment("one", "paper", Path("one.yaml"), definition)
    counts = {s: [len(one.seeds(v, s)) for v in ("v", "w")] for s in ("demo", "lite", "paper")}
    assert counts == {"demo": [1, 1], "lite": [2, 4], "paper": [2, 3]}
    definition["variants"]["v"]["seeds"] = [100, 7]
    assert (one.seeds("v", "lite"), one.seeds("w", "paper")) == ([7, 100], [0, 1, 2])
    changed = replace(one, overlay={"seeds": 5, "variants": {"v": {"seeds": 6}}})
    assert [len(changed.seeds(v, "lite")) for v in ("v", "w")] == [6, 5]


@pytest.mark.parametrize(
    ("written", "updates"),
    [
        ([3, 1], [3, 1]),
        ({"first": [], "every": 10, "last": 30}, [10, 20, 30]),
        ({"first": [2, 10], "every": 10, "last": 39}, [2, 10, 20, 30]),
        ({"first": [1, 25], "every": 10, "last": 30}, [1, 25, 30]),
        ({"first": [7], "every": 10, "last": 5}, [7]),
    ],
)
def test_checkpoints_are_a_list_or_multiples_after_the_first(written, updates):
    assert resolved({"checkpoints": written, "variants": {"a": {}}}, "a").checkpoints == updates


@pytest.mark.parametrize("last", [10**12, 10**30])
def test_more_checkpoints_than_a_run_keeps_are_refused(last):
    every = {"first": [], "every": 1, "last": last}
    says = rf"checkpoints: every 1 up to {last} are {last} updates, more than the 100000 .* lower"
    with pytest.raises(InputError, match=says):
        resolved({"checkpoints": every, "variants": {"a": {}}}, "a")
    kept = {"first": [], "every": last // 100_000, "last": last}
    assert len(resolved({"checkpoints": kept, "variants": {"a": {}}}, "a").checkpoints) == 100_000


def test_a_variant_is_labelled_by_its_name_unless_it_says_otherwise():
    definition = {"variants": {"v": {}, "w": {"label": "with"}}}
    assert resolved(definition, "v").label == "v"
    assert resolved(definition, "w").label == "with"


def test_an_experiment_at_its_scales(project):
    one = load_experiments(project.save())["one"]
    assert one.variants("demo") == ["small"]
    assert one.variants("paper") == ["small", "large"]
    assert (one.seeds("small", "demo"), one.seeds("small", "paper")) == ([0], [0, 1, 2])
    assert one.resolve("small", "demo").training["updates"] == 2
    lite = one.resolve("large", "lite").training
    assert lite["epochs"] == 1
    assert "updates" not in lite
    with pytest.raises(InputError, match='unknown variant "smal"'):
        one.resolve("smal", "demo")


def test_settings_are_made_once_for_checks_and_runs(project, monkeypatch):
    made, of = [], Settings.of

    def counted(variant, base, changes, where):
        made.append(where)
        return of(variant, base, changes, where)

    project.save()
    monkeypatch.setattr(Settings, "of", counted)
    plan = Plan(project.config, project.root)
    assert len(made) == len(set(made)) == 9  # three variants at three scales
    for name in plan.experiments:
        assert all(plan.parents(run) is not None for run in plan.runs(name))
    assert len(made) == 9


def test_papers_are_found_and_names_must_differ(project, tmp_path):
    said = sentence(load_experiments, tmp_path / "nowhere")
    assert "no paper has experiments here" in said
    folder = project.save()
    text = (folder / "paper/experiments.yaml").read_text()
    project.write("workflow/papers/twin/experiments.yaml", text)
    said = sentence(load_experiments, folder)
    assert re.search(r'experiment "one" also stands in .*paper/experiments\.yaml', said)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("variants.large.model.widht", 3, ["(model.network:Network)", '"widht"', '"width"?']),
        ("variants.large.model.path", "model.netwrok:Network", ['"model.network"?']),
        ("variants.large.model.path", "model.network:Ntwork", ['"Network"?']),
        ("objective.sing", -1, ["model.objectives.loss:loss", '"sign"?']),
        ("evaluators.probe.path", "model.prob:probe", ["evaluators.probe.path"]),
        ("evaluators.probe.heads", 0, ["experiments.one.evaluators.probe.heads: 0 must be"]),
        ("evaluators.other", {"x": 1}, ['evaluators.other: the key "path" is missing']),
        ("data.dataset", "stack_languag", ["data: ", "stack_language"]),
        ("data.depth", 2, ["data: ", "max_depth"]),
        ("data.train", 0, ["data: ", "must be 1 or more"]),
        ("training.epochs", 3, ["training: give either epochs or updates"]),
        ("training.batch.tokens", 3, ["training.batch: give either examples or tokens"]),
        ("training.start_from", "nobody", ['start_from: unknown parent "nobody"']),
        ("training.select", {"metric": "acuracy", "mode": "max"}, ['"acuracy" is', '"accuracy"?']),
        ("training.average", {"last": 2}, ["training.average: give either epochs or updates"]),
        ("training.average", {"epochs": 2}, ['training.average: the key "last" is missing']),
        ("training.select", {"mode": "max"}, ['training.select: the key "metric" is missing']),
        ("scales.demo.only", ["smal"], ['scales.demo: unknown variant "smal"', '"small"?']),
        ("scales.lite.variants", {"lrge": {}}, ['scales.lite: unknown variant "lrge"']),
        ("training", {}, ['training: the key "batch" is missing']),
        ("training.optimizer", {"lr": 1}, ['training.optimizer: the key "betas" is missing']),
        ("training.optimizer", {}, ['training.optimizer: the key "lr" is missing']),
        ("scales.paper", {"training": {"batch": None}}, ["expected a mapping, found null"]),
        ("scales.paper", {"evaluators": None}, ["evaluators: expected a mapping"]),
        ("parents", {"p": {"experiment": "thre", "variant": "a"}}, ['unknown experiment "thre"']),
        ("parents", {"p": {"variant": "smal"}}, ['unknown variant of one "smal"', '"small"?']),
        ("parents", {"p": {"variant": "small"}}, ["one/small is its own ancestor"]),
        ("variants.twin", {"label": "same"}, ["the same run as variant small"]),
        ("variants.twin", {"resources": {"gpu": 4}}, ["the same run as variant small"]),
        ("resources", {"gpus": 1}, ['resources: unknown key "gpus"', 'did you mean "gpu"?']),
        ("resources", {"gpu": -1}, ["resources.gpu: -1 must be at least 0"]),
        ("resources", {"memory": "4G"}, ['"4G" is not a size such as "500MB" or "4GB"']),
        (
            "resources",
            {"memory": 4000},
            ['expected a text or null (a size such as "500MB"', "found 4000"],
        ),
        ("resources", {"runtime": "1h30m"}, ['"1h30m" is not a time such as "90m"']),
        ("resources", {"runtime": "0h"}, ['resources.runtime: "0h" is not a time']),
        ("resources", {"where": "clustr"}, ['"clustr" is not allowed', '"cluster"?']),
    ],
)
def test_a_mistake_in_an_experiment(project, path, value, says):
    *steps, last = path.split(".")
    node = project.experiments["one"]
    for step in steps:
        node = node[step]
    node[last] = value
    said = sentence(check, project)
    assert all(part in said for part in ("experiments.one", *says)), said


def test_a_run_ends_with_its_best_weights_or_with_an_average(project):
    project.experiments["one"]["training"] |= {
        "average": {"last": 2, "updates": 10}, "select": {"metric": "loss", "mode": "min"}
    }  # fmt: skip
    assert "training: give either select or average" in sentence(check, project)


IMPOSSIBLE = {
    **dict.fromkeys(("layers", "heads", "beam", "hidden", "max_length", "classes"), 0),
    **dict.fromkeys(("dropout", "temperature", "sparsity", "ramp_epochs", "embedding_std"), -1),
    "width": True,
}


@pytest.mark.parametrize(
    ("place", "argument"),
    [
        *(("model", argument) for argument in IMPOSSIBLE),
        ("variants.large.model.inner", "heads"),
        ("scales.lite.model.inner.list.0.deep", "dropout"),
    ],
)
def test_an_impossible_argument_at_any_depth(project, place, argument):
    node = {argument: IMPOSSIBLE[argument]}
    for step in reversed(place.split(".")):
        node = [node] if step == "0" else {step: node}
    project.experiments["one"] = deep_merge(project.experiments["one"], node)
    assert f"experiments.one.{place}.{argument}: " in sentence(check, project)


def test_a_section_that_is_missing(project):
    del project.experiments["one"]["objective"]
    assert 'experiments.one: the key "objective" is missing' in sentence(check, project)


@pytest.mark.parametrize(
    ("overlay", "says"),
    [
        ({"variants": {"smal": {}}}, 'overlay: experiments.one.variants: unknown variant "smal"'),
        ({"variants": {"smal": {}}}, "docs/own_experiment.md says how to add one"),
        ({"model": {"wdth": 1}}, 'unknown argument "wdth"'),
        ({"data": {"length": -1}}, "must be 1 or more"),
    ],
)
def test_a_mistake_in_an_overlay(project, overlay, says):
    said = sentence(check, project, overlay)
    assert said.startswith("overlay: experiments.one") and says in said
