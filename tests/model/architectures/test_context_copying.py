"""Copying with a step after reading: against a loop, and as the model without the step."""

import pytest
import torch
from torch import nn

from model.architectures.context_copying import ContextCopyingModel
from model.architectures.multihead_copying import MultiheadCopyingModel
from model.normalizers.differential import Differential
from model.normalizers.entmax15 import Entmax15
from model.normalizers.rela import ReLA
from tests.model.architectures.test_copying import loop_head
from tests.model.compare import close
from tests.model.specs import part
from workflow.runtime.mechanism_check import check_mechanisms


def made(normalizer: nn.Module, heads: int, kind: type = ContextCopyingModel) -> nn.Module:
    torch.manual_seed(3)
    return kind(12, 6, 6, heads, normalizer).double()


def test_with_one_head_and_no_step_it_is_the_other_model():
    one, other = (made(Entmax15(), 1, it) for it in (ContextCopyingModel, MultiheadCopyingModel))
    assert close(one.state_dict(), other.state_dict(), atol=0)
    source, before = torch.randint(0, 12, (2, 3, 7))
    assert close(one(source, before), other(source, before), atol=1e-12)


@pytest.mark.parametrize(
    ("normalizer", "heads"), [(ReLA(6), 1), (ReLA(6), 2), (Differential(3), 2)]
)
def test_the_step_is_taken_of_what_each_head_reads(normalizer, heads):
    model = made(normalizer, heads)
    source, before = torch.randint(0, 12, (2, 2, 5))
    found = model(source, before)
    h, s = model.read(source, before)
    size = 6 // heads
    scores = torch.zeros(2, heads, 5, 5, dtype=torch.float64)
    for b, k, t, j in torch.cartesian_prod(*map(torch.arange, scores.shape)).tolist():
        weight, bias = loop_head(model, k)
        scores[b, k, t, j] = (weight @ s[b, t] + bias) @ h[b, j]
    weights = normalizer(scores)
    read = torch.zeros(2, heads, 5, size, dtype=torch.float64)
    for b, k, t, j in torch.cartesian_prod(*map(torch.arange, scores.shape)).tolist():
        read[b, k, t] += weights[b, k, t, j] * h[b, j, k * size : (k + 1) * size]
    read = normalizer.after(read)
    context = torch.cat([read[:, k] for k in range(heads)], dim=-1)
    assert close(found.logits, model.predict(context, s), atol=1e-12)
    assert close(found.weights, weights.mean(dim=1), atol=1e-12)


@pytest.mark.parametrize(("mechanism", "heads"), [
    (part("rela:ReLA", width=8), 1), (part("differential:Differential", head_width=4), 2),
])  # fmt: skip
def test_mechanisms_with_the_step_pass_what_is_tried_before_training(mechanism, heads):
    mechanism = mechanism | {"path": mechanism["path"].replace("model.", "model.normalizers.")}
    node = part("architectures.context_copying:ContextCopyingModel", width=8, hidden=8, heads=heads)
    check_mechanisms(node | {"normalizer": mechanism})
