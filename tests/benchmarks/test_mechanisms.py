"""Every mechanism trains on short rows and on long ones."""

import pytest

from benchmarks import mechanisms, training
from benchmarks.mechanisms import classifying, contenders
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
