"""Training a language model on streams as a process: what is killed, and what cannot begin."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model.store.checksums import sha256
from tests.model.corpora import write_corpus
from tests.scripts.conftest import Job, seal
from tests.scripts.processes import ROOT, kill
from tests.sealing import put
from workflow.datasets.encoded.encoding import digest
from workflow.datasets.io.checksums import read_manifest
from workflow.planning.code import Project
from workflow.planning.identity import run_roots

pytestmark = pytest.mark.xdist_group("scripts")


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text a split."""
    random = np.random.default_rng(0)
    splits = {
        split: [random.integers(3, 9, n).tolist()]
        for split, n in (("train", 400), ("dev", 80), ("test", 80))
    }
    folder = tmp_path_factory.mktemp("text") / "encoded"
    manifest = write_corpus(folder, splits, 9, {}).manifest
    for name, file in manifest["files"].items():
        file["sha256"] = sha256(folder / name)
    manifest["digest"] = digest(manifest["files"])
    put(folder / "manifest.json", manifest)
    return folder


def reader(folder: Path, text: Path, **training: Any) -> Job:
    """A tiny Transformer-XL, not yet begun."""
    folder.mkdir()
    spec = {
        "schema": 1,
        "run": {"paper": "toy", "experiment": "text", "variant": "softmax", "seed": 0},
        "seed": 0,
        "data": {
            "dataset": "text", "recipe": "0" * 12,
            "digest": read_manifest(text)["digest"],
        },
        "model": {
            "path": "model.architectures.transformer_xl:TransformerXL",
            "width": 8, "hidden": 16, "layers": 2,
            "heads": 2, "normalizer": {"path": "model.normalizers.topk:TopKOfMany", "k": 3},
            "memory": 6, "streams": 4, "dropout": 0.1,
        },
        "objective": {"path": "model.objectives.stream_modelling:StreamModelling", "segment": 5},
        "training": {
            "updates": 30, "batch": {"tokens": 20}, "optimizer": {"lr": 1e-2, "betas": [0.9, 0.98]},
            "schedule": {"name": "cosine"}, "precision": "fp32", "threads": 1, "matmul": "highest",
            **training,
        },
        "checkpoints": [], "parents": {},
    }  # fmt: skip
    return Job(folder, seal(spec | {"code": Project(ROOT).hash(run_roots(spec))}), text)


def test_killed_and_resumed_it_ends_bit_for_bit_as_undisturbed(tmp_path: Path, text: Path) -> None:
    whole, job = (reader(tmp_path / name, text) for name in ("whole", "killed"))
    assert whole.train().status == 0
    for step in (7, 23):
        assert job.train(before=kill(step, save_every=3)).status == -9
    outcome = job.train()
    assert outcome.status == 0 and "resumed after update" in outcome.said
    assert job.like(whole)


@pytest.mark.parametrize(
    ("batch", "says"),
    [
        (
            {"tokens": 25},
            "training.batch.tokens makes more streams than model.streams, which is 4",
        ),
        ({"tokens": 18}, "training.batch.tokens is 18; give a multiple of the segment's 5"),
        ({"examples": 4}, "training.batch.tokens is missing; give a multiple of the segment's 5"),
        ({"tokens": 2000}, "the text of 400 characters is too short for 400 segments of 5"),
    ],
)
def test_a_batch_that_does_not_fit_is_told(
    tmp_path: Path, text: Path, batch: dict[str, int], says: str
) -> None:
    job = reader(tmp_path / "job", text, batch=batch)
    assert says in job.train().error
    assert job.untouched()
