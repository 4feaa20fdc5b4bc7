"""Torch's compiler stays out of a training process, and comes when it is asked for."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TRAIN = """
import sys, torch
from torch import nn
from model.training.process import leave_compiler_out
if {left_out}:
    leave_compiler_out()
torch.manual_seed(0)
layer = nn.Linear(4, 4)
optimizer = torch.optim.Adam(layer.parameters(), lr=0.1, fused=True)
for _ in range(3):
    optimizer.zero_grad(set_to_none=True)
    layer(torch.ones(2, 4)).sum().backward()
    nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
    optimizer.step()
optimizer.load_state_dict(optimizer.state_dict())
print("torch._dynamo.config" in sys.modules, layer.weight.sum().item())
"""
COMPILE = """
print(torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1)).item())
print("torch._dynamo.config" in sys.modules)
"""


def said(code: str) -> list[str]:
    """What a new process prints."""
    call = [sys.executable, "-c", code]
    return subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


@pytest.fixture(scope="module")
def without() -> list[str]:
    """What training without the compiler prints, and compiling after it."""
    return said(TRAIN.format(left_out=True) + COMPILE)


def test_training_is_the_same_without_the_compiler(without):
    loaded, weights = said(TRAIN.format(left_out=False))
    assert loaded == "True"
    assert without[:2] == ["False", weights]


def test_who_asks_for_the_compiler_gets_it(without):
    assert without[2:] == ["2.0", "True"]
