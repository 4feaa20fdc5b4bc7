"""The proxy of classification: by hand, and that it finds the words which decide."""

import pytest
import torch

from model.architectures.class_proxy import ClassProxy
from tests.model.corpora import keyword_texts, learned
from tests.model.specs import brief, part


def test_it_is_the_softmax_of_the_mean_embedding():
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


def test_it_learns_which_words_decide(tmp_path):
    corpus = keyword_texts(tmp_path / "c", {"train": 640, "dev": 64}, 12, shortest=6, longest=6)
    node = part("architectures.class_proxy:ClassProxy", width=16)
    objective = "model.objectives.classification:BinaryClassification"
    model = learned(brief(node, objective, epochs=5), corpus)[0].model
    words = torch.arange(3, 12)[None]
    says = model(words, words > 0).log_odds[0]
    assert says.argmin() == 0
    assert says.argmax() == 1
    says = says.detach()
    assert float(says[0]) < -1 < 1 < float(says[1])
