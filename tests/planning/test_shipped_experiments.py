"""The experiments that the papers define: what they share, how they differ, what demos reach."""

import csv
from pathlib import Path

import numpy as np
import pytest
import torch

from model.architectures.translation.with_roles import MatchedEncoderDecoder
from model.batches.corpus import Corpus
from model.build import build
from model.objectives.role_translation import RoleTranslation
from model.probes.measure import Subject
from model.probes.words.roles import context_information, normalised_information, roles, table
from model.probes.words.word_classes import word_classes
from model.training.loop import build_model, load_weights
from tests.model.corpora import CPU, encoded, learned
from tests.model.corpora import run as run_spec
from tests.reporting.synthetic import plan_of
from workflow.datasets.grammars.homographs import HOMOGRAPHS
from workflow.definitions import cells
from workflow.definitions.paper import Paper
from workflow.planning.experiments import load_experiments

PAPERS = Path(__file__).resolve().parents[2] / "workflow" / "papers"
EXPERIMENTS = load_experiments(PAPERS)
LEARNING = EXPERIMENTS["translation_learning"]
SCALES = ("demo", "lite", "paper")
SHARED = {
    "iwslt_30_softmax": "iwslt_30_soft",
    "multi30k_de_en_softmax": "multi30k_de_en_soft",
    "multi30k_en_de_softmax": "multi30k_en_de_soft",
}


def test_softmax_is_trained_once_for_both_papers(tmp_path):
    lite = plan_of(tmp_path)
    twins = {
        run.variant: twin.variant
        for run in lite.runs("sparse_translation")
        if (twin := lite.duplicate_of(run)) is not None and run.seed == twin.seed
    }
    assert twins == SHARED
    assert not any(lite.duplicate_of(run) for run in lite.runs("translation"))


def test_translation_has_its_corpora_at_every_scale(tmp_path):
    found = {}
    for scale in SCALES:
        plan = plan_of(tmp_path, scale)
        runs = [run for name in ("translation", "sparse_translation") for run in plan.runs(name)]
        found[scale] = {(run.recipe["dataset"], run.recipe.get("source")) for run in runs}
    assert found == {
        "demo": {("multi30k", "generated")},
        "lite": {("multi30k", "official"), ("iwslt14_30", None)},
        "paper": {("iwslt14", None), ("iwslt15", None), ("wmt14", None)},
    }


def test_reduced_data_never_stand_beside_a_printed_number():
    """What is trained on other data than the papers' has no printed number, but for the baseline of
    chunking, which no model is needed for."""
    for paper, names in (
        ("explicit_sparse", ("table_1", "table_4", "table_5")),
        ("discrete_transformer", ("table_6_2", "table_6_3", "table_6_4")),
    ):
        definitions = Paper(paper).tables
        for name in names:
            for row, column, variant, places in _cells(definitions, name):
                if variant.startswith(("multi30k", "iwslt_30")) and "baseline" not in row:
                    assert not places, (name, row, column)


def _cells(definitions, name):
    """Yield row, column, variant and printed places of every cell that is not quoted."""
    table = definitions["tables"][name]
    for row, column in cells.cells(table):
        if not row.get("quoted"):
            _, variant = cells.behind_cell(table, row, column)
            yield row["id"], column["id"], variant, cells.printed_places(table, row, column)


ROWS = {
    "multi30k": "Multi-30k",
    "iwslt14": "IWSLT14",
    "news_en_nl": "News-en-nl",
    "news_en_pt": "News-en-pt",
    "news_it_pt": "News-it-pt",
}


