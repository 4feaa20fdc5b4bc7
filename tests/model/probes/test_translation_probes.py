"""Every probe of translation on corpora as the datasets write them, for each kind of model."""

import json

import pytest
import torch

from model.batches.corpus import Corpus
from model.build import build
from model.probes.measure import Subject
from model.training.loop import build_model
from tests.model.corpora import encoded
from tests.model.specs import part

PAIRS = {"dataset": "multi30k", "direction": "en_de", "merges": 500, "source": "generated",
         "train": 200, "dev": 5, "test": 12, "seed": 0}  # fmt: skip
TAGGED = {"dataset": "conll2000", "source": "generated", "train": 60, "test": 20, "seed": 0}
NODES = {
    "translation_scores": {"search": part("architectures.translation.beam_search:Beam", beam=2)},
    "translation_importance": {"sentences": 3},
    "neighbours": {"words": ["dog", "the"]},
    "chunking": {},
    "embedding_map": {},
}
PATHS = {
    "translation_scores": "quality.translation_scores:translation_scores",
    "translation_importance": "importance.translation:translation_importance",
}
SCALARS = {
    "translation_scores": {"bleu", "compound_bleu", "sacrebleu", "chrf", "length_ratio"},
    "translation_importance": {
        "tau_norm", "tau_norm_cross", "undefined_tau_norm", "undefined_tau_norm_cross",
    },
    "neighbours": {"found", "{}_same_tag"},
    "chunking": {
        *(f"baseline_{name}" for name in ("accuracy", "precision", "recall", "f1")),
        *(f"{{}}_{name}" for name in ("accuracy", "precision", "recall", "f1", "loss")),
    },
    "embedding_map": {"chance", "{}_purity", "{}_map_purity"},
}  # fmt: skip


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Corpus]:
    """The generated Multi30k and the generated CoNLL-2000, encoded."""
    found = {}
    for values in (PAIRS, TAGGED):
        name = str(values["dataset"])
        found[name] = Corpus(encoded(tmp_path_factory.mktemp(name), values))
    return found


@pytest.mark.parametrize(
    ("path", "normalizer", "streams"),
    [
        ("encoder_decoder:EncoderDecoder", "softmax:Softmax", ["model"]),
        ("two_stream:TwoStreamEncoderDecoder", "gumbel:Gumbel",
         ["model", "controller"]),
    ],
)  # fmt: skip
def test_each_kind_of_model_is_measured(corpora, path, normalizer, streams):
    node = {
        "path": f"model.architectures.translation.{path}",
        "width": 16, "hidden": 16, "layers": 2, "heads": 2,
        "normalizer": part(f"normalizers.{normalizer}"),
    }  # fmt: skip
    model = build_model({"seed": 0, "model": node}, corpora["multi30k"]).eval()
    subject = Subject(model, corpora["multi30k"], torch.device("cpu"), 0)
    for name, arguments in NODES.items():
        path = PATHS.get(name, f"words.{name}:{name}")
        further = {} if name.startswith("translation") else {"tagged": corpora["conll2000"]}
        probe = build(part(f"probes.{path}", **arguments, **further))
        found = probe(subject)
        expected = {text.format(stream) for text in SCALARS[name] for stream in streams}
        assert set(found.scalars) == expected
        json.dumps(found, allow_nan=False)
        if name == "neighbours":
            assert found.arrays["tag"] == ["NN", "DT"]
            assert found.scalars["found"]["value"] == 2
