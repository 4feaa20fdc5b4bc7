"""The recurrent classifier: against nn.LSTM, whatever the padding, and what is frozen."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from model.architectures.lstm_classifier import LSTMClassifier
from model.batches.batching import collate
from model.build import build
from model.normalizers.softmax import Softmax
from model.normalizers.uniform import Uniform
from model.objectives.classification import BinaryClassification, framed
from tests.model.compare import close, gradients
from tests.model.corpora import run, write_corpus
from tests.model.specs import SOFTMAX, brief, part

ATTENTION = {"query.weight", "query.bias", "score.weight", "score.bias"}


def made(vocabulary: int = 9, normalizer: nn.Module | None = None) -> LSTMClassifier:
    torch.manual_seed(3)
    return LSTMClassifier(vocabulary, 5, 4, normalizer or Softmax()).double()


def texts(lengths: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    real = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    tokens = torch.randint(1, 9, real.shape, generator=torch.Generator().manual_seed(1))
    return tokens * real, real


def by_torch(model: LSTMClassifier, tokens: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """The states of one bidirectional nn.LSTM with the same parameters, packed."""
    whole = nn.LSTM(5, 4, batch_first=True, bidirectional=True).double()
    with torch.no_grad():
        for suffix, part in (("", model.rightward), ("_reverse", model.leftward)):
            for name, value in part.lstm.named_parameters():
                getattr(whole, name + suffix).copy_(value)
    lengths = real.sum(dim=1)
    packed = pack_padded_sequence(
        model.embedding(tokens), lengths, batch_first=True, enforce_sorted=False
    )
    states: torch.Tensor = pad_packed_sequence(whole(packed)[0], batch_first=True)[0]
    return states


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4))
def test_the_equations_one_text_at_a_time(lengths):
    """snell2021 eq. 4, 5, 9."""
    model = made()
    tokens, real = texts(lengths)
    found = model(tokens, real)
    states = by_torch(model, tokens, real)
    for n, length in enumerate(lengths):
        h = states[n, :length]
        gamma = h @ model.output.weight[0] + model.output.bias
        hidden = (h @ model.query.weight.T + model.query.bias).clamp(min=0)
        a = hidden @ model.score.weight[0] + model.score.bias
        alpha = a.exp() / a.exp().sum()
        assert torch.allclose(found.log_odds[n, :length], gamma)
        assert torch.allclose(found.weights[n, :length], alpha)
        assert (found.weights[n, length:] == 0).all()
        assert torch.allclose(found.logits[n], (alpha * gamma).sum())


def test_uniform_attention_is_not_trained_and_the_rest_is():
    model = made(normalizer=Uniform())
    tokens, real = texts([3, 6])
    found = model(tokens, real)
    assert torch.equal(found.weights[0], torch.tensor([1 / 3] * 3 + [0] * 3, dtype=torch.float64))
    found.logits.sum().backward()
    untrained = {name for name, p in model.named_parameters() if p.grad is None}
    assert untrained == ATTENTION
    assert all(p.grad.abs().sum() > 0 for p in model.parameters() if p.grad is not None)


@pytest.mark.parametrize("std", [0.1, 2.0])
def test_the_embedding_has_the_standard_deviation_asked_for(std):
    model = LSTMClassifier(400, 50, 4, Softmax(), embedding_std=std)
    assert float(model.embedding.weight.detach().std()) == pytest.approx(std, rel=0.02)


@given(st.integers(1, 6), st.integers(1, 4), st.sampled_from([Softmax, Uniform]))
def test_texts_of_one_length_need_no_packing(length, batch, normalizer):
    tokens, real = texts([length] * batch)
    model = made(normalizer=normalizer())
    weight = torch.linspace(-1, 2, batch, dtype=torch.float64)
    packed, plain = found = model(tokens, real), model(tokens)
    assert close(packed, plain)
    assert close(*(gradients((one.logits * weight).sum(), model) for one in found), atol=1e-10)


def test_a_frozen_run_ends_with_the_initial_beta(tmp_path):
    texts_of = {name: [[3, 4, 5], [6, 4], [3], [5, 6, 6, 4]] * 4 for name in ("train", "dev")}
    labels = {name: {"label": [0, 1, 0, 1] * 4} for name in texts_of}
    corpus = write_corpus(tmp_path / "c", texts_of, 7, {}, labels)
    settings = {"width": 5, "hidden": 4, "frozen_beta": True, "normalizer": SOFTMAX}
    node = part("architectures.lstm_classifier:LSTMClassifier", **settings)
    objective = "model.objectives.classification:BinaryClassification"
    trained = run(brief(node, objective, epochs=2), corpus)
    torch.manual_seed(0)
    start = build(node, vocabulary_size=7).state_dict()
    changed = {name for name in start if not torch.equal(start[name], trained.weights[name])}
    assert changed
    assert changed <= ATTENTION


def test_a_scale_multiplies_the_embedding_of_a_word():
    model = made()
    tokens, real = texts([3, 6])
    ones = torch.ones(real.shape, dtype=torch.float64)
    assert torch.allclose(model(tokens, real).logits, model(tokens, real, ones).logits)
    scale = ones.clone()
    scale[1, 2] = 0.5
    found = model(tokens, real, scale).logits.detach()
    assert float(found[0]) == pytest.approx(float(model(tokens, real).logits[0].detach()))
    # As if that word had an embedding of its own.
    other = LSTMClassifier(10, 5, 4, Softmax()).double()
    weights = model.state_dict()
    word = weights["embedding.weight"][tokens[1, 2]] * 0.5
    weights["embedding.weight"] = torch.cat([weights["embedding.weight"], word[None]])
    other.load_state_dict(weights)
    renamed = tokens.clone()
    renamed[1, 2] = 9
    assert torch.allclose(found[1], other(renamed, real).logits[1].detach())


def test_the_loss_is_that_of_torch(tmp_path):
    sequences = {"train": [[3, 4, 5], [6, 4], [3]]}
    corpus = write_corpus(tmp_path / "c", sequences, 7, {}, {"train": {"label": [0, 1, 1]}})
    torch.manual_seed(0)
    model = LSTMClassifier(7, 5, 4, Softmax())
    loss = BinaryClassification().loss(model, collate(corpus.split("train"), np.arange(3)), 0)
    one = torch.tensor
    logits = torch.stack(
        [
            model(one([[1, *text, 1]]), torch.ones(1, len(text) + 2, dtype=torch.bool)).logits[0]
            for text in sequences["train"]
        ]
    )
    labels = one([0.0, 1.0, 1.0])
    assert torch.allclose(loss.mean, F.binary_cross_entropy_with_logits(logits, labels))
    assert loss.units == 3
    assert float(loss.sums["loss"]) == pytest.approx(3 * float(loss.mean.detach()))
    assert float(loss.sums["accuracy"]) == 100 * int(((logits > 0) == labels.bool()).sum())


def test_texts_stand_between_two_symbols(tmp_path):
    corpus = write_corpus(tmp_path / "c", {"train": [[3, 4, 5], [6]]}, 7, {})
    tokens, real = framed(collate(corpus.split("train"), np.arange(2)))
    assert tokens.tolist() == [[1, 3, 4, 5, 1], [1, 6, 1, 0, 0]]
    assert real.tolist() == [[True] * 5, [True] * 3 + [False] * 2]
