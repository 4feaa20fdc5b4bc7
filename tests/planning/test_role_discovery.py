"""The demo of role interaction: its roles are the classes that the words' forms do not tell."""

from pathlib import Path

import torch

from model.corpus import Corpus
from model.probes.measure import Subject
from model.probes.roles import roles
from model.training import build_model, load_weights, train
from tests.model.corpora import MemoryKeeper
from tests.reporting.synthetic import plan_of
from workflow.datasets.recipe import load

CPU = torch.device("cpu")


def test_roles_tell_the_classes_of_words(tmp_path: Path) -> None:
    """Both runs of the demo: by softmax, and from there with one role a token."""
    plan, weights, found = plan_of(tmp_path, "demo"), {}, {}
    for run in plan.runs("role_translation"):
        dataset = load(run.settings["data"])
        if not weights:
            dataset.synthesise(tmp_path / "raw")
            files = list((tmp_path / "raw").iterdir())
            dataset.prepare(files, tmp_path / "prepared")
            dataset.encode(tmp_path / "prepared", tmp_path / "encoded")
        corpus = Corpus(tmp_path / "encoded")
        parts = ("model", "objective", "training", "checkpoints")
        spec = {name: run.settings[name] for name in parts} | {"seed": run.seed}
        trained = train(spec, corpus, MemoryKeeper(), CPU, weights, lambda line: None)
        weights["softmax"] = trained.weights
        model = build_model(spec, corpus)
        load_weights(model, trained.weights, run.variant)
        measured = roles(Subject(model.eval(), corpus, CPU, run.seed))
        kinds = ("class_information", "context_information")
        found[run.variant] = [measured.scalars[kind]["value"] for kind in kinds]
    assert list(found) == ["multi30k_softmax", "multi30k_onehot"]
    # One role a word form would have .84 of the first and nothing of the second.
    assert min(value for values in found.values() for value in values) >= 0.5, found
