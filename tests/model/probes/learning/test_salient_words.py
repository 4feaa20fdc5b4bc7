"""On generated corpora, whose salient words are known, models and probes find them."""

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from model.batches.corpus import Corpus
from model.probes.importance.classification import attention_importance, salience
from model.probes.quality.accuracy import accuracy
from tests.model.corpora import encoded, learned, values

SIZES = {
    "sst": {"train": 1500, "dev": 200, "test": 200},
    "newsgroups": {"train": 600, "dev": 100, "test": 150},
}
SOFT, DISCRETE = "model.normalizers.softmax:Softmax", "model.normalizers.gumbel:Gumbel"
ONE, TWO = (
    "model.architectures.transformer:Transformer",
    "model.architectures.two_stream:TwoStreamTransformer",
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Corpus]:
    """Return a function that gives a dataset's generated corpus, made as the demo's is."""
    made = {}

    def give(dataset: str) -> Corpus:
        if dataset not in made:
            recipe = {"dataset": dataset, "source": "generated", "seed": 0} | SIZES[dataset]
            made[dataset] = Corpus(encoded(tmp_path_factory.mktemp(dataset), recipe))
        return made[dataset]

    return give


@pytest.mark.parametrize(
    ("dataset", "path", "normalizer"),
    [("sst", ONE, SOFT), ("sst", TWO, DISCRETE), ("newsgroups", ONE, DISCRETE)],
)
def test_importance_and_attention_find_the_salient_words(
    corpus, classifier_spec, dataset, path, normalizer
):
    classifier_spec["model"]["encoder"] |= {
        "path": path, "normalizer": {"path": normalizer}, "width": 32, "hidden": 64,
    }  # fmt: skip
    classifier_spec["training"] |= {"epochs": 10, "batch": {"tokens": 1000}}
    classifier_spec["training"]["optimizer"]["lr"] = 4e-3
    subject, _ = learned(classifier_spec, corpus(dataset))
    assert accuracy(subject).scalars["accuracy"]["value"] > 80
    hits = values(salience(subject))
    assert hits["chance"] < 0.25
    assert hits["importance_hit"] > hits["chance"] + 0.2
    assert hits["attention_hit"] > hits["chance"] + 0.2
    assert attention_importance(subject).scalars["tau_norm"]["value"] > 0.1


def test_a_linear_classifier_of_mean_embeddings_gives_salient_words_the_largest_weights(corpus):
    torch.manual_seed(0)
    texts = corpus("newsgroups")
    size, split = len(texts.vocabulary), texts.split("train")
    tokens, starts = (torch.tensor(x).long() for x in (split.tokens, split.offsets[:-1]))
    labels = torch.tensor(split.columns["label"]).float()
    salient = set(split.tokens[split.columns["salient"] == 1].tolist())
    embed, linear = nn.EmbeddingBag(size, 8, mode="mean"), nn.Linear(8, 1)
    adam = torch.optim.Adam([*embed.parameters(), *linear.parameters()], lr=0.05)
    for _ in range(60):
        loss = F.binary_cross_entropy_with_logits(linear(embed(tokens, starts))[:, 0], labels)
        adam.zero_grad()
        loss.backward()
        adam.step()
    weights = (embed.weight @ linear.weight[0]).detach().abs()
    frequent = torch.nonzero(torch.bincount(tokens, minlength=size) >= 10)[:, 0]
    largest = frequent[weights[frequent].argsort(descending=True)[:20]].tolist()
    among_frequent = sum(number in salient for number in frequent.tolist())
    assert among_frequent / len(frequent) < 0.4
    assert sum(number in salient for number in largest) >= 18
