"""What CTranslate2 is given: every weight once, under its names, and the same sentences."""

import re

import pytest

from benchmarks.ctranslate import CTranslate2, variables
from benchmarks.decoding import decoding_batch
from benchmarks.models import enliven, make_ours
from model.architectures.translation.beam_search import Beam

TINY = {"width": 16, "hidden": 24, "layers": 2, "heads": 4}


def test_every_weight_has_a_name():
    model = make_ours(TINY)
    named = variables(model)
    given = [id(value) for name, value in named.items() if "layer_" in name]
    own = [id(p) for p in model.parameters() if p is not model.output_weight]
    assert sorted(given) == sorted(own)
    tables = {name for name, value in named.items() if value is model.output_weight}
    assert tables == {
        "encoder/embeddings_0/weight",
        "decoder/embeddings/weight",
        "decoder/projection/weight",
    }


def test_shapes_are_those_of_its_layers():
    shapes = {name: tuple(value.shape) for name, value in variables(make_ours(TINY)).items()}
    assert shapes["encoder/layer_0/self_attention/linear_0/weight"] == (48, 16)
    assert shapes["decoder/layer_1/attention/linear_0/weight"] == (16, 16)
    assert shapes["decoder/layer_1/attention/linear_1/weight"] == (32, 16)
    assert shapes["decoder/layer_0/ffn/linear_0/weight"] == (24, 16)
    assert shapes["decoder/layer_0/ffn/linear_1/bias"] == (16,)
    kinds = {re.sub(r"\d", "", name).rpartition("/")[2] for name in shapes}
    assert kinds == {"weight", "bias", "gamma", "beta", "encodings"}


@pytest.mark.parametrize("beam", [1, 3])
def test_it_translates_alike(beam):
    pytest.importorskip("ctranslate2")
    ours = enliven(make_ours(TINY)).eval()
    batch, settings = decoding_batch(20), Beam(beam, length_ratio=1.0, length_extra=1)
    texts = settings.search(ours, batch.source, batch.source_layout).best()
    theirs = CTranslate2(ours, "float32").translate(batch, settings)
    # Where ours ends with EOS and its probability, another of the beam can be the best.
    same = sum(one == other for one, other in zip(texts, theirs, strict=True))
    assert same >= (20 if beam == 1 else 15)
