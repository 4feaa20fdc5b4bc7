"""On the generated sentiment corpus, whose salient words are known, models and probes find them."""

from pathlib import Path

import pytest
import torch

from model.build import build
from model.corpus import Corpus
from model.probes.accuracy import accuracy
from model.probes.importance import attention_importance, salience
from model.probes.measure import Subject
from model.training import train
from tests.model.corpora import MemoryKeeper
from workflow.datasets.recipe import load

RECIPE = {
    "dataset": "sst", "source": "generated", "train": 1500, "dev": 200, "test": 200, "seed": 0,
}  # fmt: skip


@pytest.fixture(scope="module")
def sentiment(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """The corpus that the demo trains on, made by the same code."""
    folder: Path = tmp_path_factory.mktemp("sentiment")
    recipe = load(RECIPE)
    recipe.module.synthesise(recipe.options, folder / "raw")
    recipe.module.prepare(recipe.options, list((folder / "raw").iterdir()), folder / "prepared")
    recipe.module.encode(recipe.options, folder / "prepared", folder / "encoded")
    return Corpus(folder / "encoded")


@pytest.mark.parametrize(
    ("path", "normalizer"),
    [
        ("model.transformer:Transformer", "model.normalizers.softmax:Softmax"),
        ("model.two_stream:TwoStreamTransformer", "model.normalizers.gumbel:Gumbel"),
    ],
)
def test_importance_and_attention_find_the_salient_words(
    sentiment, classifier_spec, path, normalizer
):
    classifier_spec["model"]["encoder"] |= {
        "path": path, "normalizer": {"path": normalizer}, "width": 32, "hidden": 64,
    }  # fmt: skip
    classifier_spec["training"] |= {"epochs": 10, "batch": {"tokens": 1000}}
    classifier_spec["training"]["optimizer"]["lr"] = 4e-3
    trained = train(classifier_spec, sentiment, MemoryKeeper(), torch.device("cpu"), {}, print)
    model = build(classifier_spec["model"], vocabulary_size=len(sentiment.vocabulary))
    model.load_state_dict(trained.weights)
    subject = Subject(model.eval(), sentiment, torch.device("cpu"), 0)
    assert accuracy(subject).scalars["accuracy"]["value"] > 80
    hits = {name: found["value"] for name, found in salience(subject).scalars.items()}
    assert hits["chance"] < 0.25
    assert hits["importance_hit"] > hits["chance"] + 0.2
    assert hits["attention_hit"] > hits["chance"] + 0.2
    assert attention_importance(subject).scalars["tau_norm"]["value"] > 0.1
