"""The proxy of classification: by hand, and that it finds the words which decide."""

import numpy as np
import pytest
import torch

from model.architectures.class_proxy import ClassProxy
from tests.model.corpora import learned, write_corpus
from tests.model.specs import brief


def test_it_is_the_softmax_of_the_mean_embedding():
    """snell2021 eq. 55, and what single words say."""
    torch.manual_seed(0)
    model = ClassProxy(8, 3).double()
    tokens = torch.tensor([[4, 5, 0], [6, 6, 7]])
    found = model(tokens, tokens > 0)
    for row, words in enumerate(([4, 5], [6, 6, 7])):
        mean = sum(model.embedding.weight[word] for word in words) / len(words)
        p = (model.output.weight @ mean).softmax(dim=0)
        assert float(found.logits[row].sigmoid().detach()) == pytest.approx(float(p[1].detach()))
        for place, word in enumerate(words):
            alone = (model.output.weight @ model.embedding.weight[word]).softmax(dim=0)
            assert torch.allclose(found.log_odds[row, place].sigmoid(), alone[1])
        assert torch.allclose(
            found.weights[row, : len(words)], torch.tensor(1 / len(words)).double()
        )
    assert found.weights[0, 2] == 0


def test_words_and_weights_start_as_in_the_paper():
    torch.manual_seed(0)
    model = ClassProxy(900, 64)
    for weight in (model.embedding.weight, model.output.weight):
        assert float(weight.detach().std()) == pytest.approx(1 / 8, rel=0.15)


def test_it_learns_which_words_decide(tmp_path):
    random = np.random.default_rng(0)

    def drawn(n: int) -> tuple[list[list[int]], list[int]]:
        texts, labels = [], []
        for _ in range(n):
            label = int(random.integers(2))
            words = random.integers(5, 12, 6)
            words[random.integers(6)] = 3 + label
            texts.append(words.tolist())
            labels.append(label)
        return texts, labels

    splits = {name: drawn(n) for name, n in (("train", 640), ("dev", 64))}
    corpus = write_corpus(
        tmp_path / "c",
        {name: texts for name, (texts, _) in splits.items()},
        12,
        {},
        {name: {"label": labels} for name, (_, labels) in splits.items()},
    )
    node = {"path": "model.architectures.class_proxy:ClassProxy", "width": 16}
    objective = "model.objectives.classification:BinaryClassification"
    model = learned(brief(node, objective, epochs=5), corpus)[0].model
    words = torch.arange(3, 12)[None]
    says = model(words, words > 0).log_odds[0]
    assert says.argmin() == 0
    assert says.argmax() == 1
    says = says.detach()
    assert float(says[0]) < -1 < 1 < float(says[1])
