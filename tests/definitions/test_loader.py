"""Reading YAML by its schema, and what is said about mistakes."""

import math
import re

import pytest
import yaml

from workflow.definitions.claims import Claims
from workflow.definitions.configuration import Configuration
from workflow.definitions.experiments import Overlay
from workflow.definitions.loader import load_yaml, read_yaml
from workflow.runtime.errors import InputError
from workflow.validation import check

CONFIG = {"scale": "demo", "experiments": "all", "results": "results", "device": "auto"}
CLAIMS = """
claims:
  - &one {id: one, claim: A., source: a, experiment: e, measure: a.b, label: l, unit: u,
     digits: 1, left: {variant: a, label: a}, right: {value: 1}}
  - {<<: *one, id: two, direction: less, margin: 1, over: examples}
"""


def load(tmp_path, text, kind=Configuration):
    """Load a text as a YAML file."""
    file = tmp_path / "file.yaml"
    file.write_text(text)
    return load_yaml(file, kind)


def training(tmp_path, text):
    """The training section of an overlay's text, loaded by its schema."""
    return load(tmp_path, f"training: {text}", Overlay)["training"]


@pytest.mark.parametrize("number", ["1e-3", "1.0e-3", "1E-3", "0.001", ".001", "'1e-3'"])
def test_a_number_may_be_written_in_any_way(tmp_path, number):
    found = training(tmp_path, f"{{optimizer: {{lr: {number}}}}}")["optimizer"]["lr"]
    assert isinstance(found, float)
    assert found == 0.001


def test_decimal_numbers_stay_accepted(tmp_path):
    path = tmp_path / "numbers.yaml"
    path.write_text("a: [0, -7, +12, 1_000, 0.5, 007.5, .5, 1.5e+3, '010', '1:30', .inf]\n")
    expected = [0, -7, 12, 1000, 0.5, 7.5, 0.5, 1500.0, "010", "1:30", math.inf]
    assert read_yaml(path) == {"a": expected}


@pytest.mark.parametrize("key", ["epochs", "clip"])
def test_digits_of_other_scripts_are_no_number(tmp_path, key):
    with pytest.raises(InputError, match=f'training.{key}: expected a .*number .*found "٣"'):
        training(tmp_path, f"{{{key}: '٣'}}")
    assert training(tmp_path, f"{{{key}: '3'}}") == {key: 3}


def test_numbers_are_found_in_lists_and_where_null_is_allowed(tmp_path):
    found = training(tmp_path, "{clip: '1', optimizer: {betas: [9e-1, '.98']}}")
    assert found == {"clip": 1, "optimizer": {"betas": [0.9, 0.98]}}


def test_arguments_of_parts_are_numbers_too_but_their_texts_stay(tmp_path):
    text = 'model: {path: "a:A", rate: 1e-3, name: "007", deep: {list: [2e2, x]}}'
    found = load(tmp_path, text, Overlay)["model"]
    assert found == {"path": "a:A", "rate": 0.001, "name": "007", "deep": {"list": [200.0, "x"]}}


def test_arguments_of_an_own_mechanism_are_numbers_too(tmp_path):
    mine = "{mine: {path: 'a:b', floor: 1e-3, name: x, deep: {at: [2e2]}}}"
    text = "".join(f"{key}: {value}\n" for key, value in (CONFIG | {"mechanisms": mine}).items())
    found = load(tmp_path, text)["mechanisms"]["mine"]
    assert found == {"path": "a:b", "floor": 0.001, "name": "x", "deep": {"at": [200.0]}}


def test_known_arguments_are_numbers_of_their_kind(tmp_path):
    text = 'model: {part: {dropout: "1e-1", temperature: "2", width: 1e2, layers: "2", heads: 4.0}}'
    found = load(tmp_path, text, Overlay)["model"]["part"]
    assert found == {"dropout": 0.1, "temperature": 2, "width": 100, "layers": 2, "heads": 4}
    assert [type(found[name]) for name in ("width", "layers", "heads")] == [int, int, int]


def test_a_text_that_looks_like_a_number_stays_where_a_text_is_wanted():
    assert check({**CONFIG, "results": "1e3"}, Configuration, "here")["results"] == "1e3"


