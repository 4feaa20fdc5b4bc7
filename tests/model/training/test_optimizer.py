"""Adam with and without weight decay, and the mean of kept weights."""

import pytest
import torch
from torch import nn

from model.training.checkpointer import average
from model.training.optimization import adam
from tests.model.corpora import MemoryKeeper, resumed_alike, run


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


def test_an_interrupted_run_averages_the_same_weights(classifier_spec, keywords):
    classifier_spec["training"] |= {"average": {"last": 3, "updates": 5}}
    del classifier_spec["training"]["select"]
    updates = run(classifier_spec, keywords).updates
    resumed_alike(classifier_spec, keywords, updates - 6)
