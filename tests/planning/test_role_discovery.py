"""The demo of role interaction: its roles are the classes that the words' forms do not tell."""

from pathlib import Path

import numpy as np
import pytest

from model.batches.corpus import Corpus
from model.probes.measure import Subject
from model.probes.words.roles import context_information, normalised_information, roles, table
from model.probes.words.word_classes import word_classes
from model.training.loop import build_model, load_weights
from tests.encoding import encoded
from tests.model.corpora import CPU
from tests.model.corpora import run as run_spec
from tests.reporting.synthetic import plan_of
from workflow.datasets.grammars.homographs import HOMOGRAPHS
from workflow.planning.plan import Plan


def corpus_of(plan: Plan, folder: Path) -> Corpus:
    """The demo's corpus."""
    return Corpus(encoded(folder, plan.runs("role_translation")[0].settings.data))


def test_roles_tell_the_classes_of_words(tmp_path: Path) -> None:
    """Both runs of the demo: by softmax, and from there with one role a token."""
    plan, weights, found = plan_of(tmp_path, "demo"), {}, {}
    corpus = corpus_of(plan, tmp_path)
    for run in plan.runs("role_translation"):
        parts = ("model", "objective", "training", "checkpoints")
        spec = {name: getattr(run.settings, name) for name in parts} | {"seed": run.seed}
        trained = run_spec(spec, corpus, parents=weights)
        weights["softmax"] = trained.weights
        model = build_model(spec, corpus)
        load_weights(model, trained.weights, run.variant)
        measured = roles(Subject(model.eval(), corpus, CPU, run.seed))
        kinds = ("class_information", "context_information")
        found[run.variant] = [measured.scalars[kind]["value"] for kind in kinds]
    assert list(found) == ["multi30k_softmax", "multi30k_onehot"]
    assert min(value for values in found.values() for value in values) >= 0.5, found


def test_what_the_note_says_of_roles_that_the_token_alone_decides(tmp_path: Path) -> None:
    """One for all homographs, one for each other class: .84 of the classes, nothing beyond."""
    corpus = corpus_of(plan_of(tmp_path, "demo"), tmp_path)
    split = corpus.split("dev")
    ends = np.cumsum([0, *(split.columns["source"] - 1)])
    of_source = [
        split.tokens[o : o + n - 1]
        for o, n in zip(split.offsets[:-1], split.columns["source"], strict=True)
    ]
    tokens = np.concatenate(of_source)
    names = word_classes(corpus, tokens, ends, "dev", "source")
    classes = np.unique(names, return_inverse=True)[1]
    words = [corpus.vocabulary[token] for token in tokens]
    decided = np.where([word in HOMOGRAPHS for word in words], 0, 1 + classes)
    counts = table(classes, decided, (classes.max() + 1, decided.max() + 1))
    assert f"{normalised_information(counts):.2f}" == "0.84"
    assert context_information(tokens, decided, classes) == pytest.approx(0, abs=1e-9)
    notes = plan_of(tmp_path, "demo").root / "workflow/papers/role_interaction/tables.yaml"
    assert "would have .84 in the column before it" in notes.read_text("utf-8")
