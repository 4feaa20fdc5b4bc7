"""Copying with steps that read states: against steps written out, and without them."""

import pytest
import torch
from torch.nn import functional as F

from model.architectures.context_copying import ContextCopyingModel
from model.architectures.state_copying import NormedCopyingModel, StateCopyingModel
from model.normalizers.gated import Gated
from model.normalizers.lightning_indexer import LightningIndexer
from model.normalizers.rela import ReLA
from model.normalizers.softmax import Softmax
from tests.model.compare import close
from tests.model.specs import part
from workflow.runtime.mechanism_check import check_mechanisms

SOURCE, BEFORE = torch.arange(14).view(2, 7) % 11, torch.arange(14, 0, -1).view(2, 7) % 12


def made(normalizer, heads=2, kind=StateCopyingModel):
    torch.manual_seed(3)
    return kind(12, 6, 6, heads, normalizer).double()


@pytest.mark.parametrize("normalizer", [Softmax(), ReLA(6)])
def test_without_states_it_is_the_other_model(normalizer):
    one, other = (made(normalizer, kind=it) for it in (StateCopyingModel, ContextCopyingModel))
    assert close(one.state_dict(), other.state_dict(), atol=0)
    assert close(one(SOURCE, BEFORE), other(SOURCE, BEFORE), atol=1e-12)


def test_before_gets_decoder_states_as_queries_and_encoder_states_as_keys():
    mechanism = LightningIndexer(6, k=2).double().eval()
    model = made(mechanism)
    h, s = model.read(SOURCE, BEFORE)
    queries = model.query(s).unflatten(-1, (2, -1)).transpose(1, 2)
    scores = mechanism.before(queries @ h[:, None].transpose(2, 3), s, h)
    assert torch.equal(model.attend(h, s), scores.softmax(-1))


def test_after_gets_decoder_states():
    gated, softmax = made(Gated(6, 2)), made(Softmax())
    h, s = gated.read(SOURCE, BEFORE)
    context = gated.attend(h, s) @ h.unflatten(-1, (2, -1)).transpose(1, 2)
    read = context.transpose(1, 2).flatten(2) * gated.normalizer.gate(s).sigmoid()
    assert close(gated(SOURCE, BEFORE).logits, gated.predict(read, s), atol=1e-12)
    assert not close(gated(SOURCE, BEFORE).logits, softmax(SOURCE, BEFORE).logits, atol=1e-3)


def test_scores_of_the_normed_model_are_cosines():
    model = made(Softmax(), kind=NormedCopyingModel)
    h, s = model.read(SOURCE, BEFORE)
    queries = model.query(s).unflatten(-1, (2, -1)).transpose(1, 2)
    cosine = F.cosine_similarity(queries[..., None, :], h[:, None, None], dim=-1)
    assert close(model.attend(h, s), (6**0.5 * cosine).softmax(-1), atol=1e-12)


@pytest.mark.parametrize(("mechanism", "kind"), [
    (part("normalizers.lightning_indexer:LightningIndexer", width=8, k=2), "StateCopyingModel"),
    (part("normalizers.gated:Gated", width=8, heads=2), "StateCopyingModel"),
    (part("normalizers.threshold_differential:ThresholdDifferential", head_width=8),
     "NormedCopyingModel"),
])  # fmt: skip
def test_mechanisms_pass_what_is_tried_before_training(mechanism, kind):
    node = part(f"architectures.state_copying:{kind}", width=8, hidden=8, heads=2)
    check_mechanisms(node | {"normalizer": mechanism})
