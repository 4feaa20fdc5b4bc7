"""Deletion curves against a slow loop and models whose top tokens are known."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from model.architectures.classifier import Prediction
from model.batches.batching import collate
from model.build import build
from model.probes.importance.classification import token_scores
from model.probes.importance.deletion import PERCENT, deletion, kept_parts, places
from model.probes.measure import Subject
from tests.model.corpora import CPU, values, write_corpus
from tests.model.specs import SOFTMAX


def test_it_is_the_slow_loop(keywords, classifier_spec):
    """One text at a time, cut as a list; soft weights, as chance decides ties."""
    classifier_spec["model"]["encoder"]["normalizer"] = SOFTMAX
    torch.manual_seed(0)
    model = build(classifier_spec["model"], vocabulary_size=9).double().eval()
    split = keywords.split("test")

    def probability(text: list[int], label: int) -> float:
        tokens = torch.tensor([[1, *text]])
        logits = model(tokens, torch.ones_like(tokens, dtype=torch.bool)).logits
        return float(logits.detach().softmax(-1)[0, label])

    names = {"": "attention", "_gradient": "norm"}
    drops = {f"{m}{e}": [] for e in names for m in ("comprehensiveness", "sufficiency")}
    for example in range(len(split)):
        batch = collate(split, np.array([example]))
        text = batch.tokens[0, 1:].tolist()
        label = int(model(batch.tokens, batch.real).logits.argmax())
        whole = probability(text, label)
        for ending, field in names.items():
            scores = getattr(token_scores(model, batch), field)[0, 1:].tolist()
            ranking = sorted(range(len(text)), key=lambda at, scores=scores: -scores[at])
            without, alone = [], []
            for percent in PERCENT:
                top = set(ranking[: math.ceil(len(text) * percent / 100)])
                without.append(probability([t for i, t in enumerate(text) if i not in top], label))
                alone.append(probability([t for i, t in enumerate(text) if i in top], label))
            drops[f"comprehensiveness{ending}"].append([whole - p for p in without])
            drops[f"sufficiency{ending}"].append([whole - p for p in alone])
    found = deletion(Subject(model, keywords, CPU, 0), tokens=60)
    assert found.arrays["percent"] == [1, 5, 10, 20, 50]
    for name, expected in drops.items():
        values = np.array(expected)
        assert found.arrays[name] == pytest.approx(values.mean(0), abs=2e-6)
        assert found.scalars[name]["value"] == pytest.approx(values.mean(), abs=1e-9)
        spread = values.mean(1).std(ddof=1)
        assert found.scalars[name]["std"] == pytest.approx(spread, abs=1e-9)
        assert found.scalars[name]["n"] == 80


class Counter(nn.Module):
    """Says class 1 with certainty where word 3 is left, and 0 where not; attends to word 3."""

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Embedding(9, 2).double()
        nn.init.zeros_(self.token.weight)
        self.token.weight.data[3] = 50.0
        self.encoder = self

    def embedding(self, tokens):
        return self.token(tokens)

    def forward(self, tokens, real, h0=None, routing=None, need_weights=True):
        h = (self.token(tokens) if h0 is None else h0) * real[..., None]
        told = h.sum(1)[:, 0]
        weights = ((tokens == 3).double() + 0.01)[:, None, None] * real[:, None, :, None]
        return Prediction(torch.stack([torch.full_like(told, 20.0), told], dim=1), [weights])


def test_a_single_decisive_token_by_hand(tmp_path):
    """Ten words, one of them decisive and always attended most: needed, and enough alone."""
    random = np.random.default_rng(0)
    texts = []
    for _ in range(400):
        text = random.integers(4, 9, 10)
        text[random.integers(10)] = 3
        texts.append(text.tolist())
    corpus = write_corpus(tmp_path / "c", {"test": texts}, 9, {})
    counter = Counter()
    counter.embedding.__func__.tokens = lambda tokens: counter.token(tokens)
    found = deletion(Subject(counter, corpus, CPU, 0))
    value = values(found)
    assert value["comprehensiveness"] == pytest.approx(1, abs=1e-6)
    assert value["sufficiency"] == pytest.approx(0, abs=1e-6)
    # A random one of ten is the decisive one with chance 1, 1, 1, 2 and 5 in ten.
    assert value["comprehensiveness_random"] == pytest.approx(0.2, abs=0.04)
    assert value["sufficiency_random"] == pytest.approx(0.8, abs=0.04)
    expected = pytest.approx([0.1, 0.1, 0.1, 0.2, 0.5], abs=0.07)
    assert found.arrays["comprehensiveness_random"] == expected


def test_the_random_control_follows_the_seed(keywords, classifier_spec):
    model = build(classifier_spec["model"], vocabulary_size=9).eval()
    first, again, other = (deletion(Subject(model, keywords, CPU, seed)) for seed in (3, 3, 4))
    assert first == again
    assert first.scalars["sufficiency_random"] != other.scalars["sufficiency_random"]


def test_ties_are_decided_by_chance():
    real = np.ones((3000, 4), dtype=bool)
    found = places(np.ones((3000, 4)), real, np.random.default_rng(0))
    assert (np.sort(found[:, 1:]) == np.arange(3)).all()
    assert found[:, 1:].mean(axis=0) == pytest.approx([1, 1, 1], abs=0.06)


@pytest.mark.parametrize(
    ("length", "percent", "top"), [(1, 1, 1), (20, 5, 1), (21, 5, 2), (700, 1, 7), (30, 10, 3)]
)
def test_shares_are_rounded_up(length, percent, top):
    place = np.concatenate([[-1], np.arange(length), [-1, -1]])[None]
    rest, kept = kept_parts(place, percent)
    assert kept.sum() == top + 1
    assert rest.sum() == length - top + 1
    assert kept[0, 0] and rest[0, 0]
    assert not kept[0, -2:].any() and not rest[0, -2:].any()