@pytest.mark.parametrize("written", [True, "true", False, "false"])
def test_a_truth_value_may_be_a_text(written):
    found = check({**CONFIG, "keep_checkpoints": written}, Configuration, "")["keep_checkpoints"]
    assert found is (written in (True, "true"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"scal": "demo"}, 'unknown key "scal" (known: budget, device, .*; did you mean "scale"?'),
        ({"scale": "demmo"}, 'scale: "demmo" .* (allowed: "demo", "lite", "paper"); .* "demo"?'),
        ({"scale": 3}, "scale: 3 is not allowed"),
        ({"results": 3}, "results: expected a text (folder that the workflow writes to), found 3"),
        ({"results": ""}, "results: must not be empty"),
        ({"mirror": 3}, "mirror: expected a text or null (folder .*), found 3"),
        ({"seeds": -1}, "seeds: -1 must be at least 1"),
        ({"seeds": []}, "seeds: must not be empty"),
        ({"seeds": [0, -1]}, "seeds.1: -1 must be at least 0"),
        ({"seeds": [1, 0, 1]}, "seeds: [1, 0, 1] names one twice"),
        ({"seeds": 1001}, "seeds: 1001 must be at most 1000"),
        ({"seeds": list(range(1001))}, "... has more than 1000 entries"),
        ({"seeds": [0, 2**31]}, "seeds.1: 2147483648 must be at most 2147483647"),
        ({"seeds": {}}, "seeds: expected a whole number or a list or null (null: .*), found {}"),
        ({"keep_checkpoints": "yes"}, 'keep_checkpoints: expected true or false .* found "yes"'),
        ({"overlay": {"name": "Mine!", "experiments": {"a": {}}}}, '.name: "Mine!" is not a name'),
        ({"overlay": {"name": "x\n", "experiments": {"a": {}}}}, '.name: "x\\n" is not a name'),
        ({"overlay": {"name": "x" * 101, "experiments": {"a": {}}}}, "... has more than 100 let"),
        ({"overlay": {"name": "mine"}}, 'overlay: the key "experiments" is missing'),
        ({"overlay": "mine"}, "overlay: expected a mapping with name, experiments or null"),
        ({"mechanisms": {"x" * 101: "a:b"}}, 'mechanisms: "xxxx.*... has more than 100 letters'),
        ({"mechanisms": {"x\n": "a:b"}}, 'mechanisms: "x\\n" is not a name of lower-case letters'),
        ({"mechanisms": {"x": "a.b"}}, 'mechanisms.x: "a.b" is not a dotted path .*; .* "a:b"?'),
        ({"mechanisms": {"x": 3}}, "mechanisms.x: expected a text or a mapping with path"),
        ({"mechanisms": {"x": {}}}, 'mechanisms.x: the key "path" is missing'),
    ],
)
def test_a_mistake_in_the_configuration(change, says):
    with pytest.raises(InputError) as caught:
        check({**CONFIG, **change}, Configuration, "here")
    assert re.match(f"here: .*{pattern(says)}", str(caught.value)), caught.value


def pattern(says: str) -> str:
    """A sentence as a pattern, in which .* alone is one."""
    return ".*".join(map(re.escape, says.split(".*")))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("training: {epochs: 0}", "training.epochs: 0 must be at least 1"),
        ("training: {batch: {examples: -4}}", "training.batch.examples: -4 must be at least 1"),
        ("training: {optimizer: {lr: 0}}", "training.optimizer.lr: 0 must be more than 0"),
        ("training: {optimizer: {betas: [.9]}}", "betas: [0.9] has fewer than 2 entries"),
        ("training: {optimizer: {betas: [.9, 1]}}", "optimizer.betas.1: 1 must be less than 1"),
        ("training: {optimizer: {learning_rate: 1e-3}}", 'did you mean "lr"?'),
        ("training: {select: {metric: lss, mode: min}}", 'did you mean "loss"?'),
        ("training: {schedule: {name: cosin}}", 'did you mean "cosine"?'),
        ("training: {optimizer: {lr: .nan}}", "lr: expected a number .*, found .nan"),
        ("training: {optimizer: {lr: 1e999}}", 'lr: expected a number .*, found "1e999"'),
        ("training: {epochs: -.inf}", "epochs: expected a whole number or null .*, found -"),
        ("training: {epochs: true}", "epochs: expected a whole number or null .*, found tr"),
        ("training: {epochs: 2.5}", "epochs: expected a whole number or null .*, found 2.5"),
        ("training: {thread: 1}", 'training: unknown key "thread" .* did you mean "threads"?'),
        ("training: []", "training: expected a mapping, found []"),
        ("model: {deep: [.nan]}", "model.deep.0: expected .* a number .*, found .nan"),
        ("model: {deep: [{d: 2026-11-27}]}", "model.deep.0.d: expected a text or .*, found 2026"),
        ("model: {deep: [{width: 0}]}", "model.deep.0.width: 0 must be at least 1"),
        ("data: {dataset: x, noise: .inf}", "data.noise: expected .* a number .*, found .inf"),
        ("evaluators: {one: {path: 'a:b', at: .nan}}", "evaluators.one.at: expected .* found .nan"),
        ("evaluators: {one: {path: a.b}}", 'evaluators.one.path: "a.b" is not a dotted path'),
        ("seeds: [0, 4294967296]", "seeds.1: 4294967296 must be at most 2147483647"),
        ("checkpoints: {first: [], every: 0, last: 1}", "checkpoints.every: 0 must be at least 1"),
        ("checkpoints: {first: [], evry: 1, last: 1}", 'unknown key "evry" .* "every"?'),
        ("resources: {where: here}", 'where: "here" .*(allowed: "cluster", "local", null)'),
        ("resources: {memory: 4G}", 'resources.memory: "4G" is not a size such as "500MB"'),
    ],
)  # fmt: skip
def test_a_mistake_in_an_overlay(tmp_path, text, says):
    with pytest.raises(InputError) as caught:
        load(tmp_path, text, Overlay)
    assert re.search(pattern(says), str(caught.value)), caught.value


