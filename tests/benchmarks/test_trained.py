"""A trained run in a race: its model and test set, and the BLEU that its probe finds."""

import json
import re

import pytest
import torch
from safetensors.torch import save_file

from benchmarks.decoding import decoding
from benchmarks.trained import bleu, trained_batches, trained_model, trained_shape
from benchmarks.translation import decoded
from model.architectures.translation.beam_search import Beam
from model.build import build
from model.probes.measure import Subject
from model.probes.quality.translation_scores import translation_scores
from tests.model.corpora import CPU
from tests.model.parallel import write_parallel
from tests.scripts.conftest import as_encoded
from tests.sealing import flip, put
from workflow.runtime.integrity import Damaged, checksums_of

TEXTS = [
    ("the dog sees a bird", "der hund sieht ein@@ en vogel"),
    ("a dog", "ein hund ist da"),
    ("the old dog sees", "der alte hund sieht"),
]
SHAPE = {"width": 16, "hidden": 16, "layers": 1, "heads": 4}
NODE = {
    "path": "model.architectures.translation.encoder_decoder:EncoderDecoder",
    "normalizer": {"path": "model.normalizers.softmax:Softmax"},
    "dropout": 0.1,
    **SHAPE,
}


@pytest.fixture
def corpus(tmp_path):
    made = write_parallel(tmp_path / "data", {"train": TEXTS, "test": TEXTS})
    as_encoded(made)
    return made


@pytest.fixture
def run(tmp_path, corpus):
    """The folder of a run that learned nothing."""
    folder = tmp_path / "experiment/variant/seed-0"
    folder.mkdir(parents=True)
    torch.manual_seed(0)
    model = build(NODE, vocabulary_size=len(corpus.vocabulary))
    weights = {name: value.clone() for name, value in model.state_dict().items()}
    save_file(weights, folder / "weights.safetensors")
    (folder / "spec.json").write_text(json.dumps({"model": NODE}))
    files = checksums_of(folder, ["weights.safetensors"])
    put(folder / "run.json", {"files": files, "checkpoints": {}})
    return folder


@pytest.mark.parametrize("beam", [1, 3])
def test_bleu_is_that_of_the_probe(run, corpus, beam):
    jobs = decoded(trained_shape(run, corpus.folder), beam, {"run": run, "data": corpus.folder})
    texts = {name: decoding(jobs[name])(0)["texts"] for name in ("torch", "torch, cached", "ours")}
    assert texts["torch"] == texts["torch, cached"] == texts["ours"]
    subject = Subject(trained_model(run, corpus.folder).eval(), corpus, CPU, 0)
    found = translation_scores(subject, Beam(beam))
    expected = found.scalars["sacrebleu"]["value"]
    assert bleu(corpus.folder, texts) == dict.fromkeys(texts, expected)
    # Those who translate right have all of it, whatever the order of the batches.
    right = [
        [int(word) for word in row[row > 2]]
        for batch in trained_batches(corpus.folder)
        for row in batch.tokens
    ]
    assert bleu(corpus.folder, {"right": right}) == {"right": pytest.approx(100)}


def test_its_shape_is_that_of_its_model(run, corpus):
    assert trained_shape(run, corpus.folder) == SHAPE


@pytest.mark.parametrize("name", ["weights.safetensors", "test.tokens.npy"])
def test_what_is_damaged_is_not_raced(run, corpus, name):
    file = (run if "weights" in name else corpus.folder) / name
    flip(file, 1000)
    with pytest.raises(Damaged, match=re.escape(str(file))):
        trained_shape(run, corpus.folder)


def test_a_model_that_others_do_not_have_is_refused(run, corpus):
    other = NODE | {"normalizer": {"path": "model.normalizers.topk:TopK", "k": 8}}
    (run / "spec.json").write_text(json.dumps({"model": other}))
    with pytest.raises(ValueError, match=r"model\.normalizer is .* take a run with"):
        trained_shape(run, corpus.folder)
