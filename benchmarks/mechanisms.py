"""Speed of every mechanism beside softmax: whole training steps on short rows and on long ones.

    python -m benchmarks.mechanisms --rows short
    python -m benchmarks.mechanisms --rows long

Short rows are those of translation, shape `small`. Long ones are texts of up to 500 tokens, read by
the classifier of `text_classification` (workflow/papers/discrete_transformer). One thread, single
precision. Results go to `benchmarks/results/`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.made_up import WORDS, made_up_texts
from benchmarks.models import MECHANISMS, SHAPES
from benchmarks.race import Job, Work, race, summary
from benchmarks.record import FOLDER, record
from benchmarks.training import training, updates
from model.architectures.classifier import Classifier
from model.batches.batching import Batch, Sampler, collate
from model.build import build
from model.objectives.classification import Classification
from model.training.optimization import set_numerics
from workflow.runtime.preflight import prepare_process

STREAMS = (
    "model.architectures.transformer:Transformer",
    "model.architectures.two_stream:TwoStreamTransformer",
)
ENCODER = {"width": 64, "hidden": 128, "layers": 6, "heads": 4, "dropout": 0.4}
TOKENS = 2000
UPDATES = 6
"""Of a round, so that texts of different lengths are in it."""


def start(job: Job) -> Work:
    """Set a mechanism's process up."""
    prepare_process()
    set_numerics({"threads": 1, "matmul": "fast"})
    return (training if job["rows"] == "short" else classifying)(job)


def classifying(job: Job) -> Work:
    """A classifier's part in a race."""
    model, objective = make_classifier(job["mechanism"]), Classification()

    def loss(batch: Batch) -> tuple[Tensor, int]:
        return objective.loss(model, batch, 0.0).mean, int(batch.real.sum())

    return updates(model, loss, text_batches(job["rounds"]))


def make_classifier(mechanism: str) -> Classifier:
    """The classifier from seed 0."""
    streams, normalizer = MECHANISMS[mechanism]
    torch.manual_seed(0)
    encoder = {"path": STREAMS[streams - 1], "normalizer": normalizer, **ENCODER}
    node = {"path": "model.architectures.classifier:Classifier", "classes": 2, "encoder": encoder}
    made: Classifier = build(node, vocabulary_size=WORDS)
    return made


def text_batches(rounds: int) -> list[list[Batch]]:
    """Batches of at most 2,000 tokens for every round, drawn from an epoch."""
    split = made_up_texts()
    drawn = [update[0] for update in Sampler(split, {"tokens": TOKENS}, seed=0).epoch(0)]
    starts = range(0, rounds * UPDATES, UPDATES)
    return [[collate(split, one) for one in drawn[at : at + UPDATES]] for at in starts]


def contenders(rows: str, rounds: int) -> dict[str, Job]:
    """Who takes part; times are relative to those of softmax, the first."""
    shared: dict[str, Any] = {"rows": rows, "rounds": rounds, "who": "ours", "precision": "fp32"}
    return {name: shared | {"mechanism": name, "shape": SHAPES["small"]} for name in MECHANISMS}


def main() -> None:
    """Run one benchmark from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rows", choices=["short", "long"], required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=FOLDER)
    given = parser.parse_args()
    rows = summary(race(start, contenders(given.rows, given.rounds), given.rounds))
    result = {"task": "mechanisms", "rows": given.rows, "rounds": given.rounds, "contenders": rows}
    record(f"mechanisms_{given.rows}", given.out, result)


if __name__ == "__main__":
    main()