@pytest.mark.parametrize(
    ("right", "says"),
    [
        ("{variant: a, lable: a}", 'claims.0.right: unknown key "lable" .* did you mean "label"?'),
        (
            "{variant: 3, label: a}",
            "claims.0.right.variant: expected a text (whose runs they are), found 3",
        ),
        ("{value: x}", "claims.0.right.value: expected a number (in the unit of the measure), "),
        ("{printed: right}", 'claims.0.right.printed: "right" is not allowed (allowed: "left")'),
        ("3", "claims.0.right: expected a mapping with variant, label or a mapping with value or"),
    ],
)
def test_of_alternatives_the_one_that_fits_best_is_judged(tmp_path, right, says):
    with pytest.raises(InputError, match=pattern(says)):
        load(tmp_path, CLAIMS.replace("{value: 1}", right), Claims)


def test_the_line_is_that_of_the_last_key_in_the_file(tmp_path):
    text = """
variants:
  "a_{n}":
    each: {n: 1..2}
    training:
      epochs: 0
  b: &b
    training: {clip: 1}
  c:
    <<: *b
    seeds:
      - 1
      - -1
"""
    with pytest.raises(InputError, match=r"file\.yaml, line 2: variants\.a_1\.training\.epochs: 0"):
        load(tmp_path, text, Overlay)
    text = text.replace("epochs: 0", "epochs: 1")
    with pytest.raises(InputError, match=r"file\.yaml, line 13: variants\.c\.seeds\.1: -1 must"):
        load(tmp_path, text, Overlay)
    text = text.replace("- -1", "- 2").replace("clip: 1", "clip: 0")
    with pytest.raises(InputError, match=r"file\.yaml, line 8: variants\.b\.training\.clip: 0"):
        load(tmp_path, text, Overlay)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"a: 1\n b: [", ", line 2: not valid YAML: mapping values are not allowed"),
        (b"a:\n\tb: 1\n", ", line 2: not valid YAML: found character that cannot start any token"),
        (b"a: 1\nb: *nowhere\n", ", line 2: not valid YAML: found undefined alias"),
        (b"a: !!python/name:os.mkdir\n", ", line 1: not valid YAML: could not determine a const"),
        (b"a: 1\nb: 2 # caf\xe9\n", ", line 2: not valid YAML: a byte that is not UTF-8"),
        ("a: é\nb: \a\n".encode(), ", line 2: not valid YAML: a control character"),
        (b"a: 1\n\nb: \0\n", ", line 3: not valid YAML: a control character"),
        (b"a: 1\nb: &x {c: *x}\n", ", line 2: not valid YAML: it holds itself; take the alias"),
        (b"a: 1\nb: {c: 1,\n c: 2}\n", ', line 3: not valid YAML: the key "c" stands twice'),
        (b"a: 1\nyes: 2\n", ", line 2: not valid YAML: the key true is no text; put it in quotes"),
        (b"[a]: 2\n", ", line 1: not valid YAML: the key [a] is no text; put it in quotes"),
        (b"a: 2026-13-13\n", ", line 1: not valid YAML: 2026-13-13 is no such value; put it in q"),
        (b"a: 1\nb: !!timestamp 'x'\n", ", line 2: not valid YAML: x is no such value; put it in"),
        (b"a: !!map [1]\n", ", line 1: not valid YAML: what has the tag !!map is none; take it a"),
        *(
            (
                f"a: 1\nb: [{number}]\n".encode(),
                f", line 2: not valid YAML: {said} would be read as {value}; write a dec",
            )
            for number, said, value in (
                ("010", "010", 8),
                ("0x10", "0x10", 16),
                ("-0b11", "-0b11", -3),
                ("1:30", "1:30", 90),
                ("1:30.5", "1:30.5", 90.5),
                ("!!float '٣'", "٣", 3.0),
            )
        ),
        *(
            (f"a: 1{noted}\n".encode(encoding), f": this text is in {name}; save it as UTF-8")
            for name, noted, encodings in (
                ("UTF-16", "", ("utf-16", "utf-16-le", "utf-16-be")),
                ("UTF-32", "", ("utf-32", "utf-32-le", "utf-32-be")),
                ("UTF-7", " # für größere Öfen", ("utf-7",)),
            )
            for encoding in encodings
        ),
        (b"\x1f\x8b\x08", ": this text is packed by gzip; unpack it"),
        (b"{a: " * 999 + b"1" + b"}" * 999, ", line 1: not valid YAML: nested too deeply"),
        (b"", ": expected a mapping, found nothing"),
        (b"# nothing\n", ": expected a mapping, found nothing"),
        (b"- a\n", ": expected a mapping, found [a]"),
        (b"text\n", ': expected a mapping, found "text"'),
    ],
)
def test_a_file_that_is_no_mapping_in_yaml_is_named_with_the_line(tmp_path, content, says):
    file = tmp_path / "file.yaml"
    file.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_yaml(file)
    assert str(caught.value).startswith(f"{file}{says}")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_missing_or_not_by_its_schema(tmp_path):
    with pytest.raises(InputError, match=r"absent\.yaml: cannot be read \(No such file"):
        load_yaml(tmp_path / "absent.yaml", Configuration)
    with pytest.raises(InputError, match=r'file\.yaml, line 1: unknown key "a"'):
        load(tmp_path, "a: 1\n")


