"""The proxies: by hand, how they start to learn (snell2021 eq. 12, 50), and what they learn."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from model.architectures.class_proxy import ClassProxy
from model.architectures.copying import CopyingModel
from model.architectures.lexical_proxy import LexicalProxy
from model.batches.batching import collate
from model.objectives.copying import Copying
from model.objectives.copying_proxy import CopyingProxy
from model.probes.learning.ibm_model_1 import count_table
from model.probes.learning.lexical_proxy import copying_proxy
from model.probes.measure import Subject
from tests.model.corpora import CPU, keyword_texts, learned, permutations, values, write_corpus
from tests.model.specs import brief, part

END = 3
PAIRS = [([0, 1, 1, 2], [3, 1]), ([2], [0, 1, 2, 0]), ([3, 0], [4]), ([1, 3, 4], [2, 2, 3])]
"""Inputs and outputs out of five words each."""


def test_the_loss_is_that_of_every_word_of_the_copy(tmp_path):
    """snell2021 eq. 11, 55."""
    sequences = [[4, 5, 6, END], [7, 4, 5, END]]
    corpus = write_corpus(tmp_path / "c", {"train": sequences}, 8, {})
    torch.manual_seed(0)
    model = LexicalProxy(8, 3).double().requires_grad_(False)
    loss = CopyingProxy().loss(model, collate(corpus.split("train"), np.arange(2)), epoch=0)
    total = 0.0
    for sequence in sequences:
        mean = sum(model.embedding.weight[word] for word in sequence[:-1]) / 3
        p = (model.output.weight @ mean).softmax(dim=0)
        total -= sum(math.log(float(p[word])) for word in sequence[:-1])
    assert float(loss.mean) == pytest.approx(total / 6)
    assert float(loss.sums["loss"]) == pytest.approx(2 * total / 6)
    assert loss.units == 2


def test_padding_is_no_word():
    torch.manual_seed(0)
    model = LexicalProxy(8, 3)
    tokens = torch.tensor([[4, 5, 0, 0], [4, 5, 6, 7]])
    found = model(tokens, tokens > 0)
    assert torch.allclose(found[0], model(tokens[:1, :2], tokens[:1, :2] > 0)[0])


@pytest.mark.parametrize(
    ("objective", "model"),
    [(Copying(), CopyingModel(9, 4, 4)), (CopyingProxy(), LexicalProxy(9, 4))],
)
def test_sequences_of_several_lengths_are_refused(tmp_path, objective, model):
    corpus = write_corpus(tmp_path / "c", {"train": [[4, 5, 6, END], [4, 5, END]]}, 9, {})
    batch = collate(corpus.split("train"), np.arange(2))
    with pytest.raises(ValueError, match=r"one length; give the corpus a length\.$"):
        objective.loss(model, batch, epoch=0)


@pytest.mark.parametrize(("kind", "near"), [(LexicalProxy, 0.02), (ClassProxy, 0.15)])
def test_words_start_as_in_the_paper(kind, near):
    """As in snell2021 section 4.1."""
    model = kind(500, 64)
    for weight in (model.embedding.weight, model.output.weight):
        assert float(weight.std()) == pytest.approx(1 / 8, rel=near)


def test_what_is_said_of_words_is_the_softmax_of_their_scores():
    """theta is what single words give (snell2021 eq. 10)."""
    model = LexicalProxy(500, 64)
    alone = model(torch.arange(500)[:, None], torch.ones(500, 1, dtype=torch.bool))
    assert torch.allclose(model.of_words(), alone.softmax(dim=-1), atol=1e-6)


def first_change(width: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The derivatives of logits and probabilities (5, 5) by time, where training begins.

    By gradient flow on the loss of PAIRS, as the change along a step that is as good as none.
    """
    torch.manual_seed(seed)
    model = LexicalProxy(5, width).double()
    loss = torch.zeros((), dtype=torch.float64)
    for x, y in PAIRS:
        logits = model(torch.tensor([x]), torch.ones(1, len(x), dtype=torch.bool))
        loss = loss + F.cross_entropy(logits.expand(len(y), -1), torch.tensor(y), reduction="sum")
    e, w = model.embedding.weight, model.output.weight
    by_e, by_w = torch.autograd.grad(loss, [e, w])

    def logits_at(time: torch.Tensor) -> torch.Tensor:
        return (e - time * by_e) @ (w - time * by_w).T

    start, unit = torch.zeros((), dtype=torch.float64), torch.ones((), dtype=torch.float64)
    of_logits = torch.func.jvp(logits_at, (start,), (unit,))[1]
    of_theta = torch.func.jvp(lambda t: logits_at(t).softmax(dim=-1), (start,), (unit,))[1]
    return of_logits.detach(), of_theta.detach()


