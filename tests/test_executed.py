"""The check that what is called is what the hash of code reached notices what is not."""

import sys

import torch

from model.kernels.dropout import Dropout
from tests.executed import Calls, unseen
from workflow.planning.identity import TRAINING


def test_what_is_called_is_noted_by_module_and_outermost_name():
    calls = Calls()
    dropout = Dropout(0.5)
    sys.setprofile(calls)
    try:
        dropout(torch.ones(2, 2))
    finally:
        sys.setprofile(None)
    assert calls.found == {("model.kernels.dropout", "Dropout")}


def test_a_call_that_no_root_reaches_is_told():
    called = {
        ("model.training.loop", "train"),
        ("model.kernels.dropout", "Dropout"),
        ("model.batches.corpus", "Corpus"),
    }
    assert unseen(called, TRAINING) == {("model.kernels.dropout", "Dropout")}
    assert unseen(called, [*TRAINING, "model.architectures.transformer:Transformer"]) == set()
