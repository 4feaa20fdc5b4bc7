"""A run that two experiments ask for: trained once, measured and shown for each."""

import json

import pytest

FIRST, SECOND = "toy_language/soft/seed-0", "toy_again/same/seed-0"
AGAIN = """
  toy_again:
    title: A run of another experiment, measured otherwise
    source: no paper
    data: {dataset: stack_language, train: 64, dev: 16, test: 16, length: 8, max_depth: 2}
    model: *model
    objective: {path: "model.objectives.language_modelling:LanguageModelling"}
    training: *training
    evaluators:
      receptive_field: {path: "model.probes.fields.receptive_fields:receptive_fields"}
    seeds: 1
    variants:
      same: {label: the same}
"""


@pytest.fixture
def again(fresh):
    """The toy project with an experiment that has the run of another."""
    with (fresh.root / "workflow/papers/toy/experiments.yaml").open("a") as file:
        file.write(AGAIN)
    return fresh


def test_the_second_waits_for_the_first_and_copies(again):
    assert again.plan("toy_again").trained == [SECOND, FIRST]
    assert again.plan("toy_language").trained == ["toy_language/gumbel/seed-0", FIRST]
    outcome = again.snakemake("toy_again")
    assert outcome.trained == [SECOND, FIRST]
    assert "nothing to train" not in again.log("train", FIRST)
    assert "nothing to train" in again.log("train", SECOND)
    assert again.weights(SECOND) == again.weights(FIRST)
    measures, record = (
        json.loads((again.root / "results/demo" / name).read_text())
        for name in (f"measures/{SECOND}.json", f"runs/{SECOND}/run.json")
    )
    assert list(measures["evaluators"]) == ["receptive_field"]
    assert record["spec"]["run"]["experiment"] == "toy_again"
    assert again.plan("toy_again").jobs == []
    again.snakemake(f"results/demo/measures/{FIRST}.json")
    measures = json.loads((again.root / f"results/demo/measures/{FIRST}.json").read_text())
    assert list(measures["evaluators"]) == ["language_modelling"]
