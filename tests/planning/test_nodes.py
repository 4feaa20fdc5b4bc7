"""Signatures read from source, compared with what Python itself says."""

import importlib
import inspect
from pathlib import Path

import pytest

from model.architectures.translation.translator import Translator
from model.build import accepted, locate
from workflow.planning.nodes import Parts
from workflow.runtime.errors import InputError

ROOT = Path(__file__).resolve().parents[2]

SOURCE = """
from dataclasses import dataclass
from elsewhere import Module, nn

def function(a, /, b, *, c=1): ...
def anything(**options): ...
class Plain(Module):
    def __init__(self, width, depth=1): ...
class Child(Plain):
    pass
class Bare(nn.Module):
    pass
class Imported(Module):
    pass
@dataclass(frozen=True)
class Data:
    x: int
    y: float = 1.0
@dataclass
class More(Data):
    z: int = 0
"""


@pytest.mark.parametrize(
    ("name", "names", "required", "takes_any"),
    [
        ("function", ("a", "b", "c"), ("b",), False),
        ("anything", (), (), True),
        ("Plain", ("width", "depth"), ("width",), False),
        ("Child", ("width", "depth"), ("width",), False),
        ("Bare", (), (), False),
        ("Imported", (), (), True),
        ("Data", ("x", "y"), ("x",), False),
        ("More", ("x", "y", "z"), ("x",), False),
    ],
)
def test_signature(tmp_path, name, names, required, takes_any):
    (tmp_path / "module.py").write_text(SOURCE)
    found = Parts(tmp_path).signature(f"module:{name}", "here")
    assert (found.names, found.required, found.open) == (names, required, takes_any)


def test_a_source_that_changed_is_read_again(tmp_path):
    (tmp_path / "module.py").write_text(SOURCE)
    assert "width" in Parts(tmp_path).signature("module:Plain", "here").names
    (tmp_path / "module.py").write_text(SOURCE.replace("width", "breadth"))
    assert "breadth" in Parts(tmp_path).signature("module:Plain", "here").names


@pytest.mark.parametrize(
    "path",
    [
        "model.architectures.language_model:LanguageModel",
        "model.objectives.language_modelling:LanguageModelling",
        "model.architectures.transformer:Transformer",
        "model.normalizers.gumbel:Gumbel",
        "model.normalizers.softmax:Softmax",
        "model.probes.quality.accuracy:accuracy",
    ],
)
def test_real_parts_have_the_signature_that_python_sees(path):
    module, _, name = path.partition(":")
    part = getattr(importlib.import_module(module), name)
    own = "__init__" in vars(part) if inspect.isclass(part) else True
    expected = tuple(inspect.signature(part).parameters) if own else ()
    assert Parts(ROOT).signature(path, "here").names == expected


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("encoder_decoder:EncoderDecoder", []),
        ("two_stream:TwoStreamEncoderDecoder", ["share_embeddings"]),
        ("with_roles:RoleEncoderDecoder", ["roles"]),
        ("captioner:Captioner", ["images"]),
    ],
)
def test_a_constructor_that_hands_on_any_keyword_has_those_of_its_base(name, more):
    path = f"model.architectures.translation.{name}"
    base = tuple(inspect.signature(Translator).parameters)
    assert Parts(ROOT).signature(path, "here").names == (*more, *base)
    assert not Parts(ROOT).signature(path, "here").open
    known = accepted(locate(path))
    assert [argument for argument in known if argument not in ("shape", "named")] == [*base, *more]


def test_nodes_in_lists_and_below_are_checked(tmp_path):
    (tmp_path / "module.py").write_text(SOURCE)
    node = {"path": "module:Plain", "width": [{"path": "module:Data", "x": 1}, {"free": 1}]}
    Parts(tmp_path).check(node, "model")
    node["width"][0]["w"] = 1
    with pytest.raises(InputError, match=r'model\.width\.0 \(module:Data\): unknown argument "w"'):
        Parts(tmp_path).check(node, "model")


def test_a_module_that_does_not_exist_is_named_with_the_nearest(tmp_path):
    (tmp_path / "module.py").write_text(SOURCE)
    with pytest.raises(InputError, match=r'there is no module "modul"; did you mean "module"\?'):
        Parts(tmp_path).signature("modul:Plain", "model")


LANGUAGE_MODEL = "model.architectures.language_model:LanguageModel"
TRANSFORMER = "model.architectures.transformer:Transformer"
ENCODER_DECODER = "model.architectures.translation.encoder_decoder:EncoderDecoder"
SOFTMAX = {"path": "model.normalizers.softmax:Softmax"}
PART = 'expected a mapping with the path of a part, "package.module:Name", and its arguments'


@pytest.mark.parametrize(
    ("node", "says"),
    [
        ({"path": LANGUAGE_MODEL, "decoder": "small"}, f'model.decoder: {PART}, found "small"'),
        ({"path": LANGUAGE_MODEL, "decoder": ["a"]}, f"model.decoder: {PART}, found [a]"),
        ({"path": LANGUAGE_MODEL, "decoder": {"width": 1}}, f"{PART}, found {{width: 1}}"),
        ({"path": LANGUAGE_MODEL}, f'model ({LANGUAGE_MODEL}): the key "decoder" is missing'),
        (
            {"path": LANGUAGE_MODEL, "decoder": {"path": TRANSFORMER, "normalizer": "softmax"}},
            f'model.decoder.normalizer: {PART}, found "softmax"',
        ),
        (
            {"path": ENCODER_DECODER, "normalizer": SOFTMAX, "cross_normalizer": 3},
            f"model.cross_normalizer: {PART}, found 3",
        ),
    ],
)
def test_where_a_part_belongs_nothing_else_stands(node, says):
    with pytest.raises(InputError) as caught:
        Parts(ROOT).check(node, "model")
    assert says in str(caught.value)


def test_a_part_that_has_a_default_may_be_left_out():
    Parts(ROOT).check({"path": ENCODER_DECODER, "normalizer": SOFTMAX}, "model")
