"""Both sides of the comparison do the same work: same loss, same translations."""

import pytest
import torch

from benchmarks import translation
from benchmarks.made_up import PAIRS, VOCABULARY, made_up_pairs
from benchmarks.translation import (
    MECHANISMS,
    contenders,
    decoding,
    make_ours,
    make_theirs,
    report,
    training,
    training_batches,
)
from model.batches.pairs import EOS, pair_lengths

TINY = {"width": 16, "hidden": 16, "layers": 1, "heads": 4}


@pytest.fixture(autouse=True)
def few_tokens(monkeypatch):
    monkeypatch.setattr(translation, "TOKENS", 256)
    monkeypatch.setattr(translation, "SENTENCES", 10)


def turns(work, rounds):
    """What `race` makes of a contender's rounds, with one second for each."""
    return [work(turn) | {"cpu": 1.0, "wall": 2.0} for turn in range(-1, rounds)]


def test_the_losses_agree_within_a_ten_thousandth():
    jobs = contenders("train", TINY, 1, 2)
    results = {name: turns(training(job), 2) for name, job in jobs.items()}
    said = report(results)
    losses = list(said["loss_without_dropout"].values())
    assert losses == pytest.approx([losses[0]] * 3, abs=1e-4)
    tokens = [len(batch.layout.places) for batch in training_batches(2)]
    assert [turn["tokens"] for turn in results["ours"]] == [tokens[2], tokens[0], tokens[1]]
    assert said["contenders"]["torch, fast"]["relative_cpu_time"] == 1.0
    # Dropout is on in the rounds that count: the loss of one batch differs from without.
    work = training(jobs["ours"])
    assert work(0)["loss"] != work(0)["loss"]


def test_the_translations_agree():
    jobs = contenders("decode", TINY, 3, 1)
    said = report({name: turns(decoding(job), 1) for name, job in jobs.items()})
    assert said["sentences"] == 10
    assert said["translated_alike"] == {"ours": 10, "torch, default": 10, "torch, fast": 10}


def test_dropout_is_in_the_same_places():
    ours, theirs = make_ours(TINY), make_theirs(TINY)
    assert {m.p for m in ours.modules() if type(m).__name__ == "Dropout"} == {0.3}
    assert {m.p for m in theirs.modules() if isinstance(m, torch.nn.Dropout)} == {0.3}
    attention = [m for m in theirs.modules() if isinstance(m, torch.nn.MultiheadAttention)]
    assert {m.dropout for m in attention} == {0.3}


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mechanism_trains(mechanism):
    job = contenders("mechanisms", TINY, 1, 1)[mechanism]
    first, second = turns(training(job), 1)
    assert first["loss"] > 0 < second["loss"]


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
