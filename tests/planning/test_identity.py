"""What makes two runs the same run."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow.planning.identity import (
    TRAINING,
    canonical,
    digest,
    identity,
    measuring_roots,
    paths,
    recipe_hash,
    run_roots,
    without_paths,
)

SPEC = {
    "schema": 1,
    "run": {"paper": "p", "experiment": "e", "variant": "v", "label": "l", "scale": "demo"},
    "seed": 0,
    "data": {"dataset": "d", "recipe": "0123", "digest": "abcd"},
    "model": {"path": "model.a:A", "width": 8, "part": {"path": "model.b:B", "rate": 0.5}},
    "objective": {"path": "model.c:C"},
    "training": {"updates": 10, "optimizer": {"lr": 0.001}},
    "checkpoints": [],
    "parents": {"first": "00ff"},
    "code": "beef",
}


def changed(path, value):
    """The identity of the spec with another value at a path."""
    spec = node = copy.deepcopy(SPEC)
    *steps, last = path.split(".")
    for step in steps:
        node = node[step]
    node[last] = value
    return identity(spec)


COUNTED = ["schema", "seed", "data.dataset", "data.digest", "model.width", "model.part.rate"]
COUNTED += ["training.optimizer.lr", "checkpoints", "parents.first", "code"]


@pytest.mark.parametrize("path", COUNTED)
def test_everything_that_can_change_the_weights_counts(path):
    assert changed(path, "other") != identity(SPEC)


LABELS = ["run.label", "run.scale", "data.recipe", "identity"]
NAMES = ["model.path", "model.part.path", "objective.path"]


@pytest.mark.parametrize("path", [*LABELS, *NAMES])
def test_labels_the_recipe_and_names_of_code_do_not_count(path):
    assert changed(path, "other") == identity(SPEC)


def test_whole_floats_and_integers_are_one_number():
    assert changed("model.width", 8.0) == identity(SPEC)
    assert canonical([1.0, 1, True, 0.5, -0.0]) == "[1,1,true,0.5,0]"


def test_canonical_refuses_what_json_cannot_say():
    with pytest.raises(ValueError, match="Out of range"):
        canonical({"x": float("nan")})


NUMBERS = st.integers() | st.floats(-1e9, 1e9)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_the_order_of_keys_does_not_count(value):
    assert canonical(dict(reversed(value.items()))) == canonical(value)


@given(JSON, JSON)
def test_different_values_have_different_texts(one, other):
    assert (canonical(one) == canonical(other)) == (_typed(one) == _typed(other))


def _typed(value):
    """A value that compares like JSON does: true is not 1."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, list):
        return [_typed(item) for item in value]
    if isinstance(value, dict):
        return {key: _typed(item) for key, item in value.items()}
    return value


def test_parts_are_found_in_nested_nodes_and_lists():
    node = {
        "path": "a:A",
        "x": {"path": "b:B"},
        "y": [{"path": "c:C"}, {"path": "a:D"}],
        "path2": 1,
    }
    assert paths(node) == ["a:A", "b:B", "c:C", "a:D"]
    assert run_roots(SPEC) == (*TRAINING, "model.a:A", "model.b:B", "model.c:C")
    assert measuring_roots(node)[-4:] == ("a:A", "b:B", "c:C", "a:D")
    assert without_paths(node)["y"] == [{"path": ""}, {"path": ""}]


def test_hashes_have_their_lengths():
    assert len(identity(SPEC)) == 16
    assert len(digest({})) == 64
    assert recipe_hash({"a": 1}) == digest({"a": 1})[:12]
