"""Checkpoints against the last update, where the corpus tells how many an epoch has."""

from pathlib import Path
from typing import Any

import pytest

from model.batches.corpus import Corpus
from model.training.preflight import check_last_checkpoint
from tests.model.corpora import write_corpus

CLASSES = {"path": "model.objectives.classification:Classification"}
STREAMS = {"path": "model.objectives.stream_modelling:StreamModelling", "segment": 5}


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """Seven texts of three words to train on, 21 words in all."""
    return write_corpus(tmp_path / "data", {"train": [[4, 5, 6]] * 7, "dev": [[4]]}, 9, {})


@pytest.mark.parametrize(
    ("objective", "batch", "per_epoch"),
    [
        (CLASSES, {"examples": 2}, 4),
        (CLASSES, {"examples": 7}, 1),
        (CLASSES, {"tokens": 12}, 3),  # of four words each, with what stands before a text
        (STREAMS, {"tokens": 10}, 2),
    ],
)
def test_an_epoch_has_the_updates_that_training_makes_of_it(
    corpus: Corpus, objective: dict[str, Any], batch: dict[str, int], per_epoch: int
) -> None:
    training = {"epochs": 3, "batch": batch}
    spec = {"objective": objective, "training": training, "seed": 0}
    last = 3 * per_epoch
    check_last_checkpoint(spec | {"checkpoints": [1, last]}, corpus)
    check_last_checkpoint(spec | {"checkpoints": []}, corpus)
    sentence = (
        rf"checkpoints: {last + 1} is beyond the last update, {last} \(training.epochs 3, of "
        rf"{per_epoch} updates each in .*data\); take it away, or raise training.epochs"
    )
    with pytest.raises(ValueError, match=sentence):
        check_last_checkpoint(spec | {"checkpoints": [1, last + 1, 999]}, corpus)
