"""Reading YAML by its schema, and what is said about mistakes."""

import pytest

from workflow.planning.errors import InputError
from workflow.planning.loader import check, load_yaml

CONFIG = {"scale": "demo", "experiments": "all", "results": "results", "device": "auto"}


def load(tmp_path, text, schema="config"):
    """Load a text as a YAML file."""
    file = tmp_path / "file.yaml"
    file.write_text(text)
    return load_yaml(file, schema)


def training(tmp_path, text):
    """The training section of an overlay's text, loaded by its schema."""
    return load(tmp_path, f"training: {text}", "experiments#overlay")["training"]


@pytest.mark.parametrize("number", ["1e-3", "1.0e-3", "1E-3", "0.001", ".001", "'1e-3'"])
def test_a_number_may_be_written_in_any_way(tmp_path, number):
    found = training(tmp_path, f"{{optimizer: {{lr: {number}}}}}")["optimizer"]["lr"]
    assert isinstance(found, float)
    assert found == 0.001


def test_numbers_are_found_in_lists_and_where_null_is_allowed(tmp_path):
    found = training(tmp_path, "{clip: '1', optimizer: {betas: [9e-1, '.98']}}")
    assert found == {"clip": 1, "optimizer": {"betas": [0.9, 0.98]}}


def test_arguments_of_parts_are_numbers_too_but_their_texts_stay(tmp_path):
    text = 'model: {path: "a:A", rate: 1e-3, name: "007", deep: {list: [2e2, x]}}'
    found = load(tmp_path, text, "experiments#overlay")["model"]
    assert found == {"path": "a:A", "rate": 0.001, "name": "007", "deep": {"list": [200.0, "x"]}}


def test_arguments_of_an_own_mechanism_are_numbers_too(tmp_path):
    mine = "{mine: {path: 'a:b', floor: 1e-3, name: x, deep: {at: [2e2]}}}"
    text = "".join(f"{key}: {value}\n" for key, value in (CONFIG | {"mechanisms": mine}).items())
    found = load(tmp_path, text)["mechanisms"]["mine"]
    assert found == {"path": "a:b", "floor": 0.001, "name": "x", "deep": {"at": [200.0]}}


def test_known_arguments_are_numbers_of_their_kind(tmp_path):
    text = 'model: {part: {dropout: "1e-1", temperature: "2", width: 1e2, layers: "2", heads: 4.0}}'
    found = load(tmp_path, text, "experiments#overlay")["model"]["part"]
    assert found == {"dropout": 0.1, "temperature": 2, "width": 100, "layers": 2, "heads": 4}
    assert [type(found[name]) for name in ("width", "layers", "heads")] == [int, int, int]


def test_a_text_that_looks_like_a_number_stays_where_a_text_is_wanted():
    assert check({**CONFIG, "results": "1e3"}, "config", "here")["results"] == "1e3"


@pytest.mark.parametrize("written", [True, "true", False, "false"])
def test_a_truth_value_may_be_a_text(written):
    found = check({**CONFIG, "keep_checkpoints": written}, "config", "here")["keep_checkpoints"]
    assert found is (written in (True, "true"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"scal": "demo"}, 'here: top level: unknown key "scal" (known: budget'),
        ({"scale": "demmo"}, '"demmo" is not allowed (allowed: "demo", "lite", "paper"); did you'),
        ({"scale": 3}, "scale: 3 is not allowed"),
        ({"results": 3}, "here: results: expected a text, found 3"),
        ({"results": ""}, "here: results: must not be empty"),
        ({"mirror": 3}, "here: mirror: expected a text or null, found 3"),
        ({"seeds": -1}, "here: seeds: -1 must be at least 1"),
        ({"seeds": []}, "here: seeds: must not be empty"),
        ({"seeds": [0, -1]}, "here: seeds.1: -1 must be at least 0"),
        ({"seeds": {}}, "here: seeds: expected null (each variant's own), a number of them"),
        (
            {"overlay": {"name": "Mine!", "experiments": {"a": {}}}},
            'overlay.name: "Mine!" is not a name',
        ),
        ({"overlay": {"name": "mine"}}, 'here: overlay: the key "experiments" is missing'),
        ({"overlay": "mine"}, "here: overlay: expected null, or a mapping with the keys name"),
    ],
)
def test_a_mistake_in_the_configuration(change, says):
    with pytest.raises(InputError) as caught:
        check({**CONFIG, **change}, "config", "here")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{epochs: 0}", "training.epochs: 0 must be at least 1"),
        ("{batch: {examples: -4}}", "training.batch.examples: -4 must be at least 1"),
        ("{optimizer: {lr: 0}}", "training.optimizer.lr: 0 must be more than 0"),
        ("{optimizer: {betas: [1, 2, 3]}}", "training.optimizer.betas"),
        ("{optimizer: {betas: [.9, 1]}}", "training.optimizer.betas.1: 1 must be less than 1"),
        ("{select: {metric: lss, mode: min}}", 'did you mean "loss"?'),
        ("{schedule: {name: cosin}}", 'did you mean "cosine"?'),
        ("{thread: 1}", 'unknown key "thread"'),
        ("[]", "training: expected a mapping, found []"),
    ],
)
def test_a_mistake_in_training(tmp_path, text, says):
    with pytest.raises(InputError) as caught:
        training(tmp_path, text)
    assert says in str(caught.value)


def test_a_file_that_is_missing_broken_or_says_things_twice(tmp_path):
    with pytest.raises(InputError, match=r"absent\.yaml: cannot be read \(No such file"):
        load_yaml(tmp_path / "absent.yaml", "config")
    with pytest.raises(InputError, match=r"file\.yaml, line 2: not valid YAML"):
        load(tmp_path, "a: 1\n b: [")
    with pytest.raises(InputError, match=r'line 2: not valid YAML: the key "scale" stands twice'):
        load(tmp_path, "scale: demo\nscale: lite")


def test_yaml_merge_keys_work(tmp_path):
    text = "data: &d {length: 3}\nvariants: {a: {data: {<<: *d, seed: 1}}}"
    found = load(tmp_path, text, "experiments#overlay")
    assert found["variants"]["a"]["data"] == {"length": 3, "seed": 1}
