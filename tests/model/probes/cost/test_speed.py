"""Training speed beside softmax: the model compared with, and what is timed."""

import copy

import pytest
import torch

from model.normalizers.softmax import Softmax
from model.probes.cost import speed, stopwatch
from model.probes.measure import Subject
from model.training.loop import build_model
from tests.model.corpora import CPU
from tests.model.specs import GUMBEL, SOFTMAX, Timed, part, tell, timed


def subject(spec, corpus):
    return Subject(build_model(spec, corpus).eval(), corpus, CPU, 0)


def test_it_is_the_ratio_of_the_times_of_equal_updates(keywords, classifier_spec, monkeypatch):
    """Three units per call against one: a third of the speed."""
    tell(monkeypatch, stopwatch)
    monkeypatch.setattr(speed, "SOFTMAX", timed(1))
    classifier_spec["model"]["encoder"]["normalizer"] = timed(3)
    found = speed.training_speed(subject(classifier_spec, keywords), classifier_spec, updates=8)
    expected = {"value": pytest.approx(1 / 3), "unit": "softmax = 1", "n": 8}
    assert found.scalars["relative"] == expected


class Warm(Softmax):
    """Softmax that is faster after itself, as with caches, on the same clock."""

    last = None

    def forward(self, scores):
        Timed.now += 1 if Warm.last is type(self) else 5
        Warm.last = type(self)
        return super().forward(scores)


class Other(Warm):
    pass


def test_what_finds_warm_caches_gains_nothing(keywords, classifier_spec, monkeypatch):
    monkeypatch.setattr(speed, "SOFTMAX", {"path": f"{__name__}:Warm"})
    tell(monkeypatch, stopwatch)
    classifier_spec["model"]["encoder"]["normalizer"] = {"path": f"{__name__}:Other"}
    found = speed.training_speed(subject(classifier_spec, keywords), classifier_spec, updates=8)
    assert found.scalars["relative"]["value"] == pytest.approx(1)


def test_orders_need_as_many_updates_each(keywords, classifier_spec):
    with pytest.raises(ValueError, match="updates is 6; give a multiple of 4"):
        speed.training_speed(subject(classifier_spec, keywords), classifier_spec, updates=6)


def test_two_streams_are_compared_with_one_of_the_same_shape(keywords, classifier_spec):
    shape = {n: v for n, v in classifier_spec["model"]["encoder"].items() if n != "path"}
    single = copy.deepcopy(classifier_spec)
    single["model"]["encoder"] = {**shape, "path": "model.architectures.transformer:Transformer"}
    double = copy.deepcopy(single)
    changes = {"normalizer": GUMBEL | {"temperature": 1}, "share_embeddings": True}
    double["model"]["encoder"] |= part("architectures.two_stream:TwoStreamTransformer", **changes)
    single["model"]["encoder"]["normalizer"] = SOFTMAX
    assert speed.softmax_model(double) == single["model"]


def test_measuring_changes_neither_weights_nor_random_numbers(keywords, classifier_spec):
    run = subject(classifier_spec, keywords)
    before = copy.deepcopy(run.model.state_dict())
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    value = speed.training_speed(run, classifier_spec, updates=4).scalars["relative"]["value"]
    assert torch.equal(torch.rand(3), expected)
    assert value > 0
    assert all(torch.equal(before[name], now) for name, now in run.model.state_dict().items())


def test_a_small_corpus_is_gone_through_again(keywords, classifier_spec):
    classifier_spec["training"]["batch"] = {"examples": 10**6}
    found = speed.training_speed(subject(classifier_spec, keywords), classifier_spec, updates=4)
    assert found.scalars["relative"]["n"] == 4
