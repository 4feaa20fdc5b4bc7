"""Other kinds of runs as processes: killed in the middle of an epoch, told what does not fit."""

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from subword_nmt.apply_bpe import BPE

from tests.model.corpora import encoded, write_corpus
from tests.model.specs import GUMBEL, Node, part, tiny
from tests.scripts.conftest import Job, as_encoded, planned, trained
from tests.scripts.processes import kill
from workflow.runtime.integrity import read_verified

pytestmark = pytest.mark.xdist_group("scripts")

DRAWINGS = {
    **{"dataset": "flickr8k", "source": "generated", "pixels": 16, "threshold": 1},
    **{"train": 40, "dev": 4, "test": 6, "seed": 0},
}
PAIRS = {
    **{"dataset": "multi30k", "direction": "de_en", "source": "generated", "merges": 60},
    **{"train": 150, "dev": 8, "test": 8, "seed": 0},
}
TOP_K = part("normalizers.topk:TopK", k=3)
SHAPE: Node = {"width": 8, "hidden": 12, "layers": 1, "heads": 2}
IMAGES = part(
    "layers.image_encoders:Convolution",
    **{"width": 8, "pixels": 16, "channels": [8, 8], "dropout": 0.1, "shift": 2, "flip": True},
)
CAPTIONER = part(
    "architectures.translation.captioner:Captioner",
    **{**SHAPE, "images": IMAGES, "normalizer": TOP_K, "dropout": 0.2},
)
TRANSLATOR = part(
    "architectures.translation.two_stream:TwoStreamEncoderDecoder",
    **{**SHAPE, "normalizer": GUMBEL, "dropout": 0.2},
)
READER = part(
    "architectures.transformer_xl:TransformerXL",
    **{**SHAPE, "layers": 2, "memory": 6, "streams": 4, "normalizer": TOP_K, "dropout": 0.1},
)
READING = part("objectives.stream_modelling:StreamModelling", segment=5)
SEARCH = part("architectures.translation.beam_search:Beam", beam=2, length_ratio=0, length_extra=12)
TRAINING: dict[str, Node] = {
    "captions": {
        "updates": 16, "batch": {"examples": 8}, "clip": 1.0,
        "schedule": {"name": "cosine", "warmup": 4}, "select": {"metric": "loss", "mode": "min"},
    },
    "pairs": {
        "updates": 20, "batch": {"tokens": 400, "micro_tokens": 200}, "clip": 1.0,
        "schedule": {"name": "inverse_sqrt", "warmup": 4}, "average": {"last": 3, "updates": 4},
    },
    "text": {"updates": 30, "batch": {"tokens": 20}, "schedule": {"name": "cosine"}},
}  # fmt: skip
SHORT = {"updates": 2, "average": None}


def text(folder: Path) -> Path:
    """A text a split."""
    random = np.random.default_rng(0)
    sizes = {"train": 400, "dev": 80, "test": 80}
    splits = {split: [random.integers(3, 9, n).tolist()] for split, n in sizes.items()}
    return as_encoded(write_corpus(folder / "encoded", splits, 9, {}))


