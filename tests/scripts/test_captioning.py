"""Captioning as processes: killed in the middle of an epoch, measured, told what does not fit."""

from pathlib import Path
from typing import Any

import pytest

from model.store.checksums import read_sealed
from tests.encoding import encoded
from tests.model.specs import part, tiny
from tests.scripts.conftest import Job, planned, trained
from tests.scripts.processes import kill

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
    "images": IMAGES, "width": 8, "hidden": 12, "layers": 1, "heads": 2, "dropout": 0.2,
    "normalizer": part("normalizers.topk:TopK", k=3),
}  # fmt: skip
SEARCH = part("architectures.translation.beam_search:Beam", beam=2, length_ratio=0, length_extra=12)


@pytest.fixture(scope="session")
def drawings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generated drawings in the format of Flickr8k."""
    return encoded(tmp_path_factory.mktemp("drawings"), DRAWINGS)


def captioning(folder: Path, data: Path, model: Any = MODEL) -> Job:
    """A run that is not yet begun."""
    spec = tiny(
        model, "model.objectives.captioning:Captioning", updates=16, batch={"examples": 8},
        schedule={"name": "cosine", "warmup": 4}, clip=1.0,
        select={"metric": "loss", "mode": "min"},
    )  # fmt: skip
    return Job(folder, planned(spec, data), data)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, drawings: Path) -> Job:
    """The run, trained by one process; not to be changed."""
    return trained(captioning(tmp_path_factory.mktemp("undisturbed"), drawings))


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
        "scores": part("probes.quality.caption_scores:caption_scores", search=SEARCH),
        "frequent": part("probes.quality.caption_scores:frequent_caption"),
        "pictures": part("probes.quality.caption_pictures:caption_pictures", pictures=2),
        "speed": part("probes.cost.speed:training_speed", updates=4),
    }
    assert undisturbed.measure(tmp_path / "measures.json", **probes).status == 0
    found = read_sealed(tmp_path / "measures.json")["evaluators"]
    assert len(found["scores"]["arrays"]["hypotheses"]) == 6
    assert len(found["pictures"]["arrays"]["pictures"]) == 2
    assert found["frequent"]["scalars"]["cider"]["n"] == 6
    assert found["speed"]["scalars"]["relative"]["value"] > 0


def test_images_that_are_not_what_the_model_reads_are_told(drawings: Path, tmp_path: Path) -> None:
    larger = MODEL | {"images": IMAGES | {"pixels": 32}}
    error = captioning(tmp_path / "larger", drawings, larger).train().error
    assert "the corpus has images of shape (3, 16, 16), and the model reads (3, 32, 32)" in error
    assert not (tmp_path / "larger/out").exists()
