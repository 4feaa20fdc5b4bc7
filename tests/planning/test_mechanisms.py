"""Variants and rows that a user's own mechanisms become."""

import re
from dataclasses import replace

import pytest

from tests.planning.test_plan import plan, refused
from tests.planning.test_targets import TABLE, targets
from workflow.definitions.cells import with_rows

MINE = {"mine": "my_part:sharper"}


@pytest.fixture
def own(project):
    """The small project with a node to replace, and a function to put there."""
    project.write("my_part.py", "def sharper(scores, by=2): ...\ndef cut(scores, at): ...\n")
    project.write("model/gate.py", "class Gate:\n    def __init__(self, size=1): ...\n")
    project.write("model/network.py", "class Network:\n    def __init__(self, width, gate): ...\n")
    for experiment in project.experiments.values():
        experiment["model"]["gate"] = {"path": "model.gate:Gate", "size": 3}
    like = {"s": "small", "l": "large"}
    project.experiments["one"]["mechanisms"] = {"at": "model.gate", "like": like}
    return project


def test_a_mechanism_is_run_where_the_variant_that_it_follows_is(own):
    own.experiments["one"]["scales"]["paper"] = {"variants": {"large": {"seeds": 2}}}
    made = plan(own, mechanisms=MINE)
    assert [run.variant for run in made.runs("one")] == ["small", "s_mine"]
    lite = plan(own, scale="lite", mechanisms=MINE)
    assert [run.variant for run in lite.runs("one", ["l_mine"])] == ["l_mine"] * 3
    assert lite.run("one", "l_mine", 0).settings.training["epochs"] == 1
    assert "updates" not in lite.run("one", "l_mine", 0).settings.training
    paper = plan(own, scale="paper", mechanisms=MINE)
    assert [run.seed for run in paper.runs("one", ["l_mine"])] == [0, 1]
    assert [run.variant for run in made.runs("two")] == ["tuned"] * 3


def test_it_differs_by_its_node_and_label_alone(own):
    made = plan(own, mechanisms={"mine": {"path": "my_part:sharper", "by": 5}})
    theirs, ours = (made.run("one", name, 0).settings for name in ("large", "l_mine"))
    assert ours.model == {**theirs.model, "gate": {"path": "my_part:sharper", "by": 5}}
    assert ours.label == "mine"
    named = {name: getattr(ours, name) for name in ("variant", "where", "label", "model")}
    assert ours == replace(theirs, **named)


def test_nothing_else_changes(own):
    before, after = plan(own), plan(own, mechanisms=MINE)
    for key in (("one", "small", 0), ("one", "large", 1), ("two", "tuned", 2)):
        assert before.draft(before.run(*key)) == after.draft(after.run(*key))
    code = after.draft(after.run("one", "s_mine", 0))["code"]
    own.write("my_part.py", "def sharper(scores, by=2222): ...\n")
    again = plan(own, mechanisms=MINE)
    assert again.draft(again.run("one", "s_mine", 0))["code"] != code


STEPPING = """
from model.gate import Gate

class Stepping(Gate):
    def STEP: ...

class Renamed(Stepping): ...

def after(scores): ...
"""


@pytest.mark.parametrize("step", ["after(self, context)", "before(self, scores, queries, keys)"])
def test_a_step_needs_the_part_around_that_the_experiment_names(own, step):
    """All else of that part stays, at every scale; one without the step stays where it is."""
    own.write("my_step.py", STEPPING.replace("STEP", step))
    network = "class Network:\n    def __init__(self, width, gate, layers=1): ...\n"
    own.write("model/network.py", network)
    own.write("model/around.py", "from model.network import Network\nclass Around(Network): ...\n")
    own.experiments["one"]["scales"]["demo"]["variants"] = {"large": {"model": {"layers": 5}}}
    own.experiments["one"]["scales"]["demo"]["only"] = ["small", "large"]
    mine = {"step": "my_step:Stepping", "base": {"path": "my_step:Renamed", "size": 2}, **MINE}
    mine["plain"] = "my_step:after"
    made = plan(own, mechanisms=mine)
    found = {run.variant for run in made.runs("one")}
    assert found == {"small", "large", "s_mine", "l_mine", "s_plain", "l_plain"}, "no `after`"
    own.experiments["one"]["mechanisms"]["after"] = "model.around:Around"
    made = plan(own, mechanisms=mine)
    assert {run.variant for run in made.runs("one")} == found | {
        "s_step",
        "l_step",
        "s_base",
        "l_base",
    }
    for scale, changed in (("demo", {"layers": 5}), ("lite", {})):
        model = plan(own, scale=scale, mechanisms=mine).run("one", "l_base", 0).settings.model
        gate = {"path": "my_step:Renamed", "size": 2}
        assert model == {"path": "model.around:Around", "width": 8, "gate": gate, **changed}
    plain = made.run("one", "l_plain", 0).settings.model
    assert plain["path"] == "model.network:Network" and plain["gate"] == {"path": "my_step:after"}
    theirs, ours = (made.run("one", name, 0).settings for name in ("large", "l_step"))
    named = {name: getattr(ours, name) for name in ("variant", "where", "label", "model")}
    assert ours == replace(theirs, **named)