def test_equations_50_and_12_at_initialisation():
    """snell2021 eq. 50 holds of logits; snell2021 eq. 12, of probabilities, lacks 1 / |O|.

    Time runs as in snell2021 eq. 35.
    """
    counts = torch.from_numpy(count_table(PAIRS, 5, 5))
    predicted = 2 * (counts - counts.mean(dim=1, keepdim=True))
    size = float(predicted.abs().max())
    apart = []
    for width in (1_000, 100_000):
        of_logits, of_theta = (torch.stack(s).mean(0) for s in zip(
            *(first_change(width, seed) for seed in range(4)), strict=True))  # fmt: skip
        apart.append(float((of_logits - predicted).abs().max()) / size)
        if width == 100_000:
            assert torch.allclose(of_theta, predicted / 5, atol=0.02 * size)
            assert float((of_theta - predicted).abs().max()) > 0.7 * size
    assert apart[1] < 0.05
    assert apart[1] < apart[0] / 3


@pytest.mark.parametrize(("drawn_from", "learnt"), [(5, False), (8, True)])
def test_a_proxy_learns_to_copy_only_where_symbols_do_not_all_occur(tmp_path, drawn_from, learnt):
    sizes = {"train": 1280, "dev": 32, "test": 50}
    corpus = permutations(tmp_path / "c", sizes, drawn_from, length=5)
    node = part("architectures.lexical_proxy:LexicalProxy", width=64)
    spec = brief(node, "model.objectives.copying_proxy:CopyingProxy", epochs=5)
    value = values(copying_proxy(learned(spec, corpus)[0]))
    assert value["uniform_alignment"] == 0.2
    if learnt:
        assert value["proxy_alignment"] > 0.9
        assert value["ibm_alignment"] > 0.25
    else:
        # Attention has nothing to go by.
        assert value["proxy_alignment"] == pytest.approx(0.2, abs=0.03)
        assert value["ibm_alignment"] == pytest.approx(0.2)
        assert value["ibm_translation"] == pytest.approx(0.2)


def test_the_probe_equals_a_slow_count(tmp_path):
    copies = [[4, 5, END], [6, 4, END], [4, 6, END]]
    splits = {"train": copies, "test": copies}
    corpus = write_corpus(tmp_path / "c", splits, 7, {})
    torch.manual_seed(1)
    model = LexicalProxy(7, 4)
    found = copying_proxy(Subject(model, corpus, CPU, 0))
    counts = np.zeros((3, 3))
    pairs = [(0, 1), (2, 0), (0, 2)]
    for pair in pairs:
        for i in pair:
            for o in pair:
                counts[i, o] += 1 / 2
    assert found.arrays["symbol"] == corpus.vocabulary[4:]
    assert np.allclose(found.arrays["counts"], counts / 3, atol=1e-6)
    theta = model.of_words().detach().numpy()[4:, 4:]
    for name, trans in (("ibm", counts / counts.sum(1, keepdims=True)), ("proxy", theta)):
        shares = [
            trans[pair[t], pair[t]] / sum(trans[i, pair[t]] for i in pair)
            for pair in pairs
            for t in range(2)
        ]
        assert found.scalars[f"{name}_alignment"]["value"] == pytest.approx(np.mean(shares))
        mean = np.mean([trans[i, i] for i in range(3)])
        assert found.scalars[f"{name}_translation"]["value"] == pytest.approx(mean)


def test_the_class_proxy_is_the_softmax_of_the_mean_embedding():
    """snell2021 eq. 55."""
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
        even = torch.tensor(1 / len(words)).double()
        assert torch.allclose(found.weights[row, : len(words)], even)
    assert found.weights[0, 2] == 0


def test_the_class_proxy_learns_which_words_decide(tmp_path):
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
