"""What is measured of language models on streams: bits, curves and speed."""

import math

import numpy as np
import pytest
import torch

from model.probes.cost import speed, stopwatch
from model.probes.measure import Subject
from model.probes.quality.bits_per_character import bits_per_character
from model.probes.quality.learning_curve import learning_curve
from model.training.loop import build_model
from tests.model.corpora import CPU, write_corpus
from tests.model.specs import SOFTMAX, Timed, part, shape, tell, timed, tiny

V = 9


@pytest.fixture
def spec():
    more = {"normalizer": SOFTMAX, "memory": 4, "streams": 3}
    model = part("architectures.transformer_xl:TransformerXL", **shape(8, 16, 2), **more)
    objective = part("objectives.stream_modelling:StreamModelling", segment=4)
    return tiny(model, objective, batch={"tokens": 12})


@pytest.fixture
def subject(tmp_path, spec):
    random = np.random.default_rng(0)
    texts = {split: [random.integers(3, V, n).tolist()] for split, n in
             (("train", 100), ("dev", 20), ("test", 1203))}  # fmt: skip
    corpus = write_corpus(tmp_path / "text", texts, V, {"entropy_floor": math.log(6)})
    model = build_model(spec, corpus).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return Subject(model, corpus, CPU, 0)


def by_hand(subject, memory, segment, streams, furthest=None):
    """Bits of every character, each from a pass over nothing but what it may look back on."""
    text = [int(token) for token in subject.corpus.split("test").tokens]
    length = -(-len(text) // streams)
    bits = []
    for start in range(0, len(text), length):
        stream = [1, *text[start : start + length]]
        past = None
        for at in range(0, len(stream) - 1, segment):
            size = min(segment, len(stream) - 1 - at)
            read = subject.model(
                torch.tensor([stream[at : at + size]]), past, keep=memory, furthest=furthest
            )
            past = read.memory
            for row in range(size):
                probabilities = read.logits[0, row].double().softmax(dim=-1)
                bits.append(-math.log2(float(probabilities[stream[at + row + 1]])))
    return bits


def test_bits_are_those_of_every_character_once(subject):
    with torch.no_grad():
        found = bits_per_character(subject, [0, 4, 9], segment=7, streams=5)
        for memory, bits in zip(found.arrays["memory"], found.arrays["bits"], strict=True):
            assert bits == pytest.approx(np.mean(by_hand(subject, memory, 7, 5)), abs=1e-5)
        expected = np.array(by_hand(subject, 9, 7, 5))
        without = np.array(by_hand(subject, 0, 7, 5))
    assert len(expected) == 1203
    assert found.scalars["bpc"]["value"] == pytest.approx(expected.mean())
    assert found.scalars["bpc_without"]["value"] == pytest.approx(without.mean())
    assert found.scalars["floor"]["value"] == pytest.approx(math.log2(6))
    assert found.scalars["excess"]["value"] == pytest.approx(expected.mean() - math.log2(6))
    blocks = [expected[:1000].mean(), expected[1000:].mean()]
    assert found.arrays["bpc"] == pytest.approx(blocks, abs=1e-4)
    assert len(found.arrays["bpc_without"]) == 2


def test_far_distances_count_as_the_furthest(subject):
    near = bits_per_character(subject, [9], segment=7, streams=5, furthest=6)
    far = bits_per_character(subject, [9], segment=7, streams=5)
    with torch.no_grad():
        expected = by_hand(subject, 9, 7, 5, furthest=6)
    assert near.scalars["bpc"]["value"] == pytest.approx(np.mean(expected))
    assert near.scalars["bpc"]["value"] != far.scalars["bpc"]["value"]
    assert "bpc_without" not in far.scalars


def test_no_memory_to_measure_with_is_told(subject):
    with pytest.raises(ValueError, match="memories is empty; give at least one length"):
        bits_per_character(subject, [], segment=7)


def test_a_curve_has_the_points_of_either_split(subject):
    history = [
        {"split": "train", "step": 1, "epoch": 0.5, "loss": math.log(8)},
        {"split": "dev", "step": 2, "epoch": 1.0, "loss": math.log(4)},
    ]
    found = learning_curve(subject, history).arrays
    assert found["update"] == [1, 2] and found["epoch"] == [0.5, 1.0]
    assert found["train"] == [pytest.approx(3), None]
    assert found["dev"] == [None, pytest.approx(2)]


def noting(keys, forward):
    """A softmax that notes over how many keys it was."""

    def noted(self, scores):
        keys.append(scores.shape[-1])
        return forward(self, scores)

    return noted


def test_speed_is_the_ratio_of_the_times_of_equal_updates(subject, spec, monkeypatch):
    tell(monkeypatch, stopwatch)
    keys = []
    monkeypatch.setattr(speed, "SOFTMAX", timed(1))
    monkeypatch.setattr(Timed, "forward", noting(keys, Timed.forward))
    spec["model"]["normalizer"] = timed(3)
    before = {name: value.clone() for name, value in subject.model.state_dict().items()}
    found = speed.training_speed(subject, spec, updates=8).scalars["relative"]
    assert found == {"value": pytest.approx(1 / 3), "unit": "softmax = 1", "n": 8}
    assert all(torch.equal(before[n], v) for n, v in subject.model.state_dict().items())
    assert set(keys) == {8}, "the memory is full"