def test_yaml_merge_keys_work(tmp_path):
    text = "data: &d {length: 3}\nvariants: {a: {data: {<<: *d, seed: 1}}}"
    found = load(tmp_path, text, Overlay)
    assert found["variants"]["a"]["data"] == {"length": 3, "seed": 1}


def test_of_merged_mappings_the_first_wins_and_own_keys_win_over_all(tmp_path, monkeypatch):
    # PyYAML 6.0.4 merges in another order than 6.0.3: neither's counts.
    monkeypatch.setattr(yaml.constructor.SafeConstructor, "flatten_mapping", lambda *_: None)
    text = "a: &a {heads: 1, k: 1}\nb: &b {<<: *a, k: 2, width: 2}\nc: {<<: [*b, *a], width: 3}\n"
    (tmp_path / "file.yaml").write_text(text + "d: {<<: [*a, *b]}\n")
    values = read_yaml(tmp_path / "file.yaml")
    assert values["b"] == {"heads": 1, "k": 2, "width": 2}
    assert values["c"] == {"heads": 1, "k": 2, "width": 3}
    assert values["d"] == {"heads": 1, "k": 1, "width": 2}


@pytest.mark.parametrize("text", ["a: {<<: 1}", "a: {<<: [{b: 1}, 2]}"])
def test_what_merges_no_mapping_is_refused(tmp_path, text):
    (tmp_path / "file.yaml").write_text(text)
    with pytest.raises(InputError, match=r"file\.yaml, line 1: not valid YAML: "):
        read_yaml(tmp_path / "file.yaml")


def test_a_key_that_is_left_out_gets_its_default(tmp_path):
    one, two = load(tmp_path, CLAIMS, Claims)["claims"]
    assert (one["direction"], one["margin"], one["over"]) == ("greater", 0, "runs")
    assert (two["direction"], two["margin"], two["over"]) == ("less", 1, "examples")


def test_nothing_is_added_to_changes_that_are_laid_over_others(tmp_path):
    assert training(tmp_path, "{clip: 1}") == {"clip": 1}


@pytest.mark.parametrize("key", ["clip", "epochs"])
def test_a_number_that_no_float_holds_is_none(tmp_path, key):
    with pytest.raises(InputError, match=f"{key}: expected a .*number.*, found 9999"):
        training(tmp_path, f"{{{key}: {'9' * 400}}}")


BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (BOMB, "line 6: not valid YAML: more than 200000 values, as aliases repeat them"),
        (BOMB.replace("[", "{<<: [").replace("]", "]}"), "more than 200000 values"),
        ("a: " + "[" * 100_000, "line 1: not valid YAML: nested too deeply"),
        ("- " * 100_000, "line 1: not valid YAML: nested too deeply"),
        ("a: " + "x" * 4_000_000, ": 4000003 bytes, more than the 4000000 of a YAML file"),
    ],
    ids=["aliases", "merged", "brackets", "dashes", "size"],
)
def test_a_file_that_would_take_all_time_or_memory_is_refused(tmp_path, text, says):
    file = tmp_path / "file.yaml"
    file.write_text(text)
    with pytest.raises(InputError) as error:
        read_yaml(file)
    assert says in str(error.value)
