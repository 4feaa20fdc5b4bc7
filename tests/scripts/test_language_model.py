"""Training a language model on streams as a process: what is killed, and what cannot begin."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.model.corpora import write_corpus
from tests.model.specs import part, tiny
from tests.scripts.conftest import Job, as_encoded, planned
from tests.scripts.processes import kill

pytestmark = pytest.mark.xdist_group("scripts")


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text a split."""
    random = np.random.default_rng(0)
    splits = {
        split: [random.integers(3, 9, n).tolist()]
        for split, n in (("train", 400), ("dev", 80), ("test", 80))
    }
    return as_encoded(write_corpus(tmp_path_factory.mktemp("text") / "encoded", splits, 9, {}))


def reader(folder: Path, text: Path, **training: Any) -> Job:
    """A tiny Transformer-XL, not yet begun."""
    model = {
        "path": "model.architectures.transformer_xl:TransformerXL",
        "width": 8, "hidden": 16, "layers": 2, "heads": 2, "memory": 6, "streams": 4,
        "normalizer": part("normalizers.topk:TopK", k=3), "dropout": 0.1,
    }  # fmt: skip
    objective = part("objectives.stream_modelling:StreamModelling", segment=5)
    settings = {"updates": 30, "batch": {"tokens": 20}, "schedule": {"name": "cosine"}}
    return Job(folder, planned(tiny(model, objective, **settings | training), text), text)


def test_killed_and_resumed_it_ends_bit_for_bit_as_undisturbed(tmp_path: Path, text: Path) -> None:
    whole, job = (reader(tmp_path / name, text) for name in ("whole", "killed"))
    assert whole.train().status == 0
    for step in (7, 23):
        assert job.train(before=kill(step, save_every=3)).status == -9
    outcome = job.train()
    assert outcome.status == 0 and "resumed after update" in outcome.said
    assert job.like(whole)


def test_a_batch_that_does_not_fit_is_told(tmp_path: Path, text: Path) -> None:
    job = reader(tmp_path / "job", text, batch={"tokens": 25})
    assert "batch.tokens makes more streams than model.streams, which is 4" in job.train().error
    assert job.untouched()
