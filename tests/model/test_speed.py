"""The training speed that a history tells."""

import pytest
import torch

from model.build import build
from model.probes.measure import Subject
from model.probes.speed import training_speed
from model.training import train
from tests.model.corpora import MemoryKeeper


def rows(*rates: float) -> list[dict[str, object]]:
    return [{"split": "train", "tokens_per_second": rate} for rate in rates]


def test_the_median_of_the_training_rows_counts():
    """A pause makes one row slow; rows of the development split have no speed."""
    history = [*rows(100.0, 120.0, 0.01), {"split": "dev", "accuracy": 50.0}]
    found = training_speed(None, history).scalars["tokens_per_second"]
    assert found == {"value": 100.0, "unit": "tokens/s", "n": 3}


def test_a_run_without_training_rows_has_no_speed():
    found = training_speed(None, [{"split": "dev"}]).scalars["tokens_per_second"]
    assert found == {"value": None, "unit": "tokens/s", "n": 0}


def test_it_reads_the_history_that_training_writes(keywords, classifier_spec):
    classifier_spec["training"]["epochs"] = 1
    cpu = torch.device("cpu")
    trained = train(classifier_spec, keywords, MemoryKeeper(), cpu, {}, lambda line: None)
    model = build(classifier_spec["model"], vocabulary_size=9)
    history = trained.progress.rows
    found = training_speed(Subject(model, keywords, cpu, 0), history).scalars["tokens_per_second"]
    recorded = sorted(row["tokens_per_second"] for row in history if row["split"] == "train")
    assert found["n"] == len(recorded) > 0
    assert found["value"] == pytest.approx(
        (recorded[(len(recorded) - 1) // 2] + recorded[len(recorded) // 2]) / 2
    )
