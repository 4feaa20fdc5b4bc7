"""The recurrent classifier: against nn.LSTM and a slow loop, whatever the padding."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from model.architectures.lstm_classifier import LSTMClassifier
from model.normalizers.softmax import Softmax
from model.normalizers.uniform import Uniform


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


@settings(max_examples=30, deadline=None)
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
    assert untrained == {"query.weight", "query.bias", "score.weight", "score.bias"}
    assert all(p.grad.abs().sum() > 0 for p in model.parameters() if p.grad is not None)


def test_uniform_weights_by_hand():
    scores = torch.tensor([[[[3.0, -math.inf, -7.0, 0.0]], [[1.0, 1.0, 1.0, 1.0]]]])
    weights = Uniform()(scores)
    assert weights.tolist() == [
        [[[pytest.approx(1 / 3), 0, pytest.approx(1 / 3), pytest.approx(1 / 3)]], [[0.25] * 4]]
    ]


@pytest.mark.parametrize("std", [0.1, 2.0])
def test_the_embedding_has_the_standard_deviation_asked_for(std):
    torch.manual_seed(0)
    model = LSTMClassifier(400, 50, 4, Softmax(), embedding_std=std)
    assert float(model.embedding.weight.detach().std()) == pytest.approx(std, rel=0.02)
