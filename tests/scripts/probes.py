"""Evaluators and a recorder for the tests: what they find is what they were given."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from model.batches.corpus import Corpus, Split
from model.probes.checkpoint_ranks import Record
from model.probes.learning.learning_record import CheckpointValues
from model.probes.measure import Measured, Subject


def steps(subject: Subject, history: Sequence[Mapping[str, Any]]) -> Measured:
    """The updates at which training recorded something."""
    return Measured({}, {"step": [row["step"] for row in history]})


def words(subject: Subject, tagged: Corpus, count: int) -> Measured:
    """The first words of another corpus than the run's."""
    return Measured({}, {"words": tagged.vocabulary[3 : 3 + count]})


def said(subject: Subject, split: Split, examples: np.ndarray) -> CheckpointValues:
    """What a checkpoint says of texts: rows of numbers that its weights tell."""
    lengths = split.lengths[examples]
    weight = float(sum(p.detach().double().sum() for p in subject.model.parameters()))
    values = np.sin(weight * np.arange(1, 1 + lengths.max()))[None].repeat(len(examples), 0)
    return CheckpointValues(values, -values, lengths, examples, {"accuracy": weight})


def seen(subject: Subject, record: Record | None = None, others: Sequence[Record] = ()) -> Measured:
    """The updates in the records that an evaluator was given."""
    own = None if record is None else record.steps.tolist()
    return Measured({}, {"own": [own], "others": [one.steps.tolist() for one in others]})
