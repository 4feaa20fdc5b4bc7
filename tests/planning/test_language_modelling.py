"""The experiment on language modelling: what its scales read, and what its demo reaches."""

from pathlib import Path

import pytest

from model.batches.corpus import Corpus
from model.build import build
from tests.encoding import encoded
from tests.model.corpora import learned
from workflow.planning.experiments import Experiment, load_experiments

PAPERS = Path(__file__).resolve().parents[2] / "workflow" / "papers"
RUNS = {
    "demo": ("prefix", {"dataset": "repeated_text"}),
    "lite": ("prefix", {"dataset": "enwik8", "source": "prefix"}),
    "paper": ("enwik8", {"dataset": "enwik8", "source": "official"}),
}


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    return load_experiments(PAPERS)["language_modelling"]


@pytest.mark.parametrize("scale", RUNS)
def test_both_runs_differ_in_their_attention_alone(experiment: Experiment, scale: str) -> None:
    name, data = RUNS[scale]
    assert experiment.variants(scale) == [f"{name}_softmax", f"{name}_topk"]
    softmax, topk = (experiment.resolve(variant, scale) for variant in experiment.variants(scale))
    assert softmax.model["normalizer"] != topk.model["normalizer"]
    assert softmax.model == {**topk.model, "normalizer": softmax.model["normalizer"]}
    for part in ("data", "objective", "training"):
        assert getattr(softmax, part) == getattr(topk, part), part
    assert softmax.evaluators.items() <= topk.evaluators.items()
    assert data.items() <= softmax.data.items()


@pytest.mark.parametrize("scale", RUNS)
def test_a_batch_is_a_segment_of_every_stream(experiment: Experiment, scale: str) -> None:
    settings = experiment.resolve(experiment.variants(scale)[0], scale)
    streams, segment = settings.model["streams"], settings.objective["segment"]
    assert settings.training["batch"] == {"tokens": streams * segment}
    memories = settings.evaluators["bits"]["memories"]
    assert memories == sorted(memories)
    assert memories[0] == 0 and memories[-1] > settings.model["memory"]


def test_in_the_demo_top_k_reaches_the_entropy_of_the_text(
    experiment: Experiment, tmp_path: Path
) -> None:
    """Within .1 bits a character; without its memory it is a bit and more above."""
    spec = {**vars(experiment.resolve("prefix_topk", "demo")), "seed": 0}
    subject, _ = learned(spec, Corpus(encoded(tmp_path, spec["data"])))
    found = build(spec["evaluators"]["bits"])(subject).scalars
    assert -0.01 < found["excess"]["value"] < 0.1
    assert found["bpc_without"]["value"] > found["floor"]["value"] + 1
