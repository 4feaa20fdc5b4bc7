"""Where a run multiplies in bf16."""

import pytest
import torch

from model.architectures.copying import CopyingModel
from model.architectures.lstm_classifier import LSTMClassifier
from model.normalizers.softmax import Softmax
from model.training import optimization as precision
from model.training.optimization import autocast, uses_bf16
from tests.model.corpora import CPU


@pytest.mark.parametrize(
    ("flag", "asked", "device", "expected"),
    [
        ("avx512_bf16", "bf16", "cpu", True),
        ("amx_bf16", "bf16", "cpu", True),
        ("avx2", "bf16", "cpu", False),
        ("avx512_bf16", "fp32", "cpu", False),
        ("avx2", "bf16", "cuda", True),
        ("avx2", "fp32", "cuda", False),
    ],
)
def test_bf16_is_used_where_it_is_asked_for_and_in_hardware(
    monkeypatch, flag, asked, device, expected
):
    monkeypatch.setattr(precision, "cpu_has", lambda wanted: wanted == flag)
    assert uses_bf16(asked, torch.device(device)) == expected


@pytest.mark.parametrize("fast", [True, False])
def test_products_are_of_the_type_that_was_said(monkeypatch, fast):
    monkeypatch.setattr(precision, "cpu_has", lambda flag: fast)
    a = torch.ones(2, 2)
    with autocast("bf16", CPU):
        assert (a @ a).dtype == (torch.bfloat16 if fast else torch.float32)
    with autocast("fp32", CPU):
        assert (a @ a).dtype == torch.float32
    assert (a @ a).dtype == torch.float32


def recurrent(name):
    """A recurrent model's prediction for two rows of symbols."""
    torch.manual_seed(0)
    tokens = torch.randint(3, 9, (2, 5))
    if name == "copying":
        model = CopyingModel(9, 6, 7)
        return model, lambda: model(tokens, tokens).logits
    model = LSTMClassifier(9, 6, 7, Softmax())
    return model, lambda: model(tokens, torch.arange(5) < torch.tensor([[5], [3]])).logits


@pytest.mark.parametrize("name", ["copying", "classifier"])
def test_recurrences_stay_in_single_precision(monkeypatch, name):
    monkeypatch.setattr(precision, "cpu_has", lambda flag: True)
    model, predict = recurrent(name)
    expected = predict()
    with autocast("bf16", CPU):
        found = predict()
    assert torch.allclose(found.float(), expected, atol=0.02)
    assert not torch.equal(found.float(), expected), "the other products are in bf16"
    found.float().sum().backward()
    assert all(p.grad is not None and p.grad.dtype == torch.float32 for p in model.parameters())
