"""Every mechanism trains on short rows and on long ones."""

import pytest

from benchmarks import mechanisms, training
from benchmarks.made_up import LONGEST, TEXTS, WORDS, made_up_texts
from benchmarks.mechanisms import classifying, contenders, text_batches
from benchmarks.models import MECHANISMS


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(training, "TOKENS", 256)
    monkeypatch.setattr(mechanisms, "TOKENS", 600)
    monkeypatch.setattr(mechanisms, "UPDATES", 1)


@pytest.mark.parametrize("rows", ["short", "long"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mechanism_trains(mechanism, rows):
    job = contenders(rows, 1)[mechanism]
    tiny = {"width": 16, "hidden": 16, "layers": 1, "heads": 4}
    work = (training.training if rows == "short" else classifying)(job | {"shape": tiny})
    assert work(-1)["loss"] > 0 < work(0)["loss"]


def test_a_round_has_several_updates_and_all_mechanisms_the_same(monkeypatch):
    monkeypatch.setattr(mechanisms, "UPDATES", 2)
    rounds = text_batches(2)
    assert [len(batches) for batches in rounds] == [2, 2]
    assert all(batch.tokens.numel() <= 600 for batches in rounds for batch in batches)
    work = classifying(contenders("long", 2)["softmax"])
    assert work(1)["tokens"] == sum(int(batch.real.sum()) for batch in rounds[1])


def test_made_up_texts_are_as_said():
    split = made_up_texts()
    assert len(split) == TEXTS
    assert split.lengths.mean() == pytest.approx(210, abs=5)
    assert split.lengths.max() == LONGEST
    assert int(split.tokens.max()) < WORDS
    assert set(split.columns["label"].tolist()) == {0, 1}
