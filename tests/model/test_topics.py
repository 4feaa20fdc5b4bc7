"""On a generated corpus about two sports, models find the words that are known to tell them."""

import random
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from model.build import build
from model.corpus import Corpus
from model.probes.accuracy import accuracy
from model.probes.importance import salience
from model.probes.measure import Subject
from model.training import train
from tests.model.corpora import MemoryKeeper, write_corpus
from workflow.datasets.clause_grammar import balanced
from workflow.datasets.topic_grammar import SPORTS


@dataclass
class Encoded:
    """A generated corpus as numbers, and which numbers are salient words."""

    corpus: Corpus
    salient: set[int]
    train: list[tuple[int, list[int]]]


def texts(count: int, seed: int) -> list[tuple[int, list[str]]]:
    """Labelled texts of two to four words of their sport and one to three neutral clauses."""
    generator = random.Random(seed)
    pairs = []
    for label in balanced(count, generator):
        story = SPORTS.story(label, generator.randint(2, 4), generator.randint(1, 3), generator)
        pairs.append((label, [word for sentence in story for word in sentence]))
    return pairs


@pytest.fixture(scope="module")
def sports(tmp_path_factory: pytest.TempPathFactory) -> Encoded:
    """A few hundred texts about baseball and hockey."""
    folder: Path = tmp_path_factory.mktemp("sports") / "encoded"
    pairs = {
        split: texts(count, seed)
        for split, count, seed in (("train", 600, 5), ("dev", 100, 6), ("test", 150, 7))
    }
    vocabulary = sorted({word for _, words in pairs["train"] for word in words})
    numbers = {word: number for number, word in enumerate(vocabulary, start=3)}
    salient = {numbers[word] for word in SPORTS.salient_words() if word in numbers}
    splits = {
        split: [[numbers.get(word, 2) for word in words] for _, words in pairs[split]]
        for split in pairs
    }
    columns = {
        split: {
            "label": [label for label, _ in pairs[split]],
            "salient": [int(number in salient) for text in splits[split] for number in text],
        }
        for split in pairs
    }
    corpus = write_corpus(folder, splits, len(vocabulary) + 3, {}, columns)
    labels = columns["train"]["label"]
    return Encoded(corpus, salient, list(zip(labels, splits["train"], strict=True)))


@pytest.mark.parametrize(
    "normalizer",
    ["model.normalizers.softmax:Softmax", "model.normalizers.gumbel:Gumbel"],
    ids=["soft", "discrete"],
)
def test_a_small_transformer_learns_the_topic_and_looks_at_its_words(
    sports, classifier_spec, normalizer
):
    classifier_spec["model"]["encoder"] |= {
        "path": "model.transformer:Transformer", "normalizer": {"path": normalizer},
        "width": 32, "hidden": 64, "layers": 1,
    }  # fmt: skip
    classifier_spec["training"] |= {"epochs": 7, "batch": {"tokens": 800}}
    corpus = sports.corpus
    trained = train(classifier_spec, corpus, MemoryKeeper(), torch.device("cpu"), {}, print)
    model = build(classifier_spec["model"], vocabulary_size=len(corpus.vocabulary))
    model.load_state_dict(trained.weights)
    subject = Subject(model.eval(), corpus, torch.device("cpu"), 0)
    assert accuracy(subject).scalars["accuracy"]["value"] > 80
    hits = {name: found["value"] for name, found in salience(subject).scalars.items()}
    assert hits["chance"] < 0.2
    assert hits["importance_hit"] > hits["chance"] + 0.3
    assert hits["attention_hit"] > hits["chance"] + 0.3


def test_a_linear_classifier_of_mean_embeddings_gives_salient_words_the_largest_weights(sports):
    torch.manual_seed(0)
    size = len(sports.corpus.vocabulary)
    embed, linear = nn.EmbeddingBag(size, 8, mode="mean"), nn.Linear(8, 1)
    flat = torch.tensor([number for _, text in sports.train for number in text])
    offsets = torch.tensor([0, *(len(text) for _, text in sports.train[:-1])]).cumsum(0)
    labels = torch.tensor([float(label) for label, _ in sports.train])
    adam = torch.optim.Adam([*embed.parameters(), *linear.parameters()], lr=0.05)
    for _ in range(60):
        loss = F.binary_cross_entropy_with_logits(linear(embed(flat, offsets))[:, 0], labels)
        adam.zero_grad()
        loss.backward()
        adam.step()
    weights = (embed.weight @ linear.weight[0]).detach().abs()
    counts = torch.bincount(flat, minlength=size)
    frequent = torch.nonzero(counts >= 10)[:, 0]
    largest = frequent[weights[frequent].argsort(descending=True)[:20]].tolist()
    among_frequent = sum(number in sports.salient for number in frequent.tolist())
    assert among_frequent / len(frequent) < 0.4
    assert sum(number in sports.salient for number in largest) >= 18