@pytest.mark.parametrize("corpus", ROWS)
@pytest.mark.parametrize("kind", ["", "_uniform"])
def test_checkpoints_are_the_papers_steps_to_the_end(corpus, kind):
    """50, 100, 500, 1000, 1500 and every 2000 updates of 16 of the pairs of snell2021 table 8."""
    with (PAPERS / "attention_learning" / "expected.csv").open() as lines:
        [pairs] = [
            int(row["value"])
            for row in csv.DictReader(lines)
            if (row["row"], row["column"]) == (ROWS[corpus], "train #")
        ]
    settings = LEARNING.resolve(f"{corpus}{kind}", "paper")
    updates = -(-pairs // settings.training["batch"]["examples"])
    updates *= settings.training["epochs"]
    expected = [50, 100, 500, 1000, 1500, *range(2000, updates + 1, 2000)]
    assert settings.checkpoints == expected


def unlike_in_attention(one, other):
    """Whether two models have other normalizers, and nothing else that differs."""
    same = {**one, "normalizer": other["normalizer"]} == other
    return same and one["normalizer"] != other["normalizer"]


def test_translators_differ_in_their_attention_alone():
    for scale in SCALES:
        names = ("multi30k", "multi30k_uniform")
        learned, uniform = (LEARNING.resolve(name, scale) for name in names)
        assert unlike_in_attention(learned.model, uniform.model), scale
        for part in ("data", "objective", "training", "checkpoints"):
            assert getattr(learned, part) == getattr(uniform, part), (scale, part)
        proxy = LEARNING.resolve("multi30k_proxy", scale)
        assert proxy.data == learned.data
        assert proxy.training["batch"] == {"examples": 64}


def test_the_demo_keeps_checkpoints_of_its_own_updates():
    settings = LEARNING.resolve("multi30k", "demo")
    training = settings.training
    updates = settings.data["train"] // training["batch"]["examples"] * training["epochs"]
    assert max(settings.checkpoints) <= updates


READ = {
    "demo": ("prefix", {"dataset": "repeated_text"}),
    "lite": ("prefix", {"dataset": "enwik8", "source": "prefix"}),
    "paper": ("enwik8", {"dataset": "enwik8", "source": "official"}),
}


@pytest.mark.parametrize("scale", READ)
def test_language_models_differ_in_their_attention_alone(scale):
    experiment = EXPERIMENTS["language_modelling"]
    name, data = READ[scale]
    assert experiment.variants(scale) == [f"{name}_softmax", f"{name}_topk"]
    softmax, topk = (experiment.resolve(variant, scale) for variant in experiment.variants(scale))
    assert unlike_in_attention(softmax.model, topk.model)
    for part in ("data", "objective", "training"):
        assert getattr(softmax, part) == getattr(topk, part), part
    assert softmax.evaluators.items() <= topk.evaluators.items()
    assert data.items() <= softmax.data.items()


@pytest.mark.parametrize("scale", READ)
def test_a_batch_is_a_segment_of_every_stream(scale):
    experiment = EXPERIMENTS["language_modelling"]
    settings = experiment.resolve(experiment.variants(scale)[0], scale)
    streams, segment = settings.model["streams"], settings.objective["segment"]
    assert settings.training["batch"] == {"tokens": streams * segment}
    memories = settings.evaluators["bits"]["memories"]
    assert memories == sorted(memories)
    assert memories[0] == 0 and memories[-1] > settings.model["memory"]


def test_in_the_demo_top_k_reaches_the_entropy_of_the_text(tmp_path):
    """Within .1 bits a character; without its memory it is a bit and more above."""
    spec = {**vars(EXPERIMENTS["language_modelling"].resolve("prefix_topk", "demo")), "seed": 0}
    subject, _ = learned(spec, Corpus(encoded(tmp_path, spec["data"])))
    found = build(spec["evaluators"]["bits"])(subject).scalars
    assert -0.01 < found["excess"]["value"] < 0.1
    assert found["bpc_without"]["value"] > found["floor"]["value"] + 1


WORDS = 10_000


def first_runs(plan):
    return [run for run in plan.runs("role_translation") if run.seed == 0]


def shapes(node):
    with torch.device("meta"):
        model = build(node, vocabulary_size=WORDS)
    return {name: tensor.shape for name, tensor in model.state_dict().items()}


@pytest.mark.parametrize("scale", SCALES)
def test_every_model_with_roles_and_its_objective_can_be_built(scale, tmp_path):
    for run in first_runs(plan_of(tmp_path, scale)):
        objective = build(run.settings.objective)
        node = run.settings.model
        with_roles = node["path"].endswith(":RoleEncoderDecoder")
        assert isinstance(objective, RoleTranslation) == with_roles
        with torch.device("meta"):
            model = build(node, vocabulary_size=WORDS)
        if isinstance(model, MatchedEncoderDecoder):
            found = sum(parameter.numel() for parameter in model.parameters())
            assert abs(found / model.matched - 1) < 0.01, run.variant


@pytest.mark.parametrize("scale", SCALES)
def test_one_role_a_token_starts_from_the_softmax_of_its_shape(scale, tmp_path):
    plan = plan_of(tmp_path, scale)
    tuned = [run for run in first_runs(plan) if "onehot" in run.variant]
    assert tuned
    for run in tuned:
        (parent,) = plan.parents(run).values()
        node, origin = run.settings.model, parent.settings.model
        assert node["roles"]["assignment"]["path"].endswith(":Gumbel")
        assert origin["roles"]["assignment"]["path"].endswith(":Softmax")
        assert shapes(node) == shapes(origin)
        assert run.recipe == parent.recipe
        # At the lowest temperature for a while, as the weights at the end are averaged there.
        objective = run.settings.objective
        steps = run.settings.training["updates"]
        assert objective["temperature"] * objective["decay"] ** (0.9 * steps) < objective["lowest"]


def corpus_of(plan, folder):
    """The corpus of the demo of roles."""
    return Corpus(encoded(folder, plan.runs("role_translation")[0].settings.data))


def test_roles_tell_the_classes_of_words(tmp_path):
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


def test_what_the_note_says_of_roles_that_the_token_alone_decides(tmp_path):
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
    notes = (PAPERS / "role_interaction" / "tables.yaml").read_text("utf-8")
    assert "would have .84 in the column before it" in notes
