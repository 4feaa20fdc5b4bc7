"""Captioning as processes: killed in the middle of an epoch, measured, told what does not fit."""

from pathlib import Path
from typing import Any

import pytest

from model.store.checksums import read_sealed
from tests.scripts.conftest import Job, seal
from tests.scripts.processes import ROOT, coded, command, kill
from workflow.datasets.io.checksums import read_manifest
from workflow.datasets.kinds.recipe import load
from workflow.planning.code import Project
from workflow.planning.identity import canonical, run_roots

pytestmark = pytest.mark.xdist_group("scripts")

DRAWINGS = {
    **{"dataset": "flickr8k", "source": "generated", "pixels": 16, "threshold": 1},
    **{"train": 40, "dev": 4, "test": 6, "seed": 0},
}
IMAGES = {
    "path": "model.layers.image_encoders:Convolution", "width": 8, "pixels": 16, "channels": [8, 8],
    "dropout": 0.1, "shift": 2, "flip": True,
}  # fmt: skip
MODEL = {
    "path": "model.architectures.translation.captioner:Captioner",
    "images": IMAGES, "width": 8, "hidden": 12, "layers": 1,
    "heads": 2, "normalizer": {"path": "model.normalizers.topk:TopK", "k": 3}, "dropout": 0.2,
}  # fmt: skip
TRAINING = {
    "updates": 16, "batch": {"examples": 8}, "optimizer": {"lr": 1e-2, "betas": [0.9, 0.98]},
    "schedule": {"name": "cosine", "warmup": 4}, "clip": 1.0, "precision": "fp32",
    "threads": 1, "matmul": "highest", "select": {"metric": "loss", "mode": "min"},
}  # fmt: skip
SEARCH = {
    "path": "model.architectures.translation.beam_search:Beam",
    "beam": 2,
    "length_ratio": 0,
    "length_extra": 12,
}


@pytest.fixture(scope="session")
def drawings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generated drawings in the format of Flickr8k."""
    folder, dataset = tmp_path_factory.mktemp("drawings"), load(DRAWINGS)
    dataset.synthesise(folder / "raw")
    dataset.prepare(list((folder / "raw").iterdir()), folder / "prepared")
    dataset.encode(folder / "prepared", folder / "encoded")
    return folder / "encoded"


def captioning(folder: Path, data: Path, model: Any = MODEL) -> Job:
    """A run that is not yet begun."""
    spec = {
        "schema": 1,
        "run": {"paper": "toy", "experiment": "drawings", "variant": "topk", "seed": 0},
        "seed": 0,
        "data": {
            "dataset": "flickr8k", "recipe": "0" * 12,
            "digest": read_manifest(data)["digest"],
        },
        "model": model,
        "objective": {"path": "model.objectives.captioning:Captioning"},
        "training": TRAINING,
        "checkpoints": [], "parents": {},
    }  # fmt: skip
    folder.mkdir()
    return Job(folder, seal(spec | {"code": Project(ROOT).hash(run_roots(spec))}), data)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, drawings: Path) -> Job:
    """The run, trained by one process; not to be changed."""
    job = captioning(tmp_path_factory.mktemp("undisturbed") / "run", drawings)
    outcome = job.train()
    assert outcome.status == 0, outcome.said
    return job


def test_killed_in_the_middle_of_an_epoch_it_ends_bit_for_bit_as_undisturbed(
    undisturbed: Job, drawings: Path, tmp_path: Path
) -> None:
    """With dropout, and images that are moved and mirrored by chance."""
    job = captioning(tmp_path / "run", drawings)
    assert job.train(before=kill(after=9, save_every=4)).status == -9
    outcome = job.train()
    assert outcome.status == 0 and "resumed after update 8 of 16" in outcome.said
    assert job.like(undisturbed)


def test_everything_that_a_report_needs_is_measured(undisturbed: Job, tmp_path: Path) -> None:
    probes = {
        "scores": {"path": "model.probes.quality.caption_scores:caption_scores", "search": SEARCH},
        "frequent": {"path": "model.probes.quality.caption_scores:frequent_caption"},
        "pictures": {
            "path": "model.probes.quality.caption_pictures:caption_pictures",
            "pictures": 2,
        },
        "speed": {"path": "model.probes.cost.speed:training_speed", "updates": 4},
    }
    evaluators = {name: coded(node) for name, node in probes.items()}
    given = {
        "spec": undisturbed.written(), "run": undisturbed.out, "data": undisturbed.data,
        "store": undisturbed.store, "out": tmp_path / "measures.json",
        "evaluators": canonical(evaluators),
    }  # fmt: skip
    arguments = [text for name, value in given.items() for text in (f"--{name}", str(value))]
    assert command("measure", arguments).status == 0
    found = read_sealed(tmp_path / "measures.json")["evaluators"]
    assert len(found["scores"]["arrays"]["hypotheses"]) == 6
    assert len(found["pictures"]["arrays"]["pictures"]) == 2
    assert found["frequent"]["scalars"]["cider"]["n"] == 6
    assert found["speed"]["scalars"]["relative"]["value"] > 0


def test_images_that_are_not_what_the_model_reads_are_told(drawings: Path, tmp_path: Path) -> None:
    larger = MODEL | {"images": IMAGES | {"pixels": 32}}
    error = captioning(tmp_path / "larger", drawings, larger).train().error
    assert "the corpus has images of shape (3, 16, 16), and the model reads (3, 32, 32)" in error
    boxes = {"path": "model.layers.image_encoders:Regions", "width": 8, "features": 4}
    job = captioning(tmp_path / "boxes", drawings, MODEL | {"images": boxes})
    assert "reads features of regions, and the corpus has pixels" in job.train().error
    assert job.untouched()
