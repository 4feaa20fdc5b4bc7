"""All sides of the comparison do the same work: same loss, same translations."""

from importlib.util import find_spec

import pytest
import torch

from benchmarks import decoding as decodes
from benchmarks import training as trains
from benchmarks.decoding import LENGTH, decoding, decoding_batch
from benchmarks.made_up import PAIRS, VOCABULARY, made_up_pairs
from benchmarks.models import enliven, make_ours, make_theirs
from benchmarks.training import training, training_batches, work_per_token
from benchmarks.translation import decoded, report, trained
from model.batches.pairs import EOS, pair_lengths

TINY = {"width": 16, "hidden": 16, "layers": 1, "heads": 4}


@pytest.fixture(autouse=True)
def few_tokens(monkeypatch):
    monkeypatch.setattr(trains, "TOKENS", 256)
    monkeypatch.setattr(decodes, "FEW", 2)


def turns(work, rounds):
    """What `race` makes of a contender's rounds, with one second for each."""
    return [work(turn) | {"cpu": 1.0, "wall": 2.0} for turn in range(-1, rounds)]


def test_the_losses_agree():
    jobs = trained(TINY, 2)
    del jobs["torch, compiled"]  # compiling takes a minute
    results = {name: turns(training(job), 2) for name, job in jobs.items()}
    rows = report(results)["contenders"]
    losses = {name: row["loss_without_dropout"] for name, row in rows.items()}
    single = [loss for name, loss in losses.items() if "bf16" not in name]
    assert single == pytest.approx([losses["torch"]] * 3, abs=1e-4)
    assert list(losses.values()) == pytest.approx([losses["torch"]] * 5, abs=0.02)
    tokens = [len(batch.layout.places) for batch in training_batches(2)]
    assert [turn["tokens"] for turn in results["ours"]] == [tokens[2], tokens[0], tokens[1]]
    assert rows["ours"]["relative_cpu_time"] == 1.0
    # Dropout is on in the rounds that count: the loss of one batch differs from without.
    work = training(jobs["ours"])
    assert work(0)["loss"] != work(0)["loss"]


@pytest.mark.parametrize("beam", [1, 3])
def test_the_translations_agree(beam):
    jobs = {name: job | {"sentences": 10} for name, job in decoded(TINY, beam).items()}
    jobs["torch"] |= {"sentences": 5}
    if not find_spec("ctranslate2"):
        jobs = {name: job for name, job in jobs.items() if job["who"] != "CTranslate2"}
    results = {name: turns(decoding(job), 1) for name, job in jobs.items()}
    rows = report(results)["contenders"]
    alike = {name: row["translated_as_ours"] for name, row in rows.items()}
    assert alike["torch"] == rows["torch"]["sentences"] == 5
    assert alike["torch, cached"] == alike["torch, cached, fast products"] == alike["ours"] == 10
    assert alike.get("CTranslate2", 10) >= (10 if beam == 1 else 5)
    assert all(len(text) == LENGTH for turn in results["ours"][1:] for text in turn["texts"])
    assert rows["torch"]["relative_cpu_time"] == 1
    assert rows["ours"]["relative_cpu_time"] == pytest.approx(0.5)


def test_an_enlivened_model_says_more_than_one_word():
    job = decoded(TINY, 1)["ours"] | {"sentences": 10}
    texts = turns(decoding(job), 1)[-1]["texts"]
    assert len({word for text in texts for word in text}) > 10


def test_sentences_have_one_length_and_the_few_are_the_first():
    few, all_of_them = decoding_batch(3), decoding_batch(12)
    assert all_of_them.source.shape == (12, LENGTH)
    assert all_of_them.source_layout.full
    assert torch.equal(few.source, all_of_them.source[:3])


def test_dropout_is_in_the_same_places():
    ours = make_ours(TINY)
    theirs = make_theirs(ours, TINY)
    assert {m.p for m in ours.modules() if type(m).__name__ == "Dropout"} == {0.3}
    assert {m.p for m in theirs.modules() if isinstance(m, torch.nn.Dropout)} == {0.3}
    attention = [m for m in theirs.modules() if isinstance(m, torch.nn.MultiheadAttention)]
    assert {m.dropout for m in attention} == {0.3}


def test_the_work_of_a_token_is_that_of_its_matrices():
    wide = {"width": 64, "hidden": 64, "layers": 1, "heads": 4}
    # The output layer: 2 V D for the scores, as much for each of the two gradients.
    output = 6 * VOCABULARY * wide["width"] / 1e9
    assert output < work_per_token(wide) < 1.2 * output


def test_special_words_are_never_among_the_best():
    model = enliven(make_ours(TINY))
    assert (model.output_weight[: EOS + 1] == 0).all()


def test_made_up_pairs_are_as_said():
    split = made_up_pairs()
    lengths = pair_lengths(split)
    assert len(split) == PAIRS
    assert lengths.mean(0) == pytest.approx([24.5, 24.5], abs=1.5)
    assert lengths.min() >= 2
    assert lengths.max() <= 175
    ends = split.tokens[split.offsets[1:] - 1]
    assert set(ends.tolist()) == {EOS}
    assert int((split.tokens == EOS).sum()) == 2 * PAIRS
    assert int(split.tokens.max()) < VOCABULARY
