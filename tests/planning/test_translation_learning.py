"""The experiment on how a translator's attention is learned: steps and sizes of the paper."""

import csv
from pathlib import Path

import pytest

from workflow.planning.experiments import Experiment, load_experiments

PAPER = Path(__file__).resolve().parents[2] / "workflow" / "papers" / "attention_learning"
ROWS = {
    "multi30k": "Multi-30k",
    "iwslt14": "IWSLT14",
    "news_en_nl": "News-en-nl",
    "news_en_pt": "News-en-pt",
    "news_it_pt": "News-it-pt",
}


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    return load_experiments(PAPER.parent)["translation_learning"]


@pytest.mark.parametrize("corpus", ROWS)
@pytest.mark.parametrize("kind", ["", "_uniform"])
def test_checkpoints_are_the_papers_steps_to_the_end(
    experiment: Experiment, corpus: str, kind: str
) -> None:
    """50, 100, 500, 1000, 1500 and every 2000 updates of 16 of the pairs of Table 8."""
    with (PAPER / "expected.csv").open() as lines:
        [pairs] = [
            int(row["value"])
            for row in csv.DictReader(lines)
            if (row["row"], row["column"]) == (ROWS[corpus], "train #")
        ]
    settings = experiment.resolve(f"{corpus}{kind}", "paper")
    updates = -(-pairs // settings.training["batch"]["examples"])
    updates *= settings.training["epochs"]
    expected = [50, 100, 500, 1000, 1500, *range(2000, updates + 1, 2000)]
    assert settings.checkpoints == expected


def test_runs_of_a_corpus_differ_in_their_attention_alone(experiment: Experiment) -> None:
    for scale in ("demo", "lite", "paper"):
        learned, uniform = (
            experiment.resolve(name, scale) for name in ("multi30k", "multi30k_uniform")
        )
        assert learned.model["normalizer"] != uniform.model["normalizer"]
        normalizer = {"normalizer": learned.model["normalizer"]}
        assert learned.model == {**uniform.model, **normalizer}, scale
        for part in ("data", "objective", "training", "checkpoints"):
            assert getattr(learned, part) == getattr(uniform, part), (scale, part)
        proxy = experiment.resolve("multi30k_proxy", scale)
        assert proxy.data == learned.data
        assert proxy.training["batch"] == {"examples": 64}


def test_the_demo_keeps_checkpoints_of_its_own_updates(experiment: Experiment) -> None:
    settings = experiment.resolve("multi30k", "demo")
    training = settings.training
    updates = settings.data["train"] // training["batch"]["examples"] * training["epochs"]
    assert max(settings.checkpoints) <= updates
