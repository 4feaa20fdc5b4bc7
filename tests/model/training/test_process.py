"""What a training process loads and keeps: no compiler of torch unless asked for, freed memory."""

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from model.training.process import keep_freed_memory

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


def test_glibc_is_told_to_keep_freed_memory(monkeypatch):
    told = {}

    class Library:
        def mallopt(self, option: int, value: int) -> None:
            told[option] = value

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library())
    keep_freed_memory()
    # M_TRIM_THRESHOLD, M_TOP_PAD and M_MMAP_THRESHOLD of malloc.h; mallopt takes a C int.
    assert sorted(told) == [-3, -2, -1]
    assert all(2**20 <= value < 2**31 for value in told.values())


def test_without_glibc_nothing_happens(monkeypatch):
    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    keep_freed_memory()
