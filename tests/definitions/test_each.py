"""Entries that are said once for many: what they become, in which order, and what is refused."""

import json

import jsonschema
import pytest

from workflow import ROOT
from workflow.definitions.each import expanded
from workflow.definitions.experiments import Experiments
from workflow.definitions.loader import load_yaml, read_yaml
from workflow.runtime.errors import InputError

PAPERS = sorted(ROOT.glob("workflow/papers/*/*.yaml"))


def test_a_range_gives_an_entry_each_in_its_place():
    entry = {"each": {"head": "2..4"}, "label": "head {head}", "model": {"seeds": ["{head}"]}}
    made = expanded({"first": {}, "head_{head}": entry, "last": {}}, "f")
    assert list(made) == ["first", "head_2", "head_3", "head_4", "last"]
    assert made["head_3"] == {"label": "head 3", "model": {"seeds": [3]}}


def test_a_list_of_bindings_gives_one_entry_each():
    each = [{"id": "sst", "part": {"path": "a:B"}}, {"id": "imdb", "part": None}]
    made = expanded([{"each": each, "id": "{id}_soft", "model": "{part}"}, {"id": "own"}], "f")
    assert made == [
        {"id": "sst_soft", "model": {"path": "a:B"}},
        {"id": "imdb_soft", "model": None},
        {"id": "own"},
    ]


def test_several_names_give_all_combinations_the_last_fastest():
    each = {"kind": [{"kind": "a", "label": "A"}, {"kind": "b", "label": "B"}], "end": ["x", "y"]}
    made = expanded({"{kind}_{end}": {"each": each, "label": "{label}"}}, "f")
    assert list(made.items()) == [
        ("a_x", {"label": "A"}),
        ("a_y", {"label": "A"}),
        ("b_x", {"label": "B"}),
        ("b_y", {"label": "B"}),
    ]


def test_the_text_of_a_number_and_names_of_others_stay():
    (made,) = expanded([{"each": {"n": "1..1"}, "id": "{n!s}", "variant": "{row}_{n}"}], "f")
    assert made == {"id": "1", "variant": "{row}_1"}


def test_templates_may_stand_in_templates():
    inner = {"each": {"b": [1, 2]}, "id": "{a}{b}"}
    assert expanded([{"each": {"a": [3, 4]}, "rows": [inner]}], "f") == [
        {"rows": [{"id": "31"}, {"id": "32"}]},
        {"rows": [{"id": "41"}, {"id": "42"}]},
    ]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"a": {"each": []}}, "f: each: expected a list of mappings, or names with their values"),
        ({"a": {"each": {}}}, "f: each: expected a list of mappings, or names with their values"),
        ([{"each": [1]}], "f: each: expected a list of mappings, or names with their values"),
        ({"a": {"each": {"n": "0-3"}}}, "f: each: n: expected a list, or a range such as 0..31"),
        ({"a": {"each": {"n": "3..1"}}}, "f: each: n: expected a list, or a range such as 0..31"),
        ({"a": {"each": {"n": [1, 2]}}}, 'f: the key "a" stands twice; rename one'),
        ({"a_{n}": {"each": {"n": [1]}}, "a_1": {}}, 'f: the key "a_1" stands twice; rename one'),
    ],
)
def test_what_cannot_be_carried_out_is_said(value, says):
    with pytest.raises(InputError) as caught:
        expanded(value, "f")
    assert str(caught.value) == says


def test_a_mistake_in_a_template_is_one_in_what_it_makes(tmp_path):
    file = tmp_path / "experiments.yaml"
    file.write_text('experiments: {"a_{n}": {each: {n: [1]}, titel: x}}\n')
    with pytest.raises(InputError, match=r'experiments\.a_1: unknown key "titel".*"title"\?'):
        load_yaml(file, Experiments)


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_editors_find_nothing_wrong(path):
    schema = json.loads((ROOT / f"workflow/schemas/{path.stem}.json").read_text())
    # An editor's YAML reads 1e-3 as a number.
    errors = jsonschema.Draft202012Validator(schema).iter_errors(_numbers(read_yaml(path)))
    assert [error.json_path + error.message for error in errors] == []


def _numbers(value):
    if isinstance(value, dict):
        return {key: _numbers(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_numbers(one) for one in value]
    try:
        return float(value) if isinstance(value, str) and "e-" in value else value
    except ValueError:
        return value
