"""Translation as processes: killed in the middle of an epoch, and told what does not fit."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from subword_nmt.apply_bpe import BPE

from tests.encoding import encoded
from tests.model.specs import GUMBEL, part, tiny
from tests.scripts.conftest import Job, planned, trained
from tests.scripts.processes import kill

pytestmark = pytest.mark.xdist_group("scripts")

PAIRS = {
    **{"dataset": "multi30k", "direction": "de_en", "source": "generated", "merges": 60},
    **{"train": 150, "dev": 8, "test": 8, "seed": 0},
}
MODEL = {
    "path": "model.architectures.translation.two_stream:TwoStreamEncoderDecoder",
    "width": 8, "hidden": 12, "layers": 1, "heads": 2, "normalizer": GUMBEL, "dropout": 0.2,
}  # fmt: skip
TRAINING = {
    "updates": 20, "batch": {"tokens": 400, "micro_tokens": 200}, "clip": 1.0,
    "schedule": {"name": "inverse_sqrt", "warmup": 4}, "average": {"last": 3, "updates": 4},
}  # fmt: skip
SHORT = {name: value for name, value in TRAINING.items() if name != "average"} | {"updates": 2}


def pairs_in(folder: Path, **options: Any) -> Path:
    """Generated pairs in the format of Multi30k."""
    return encoded(folder, PAIRS | options)


def translating(
    folder: Path,
    data: Path,
    model: Any = MODEL,
    training: Any = TRAINING,
    objective: str = "model.objectives.translation:Translation",
) -> Job:
    """A run that is not yet begun."""
    return Job(folder, planned(tiny(model, objective, **training), data), data)


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pairs with one vocabulary for both sides."""
    return pairs_in(tmp_path_factory.mktemp("pairs"))


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, pairs: Path) -> Job:
    """The run, trained by one process; not to be changed."""
    return trained(translating(tmp_path_factory.mktemp("undisturbed"), pairs))


def test_killed_in_the_middle_of_an_epoch_it_ends_bit_for_bit_as_undisturbed(
    undisturbed: Job, pairs: Path, tmp_path: Path
) -> None:
    """With dropout, Gumbel noise, accumulated gradients, and weights kept for the average."""
    job = translating(tmp_path / "run", pairs)
    assert job.train(before=kill(after=13, save_every=5)).status == -9  # 12 is kept, 10 saved
    assert job.train(before=kill(after=5, save_every=4)).status == -9
    assert not job.out.exists()
    outcome = job.train("--save-every", "0")
    assert outcome.status == 0 and "resumed after update 14 of 20" in outcome.said
    epochs = {row["step"]: row["epoch"] for row in undisturbed.history}
    resumed = [segment["update"] for segment in job.record["continuations"]]
    assert resumed == [10, 14] and all(epochs[update] % 1 for update in resumed)
    assert job.like(undisturbed)


def test_a_parent_with_another_vocabulary_is_told(undisturbed: Job, tmp_path: Path) -> None:
    other = pairs_in(tmp_path / "other", merges=5)
    training = TRAINING | {"start_from": "base"}
    job = translating(tmp_path / "run", other, training=training)
    job = replace(job, parents={"base": undisturbed.out})
    job = job.sealed(parents={"base": undisturbed.spec["identity"]})
    words = len((other / "vocabulary.txt").read_text().split())
    error = job.train().error
    assert "parent 'base' of run" in error and "source.token.weight'), and" in error
    assert f"and {other} has {words}; give the run its parent's data section" in error
    assert job.untouched()


def test_a_source_with_a_vocabulary_of_its_own_needs_it_in_the_model(tmp_path: Path) -> None:
    """And what the sentence tells to do helps."""
    data = pairs_in(tmp_path / "apart", joint=False)
    job = translating(tmp_path / "run", data)
    size = len((data / "source_vocabulary.txt").read_text().split())
    error = job.refused()
    assert f"the source's vocabulary in {data} has {size} entries of its own" in error
    assert f"is None; set it to {size}, and model.tie to decoder or none." in error
    assert job.untouched()
    model = MODEL | {"source_vocabulary_size": size, "tie": "decoder"}
    apart = translating(tmp_path / "apart_run", data, model, SHORT)
    assert apart.train().status == 0


def test_a_source_vocabulary_that_the_data_do_not_have_is_told(pairs: Path, tmp_path: Path) -> None:
    model = MODEL | {"source_vocabulary_size": 7, "tie": "decoder"}
    error = translating(tmp_path / "run", pairs, model).refused()
    assert f"in {pairs} is the target's, and model.source_vocabulary_size" in error
    assert "is 7; take it away." in error


def test_a_pair_that_is_too_long_for_the_model_is_told_before_the_first_update(
    pairs: Path, tmp_path: Path
) -> None:
    """Wherever it stands, and what the sentence tells to do helps."""
    source, offsets = (np.load(pairs / f"train.{name}.npy") for name in ("source", "offsets"))
    lengths = np.stack([source, np.diff(offsets) - source], axis=1)
    pair, place = divmod(int(lengths.argmax()), 2)
    side, longest = ("source", "target")[place], int(lengths.max())
    job = translating(tmp_path / "run", pairs, MODEL | {"max_length": longest - 1})
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
    fits = MODEL | {"max_length": longest}
    assert translating(tmp_path / "fits", pairs, fits, SHORT).train().status == 0


def test_a_search_without_a_beam_is_told(undisturbed: Job, tmp_path: Path) -> None:
    """Where it got past the plan, which refuses it too."""
    search = part("architectures.translation.beam_search:Beam", beam=0)
    node = part("probes.quality.translation_scores:translation_scores", search=search)
    error = undisturbed.measure(tmp_path / "measures.json", scores=node).error
    assert "cannot be measured: beam must be at least 1, not 0." in error
    assert not (tmp_path / "measures.json").exists()
    assert not (undisturbed.entry / "measures").exists()
