"""Adam with and without decay, the mean of kept weights, and where a run multiplies in bf16."""

import pytest
import torch
from torch import nn

from model.architectures.copying import CopyingModel
from model.architectures.lstm_classifier import LSTMClassifier
from model.normalizers.softmax import Softmax
from model.training import optimization as precision
from model.training.checkpointer import average
from model.training.optimization import adam, autocast, set_numerics, uses_bf16
from tests.model.corpora import CPU, MemoryKeeper, run


def test_one_step_with_decay_by_hand():
    """Adam's first step is lr * sign(gradient); decoupled decay takes lr * decay * weight more."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 2.0)
    optimizer = adam(model, {"lr": 0.1, "betas": [0.9, 0.98], "weight_decay": 0.5})
    model.weight.grad = torch.full((1, 1), 3.0)
    optimizer.step()
    assert float(model.weight.detach()) == pytest.approx(2.0 - 0.1 * 0.5 * 2.0 - 0.1, abs=1e-6)


def test_without_decay_it_is_adam():
    model = nn.Linear(1, 1)
    assert type(adam(model, {"lr": 0.1, "betas": [0.9, 0.98]})) is torch.optim.Adam


def test_the_mean_of_kept_weights_by_hand():
    kept = [{"w": torch.tensor([1.0, 5.0])}, {"w": torch.tensor([2.0, 7.0])}]
    assert average(kept)["w"].tolist() == [1.5, 6.0]
    assert average(kept)["w"].dtype == torch.float32


@pytest.mark.parametrize("apart", [{"updates": 7}, {"epochs": 1}])
def test_a_run_ends_with_the_mean_of_its_last_kept_weights(classifier_spec, keywords, apart):
    training = classifier_spec["training"]
    del training["select"]
    last = run(classifier_spec, keywords)
    epoch = last.updates // training["epochs"]
    step = apart.get("updates", epoch)
    window = list(range(step, last.updates + 1, step))[-2:]
    classifier_spec["checkpoints"] = window[:1]
    everything = MemoryKeeper()
    run(classifier_spec | {"checkpoints": window}, keywords, everything)
    training["average"] = {"last": 2, **apart}
    keeper = MemoryKeeper()
    averaged = run(classifier_spec, keywords, keeper)
    for name, value in averaged.weights.items():
        mean = sum(everything.kept[update][name] for update in window) / 2
        assert torch.allclose(value, mean, atol=1e-7)
    assert list(keeper.kept) == window[:1]


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


@pytest.mark.parametrize(("matmul", "amx", "device", "mode"), [
    ("highest", False, "cpu", "highest"), ("highest", False, "cuda", "highest"),
    ("fast", False, "cpu", "medium"), ("fast", True, "cpu", "highest"),
    ("fast", False, "cuda", "highest"), ("fast", True, "cuda", "highest"),
    ("fastest", False, "cpu", "medium"), ("fastest", True, "cpu", "highest"),
    ("fastest", False, "cuda", "medium"), ("fastest", True, "cuda", "medium"),
])  # fmt: skip
def test_products_are_as_exact_as_asked(monkeypatch, matmul, amx, device, mode):
    before = torch.get_float32_matmul_precision()
    monkeypatch.setattr(precision, "cpu_has", lambda flag: amx and flag == "amx_tile")
    training = {"threads": torch.get_num_threads(), "matmul": matmul}
    try:
        assert set_numerics(training, torch.device(device)) == mode
        assert torch.get_float32_matmul_precision() == mode
    finally:
        torch.set_float32_matmul_precision(before)