def test_rows_are_only_for_tables_that_ask_for_them(own):
    own.save()
    rows = {**TABLE, "mechanisms": {"s_{mechanism}": "small"}}
    paper = targets(own, {"losses": TABLE, "gates": rows}, mechanisms=MINE).papers["paper"]
    assert paper.mechanisms("losses") == []
    assert paper.mechanisms("gates") == ["mine"]


@pytest.mark.parametrize(
    ("mechanisms", "says"),
    [
        ({**MINE, "other": "my_part:sharper"}, "mechanisms.other: the same as s_mine of one"),
        ({"mine": {"path": "model.gate:Gate", "size": 3}}, "mine: the same as small of one; leave"),
        ({"mine": "my_part:sharp"}, 'mechanisms.mine.path: unknown name in my_part "sharp"'),
        ({"mine": "my_pert:sharper"}, 'mechanisms.mine.path: there is no module "my_pert"'),
        ({"mine": "sharper"}, 'mechanisms.mine: "sharper" is not a dotted path "my_module:func'),
        (
            {"mine": "my_attention.tempered"},
            'not a dotted path "my_module:function"; did you mean "my_attention:tempered"?',
        ),
        ({"Mine": "my_part:sharper"}, 'mechanisms: "Mine" is not a name of lower-case letters'),
        ({"mine": {"by": 3}}, 'mechanisms.mine: the key "path" is missing'),
        ({"mine": {"path": "my_part:sharper", "byy": 3}}, 'unknown argument "byy"'),
        ({"mine": "my_part:cut"}, "mechanisms.mine (my_part:cut): needs at; give it beside"),
        (["my_part:sharper"], "mechanisms: expected a mapping (what"),
        ({"mine": 3}, "mechanisms.mine: expected "),
    ],
)
def test_mistakes_in_the_configuration(own, mechanisms, says):
    sentence = refused(own, mechanisms=mechanisms)
    assert sentence.startswith("config: ") and says in sentence


def test_a_name_that_is_there_already_is_refused(own):
    own.experiments["one"]["variants"]["s_mine"] = {"model": {"width": 9}}
    sentence = refused(own, mechanisms=MINE)
    assert sentence == "config: mechanisms.mine: one already has a variant s_mine; choose " + (
        "another name"
    )


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("at", "model.gat", r'mechanisms\.at: "model\.gat" is no part of variant small'),
        ("at", "model.width", r'mechanisms\.at: "model\.width" is no part'),
        ("at", "data", r'mechanisms\.at: "data" is not a dotted key'),
        ("like", {"s": "smal"}, r'mechanisms\.like: unknown variant "smal".*"small"\?'),
        ("like", {}, r"mechanisms\.like: must not be empty"),
        ("after", "model.gate:Gat", r'mechanisms\.after\.path: unknown name in model.gate "Gat"'),
        ("after", "Gate", r'mechanisms\.after: "Gate" is not a dotted path'),
    ],
)
def test_mistakes_of_an_experiment_are_found_without_any_mechanism(own, key, value, says):
    own.experiments["one"]["mechanisms"][key] = value
    assert re.search(says, refused(own))


def test_a_new_row_follows_its_group_and_has_no_printed_number():
    printed = [{"source": "kinley2020", "table": "T", "row": "{row}", "column": "{column}"}]
    table = {
        "mechanisms": {"a_{mechanism}": "a_soft", "b_{mechanism}": "b_soft"},
        "rows": [
            {"id": "a_soft", "group": "A", "label": "soft", "printed": printed, "note": "x"},
            {"id": "a_hard", "group": "A", "label": "hard"},
            {"id": "b_soft", "group": "B", "label": "soft", "metrics": ["loss"]},
        ],
        "columns": [
            {"id": "loss", "metrics": ["loss"], "rows": ["a_soft", "b_soft"]},
            {"id": "time", "metrics": ["time"]},
        ],
    }
    made = with_rows(table, ["mine", "yours"])
    ids = ["a_soft", "a_hard", "a_mine", "a_yours", "b_soft", "b_mine", "b_yours"]
    assert [row["id"] for row in made["rows"]] == ids
    assert made["rows"][2] == {"id": "a_mine", "label": "mine", "group": "A", "printed": []}
    assert made["rows"][5]["metrics"] == ["loss"]
    assert set(made["columns"][0]["rows"]) == set(ids) - {"a_hard"}
    assert "rows" not in made["columns"][1]
    assert with_rows(table, []) == table