@pytest.fixture(scope="session")
def data_of(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Generated drawings, pairs with one vocabulary for both sides, and a text."""
    captions, pairs, words = (tmp_path_factory.mktemp(kind) for kind in TRAINING)
    return {
        "captions": encoded(captions, DRAWINGS),
        "pairs": encoded(pairs, PAIRS),
        "text": text(words),
    }


def job_of(kind: str, folder: Path, data: Path, model: Node | None = None, **training: Any) -> Job:
    """A run that is not yet begun."""
    models: dict[str, tuple[Node, Node]] = {
        "captions": (CAPTIONER, part("objectives.captioning:Captioning")),
        "pairs": (TRANSLATOR, part("objectives.translation:Translation")),
        "text": (READER, READING),
    }
    usual, objective = models[kind]
    spec = tiny(model or usual, objective, **TRAINING[kind] | training)
    return Job(folder, planned(spec, data), data)


@pytest.fixture(scope="session")
def undisturbed(
    tmp_path_factory: pytest.TempPathFactory, data_of: dict[str, Path]
) -> Callable[[str], Job]:
    """Gives the run of a kind, trained by one process; not to be changed."""
    made: dict[str, Job] = {}

    def give(kind: str) -> Job:
        if kind not in made:
            made[kind] = trained(job_of(kind, tmp_path_factory.mktemp(kind), data_of[kind]))
        return made[kind]

    return give


@pytest.mark.parametrize(
    ("kind", "kills", "resumed"),
    [
        # With dropout, and images that are moved and mirrored by chance.
        ("captions", [(9, 4)], [8]),
        # With Gumbel noise, accumulated gradients, and weights kept for the average: 12 is kept.
        ("pairs", [(13, 5), (5, 4)], [10, 14]),
        # With a memory.
        ("text", [(7, 3), (23, 3)], [6, 27]),
    ],
)
def test_killed_in_the_middle_of_an_epoch_it_ends_bit_for_bit_as_undisturbed(
    undisturbed, data_of, tmp_path, kind, kills, resumed
):
    whole, job = undisturbed(kind), job_of(kind, tmp_path / "run", data_of[kind])
    for after, save_every in kills:
        assert job.train(before=kill(after, save_every)).status == -9
    assert not job.out.exists()
    outcome = job.train("--save-every", "0")
    assert outcome.status == 0 and f"resumed after update {resumed[-1]} of" in outcome.said
    assert [segment["update"] for segment in job.record["continuations"]] == resumed
    epochs = {row["step"]: row["epoch"] for row in whole.history}
    assert all(epochs.get(update, 0.5) % 1 for update in resumed)
    assert job.like(whole)


def test_everything_that_a_report_on_captions_needs_is_measured(undisturbed, tmp_path):
    probes = {
        "scores": part("probes.quality.caption_scores:caption_scores", search=SEARCH),
        "frequent": part("probes.quality.caption_scores:frequent_caption"),
        "pictures": part("probes.quality.caption_pictures:caption_pictures", pictures=2),
        "speed": part("probes.cost.speed:training_speed", updates=4),
    }
    assert undisturbed("captions").measure(tmp_path / "measures.json", **probes).status == 0
    found = read_verified(tmp_path / "measures.json")["evaluators"]
    assert len(found["scores"]["arrays"]["hypotheses"]) == 6
    assert len(found["pictures"]["arrays"]["pictures"]) == 2
    assert found["frequent"]["scalars"]["cider"]["n"] == 6
    assert found["speed"]["scalars"]["relative"]["value"] > 0


@pytest.mark.parametrize(
    ("kind", "model", "training", "says"),
    [
        (
            "captions", CAPTIONER | {"images": IMAGES | {"pixels": 32}}, {},
            "the corpus has images of shape (3, 16, 16), and the model reads (3, 32, 32)",
        ),
        (
            "text", READER, {"batch": {"tokens": 25}},
            "batch.tokens makes more streams than model.streams, which is 4",
        ),
        (
            "pairs", TRANSLATOR | {"source_vocabulary_size": 7, "tie": "decoder"}, {},
            "is the target's, and model.source_vocabulary_size of run {} is 7; take it away.",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told(data_of, tmp_path, kind, model, training, says):
    job = job_of(kind, tmp_path / "run", data_of[kind], model, **training)
    assert says.format(job.spec["identity"]) in job.train().error
    assert job.untouched()


def test_a_parent_with_another_vocabulary_is_told(undisturbed, tmp_path):
    other, parent = encoded(tmp_path / "other", PAIRS | {"merges": 5}), undisturbed("pairs")
    job = job_of("pairs", tmp_path / "run", other, start_from="base")
    job = replace(job, parents={"base": parent.out})
    job = job.sealed(parents={"base": parent.spec["identity"]})
    words = len((other / "vocabulary.txt").read_text().split())
    error = job.train().error
    assert "parent 'base' of run" in error and "source.token.weight'), and" in error
    assert f"and {other} has {words}; give the run its parent's data section" in error
    assert job.untouched()


def test_a_source_with_a_vocabulary_of_its_own_needs_it_in_the_model(tmp_path):
    """And what the sentence tells to do helps."""
    data = encoded(tmp_path / "apart", PAIRS | {"joint": False})
    job = job_of("pairs", tmp_path / "run", data)
    size = len((data / "source_vocabulary.txt").read_text().split())
    error = job.refused()
    assert f"the source's vocabulary in {data} has {size} entries of its own" in error
    assert f"is None; set it to {size}, and model.tie to decoder or none." in error
    assert job.untouched()
    model = TRANSLATOR | {"source_vocabulary_size": size, "tie": "decoder"}
    assert job_of("pairs", tmp_path / "apart_run", data, model, **SHORT).train().status == 0


def test_a_pair_that_is_too_long_for_the_model_is_told_before_the_first_update(data_of, tmp_path):
    """Wherever it stands, and what the sentence tells to do helps."""
    pairs = data_of["pairs"]
    source, offsets = (np.load(pairs / f"train.{name}.npy") for name in ("source", "offsets"))
    lengths = np.stack([source, np.diff(offsets) - source], axis=1)
    pair, place = divmod(int(lengths.argmax()), 2)
    side, longest = ("source", "target")[place], int(lengths.max())
    job = job_of("pairs", tmp_path / "run", pairs, TRANSLATOR | {"max_length": longest - 1})
    error = job.train().error
    assert error == (
        f"{pairs}: the {side} of pair {pair + 1} of 'train' (its line in "
        f"train.{side}.txt) has {longest} sub-words, <eos> included, and "
        f"model.max_length is {longest - 1}: set it to {longest} or more."
    )
    prepared = (pairs.parent / "prepared" / f"train.{side}.txt").read_text()
    codes = BPE(io.StringIO((pairs / "codes.txt").read_text()))
    assert len(codes.process_line(prepared.split("\n")[pair]).split()) == longest - 1
    assert job.untouched() and not job.states
    fits = TRANSLATOR | {"max_length": longest}
    assert job_of("pairs", tmp_path / "fits", pairs, fits, **SHORT).train().status == 0


def test_a_search_without_a_beam_is_told(undisturbed, tmp_path):
    """Where it got past the plan, which refuses it too."""
    search = part("architectures.translation.beam_search:Beam", beam=0)
    node = part("probes.quality.translation_scores:translation_scores", search=search)
    job = undisturbed("pairs")
    error = job.measure(tmp_path / "measures.json", scores=node).error
    assert "cannot be measured: beam must be at least 1, not 0." in error
    assert not (tmp_path / "measures.json").exists()
    assert not (job.entry / "measures").exists()
