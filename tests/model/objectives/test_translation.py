"""The objective against torch's cross-entropy, and tiny models that learn to copy."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

import model.kernels.smoothed_loss as chunked
from benchmarks.baseline import TorchTransformer, same_weights
from model.architectures.translation.beam_search import Beam
from model.batches.pairs import collate_pairs
from model.kernels.smoothed_loss import smoothed_loss
from model.objectives.translation import Translation
from tests.model.compare import close
from tests.model.corpora import resumed_alike
from tests.model.specs import GUMBEL, tiny
from tests.model.translators import (
    MECHANISMS,
    assert_copied,
    make,
    read_by,
    repeated_pairs,
    write_pairs,
)


@settings(max_examples=25)
@given(st.integers(1, 20), st.integers(2, 30), st.floats(0, 0.9), st.integers(1, 8))
def test_loss_and_gradients_equal_torchs(positions, words, smoothing, chunk):
    torch.manual_seed(positions * 31 + words)
    states = torch.randn(positions, 5).double().requires_grad_()
    weight = (3 * torch.randn(words, 5).double()).requires_grad_()
    targets = torch.randint(0, words, (positions,))
    logits = states @ weight.T
    expected = F.cross_entropy(logits, targets, label_smoothing=smoothing, reduction="sum")
    gradients = torch.autograd.grad(0.3 * expected, (states, weight))
    before, chunked.CHUNK = chunked.CHUNK, chunk
    try:
        found = smoothed_loss(states, weight, targets, smoothing)
    finally:
        chunked.CHUNK = before
    assert torch.allclose(found.loss, expected)
    assert torch.allclose(found.nll, F.cross_entropy(logits, targets, reduction="sum"))
    assert int(found.right) == int((logits.argmax(-1) == targets).sum())
    own = torch.autograd.grad(0.3 * found.loss, (states, weight))
    assert close(own, gradients, atol=1e-10)


def test_sums_without_gradients_are_the_same():
    states, weight, targets = torch.randn(7, 4), torch.randn(9, 4), torch.randint(0, 9, (7,))
    with torch.no_grad():
        free = smoothed_loss(states, weight, targets, 0.1)
    taped = smoothed_loss(states.requires_grad_(), weight, targets, 0.1)
    assert torch.equal(free.loss, taped.loss.detach())
    assert not free.loss.requires_grad


def test_scores_too_far_apart_for_the_exponential_stay_finite():
    states, weight = torch.tensor([[1.0]]), torch.tensor([[500.0], [-500.0], [0.0]])
    found = smoothed_loss(states, weight, torch.tensor([1]), 0.0)
    assert float(found.nll) == pytest.approx(1000)


def a_batch(folder, pairs=40):
    random = np.random.default_rng(0)
    texts = [random.integers(4, 20, random.integers(1, 8)).tolist() for _ in range(pairs)]
    return collate_pairs(write_pairs(folder, [(t, t[::-1]) for t in texts]), np.arange(pairs))


def test_the_loss_is_that_of_torchs_transformer(tmp_path):
    """Padded, with all logits at once, on the same weights; and so are the gradients."""
    batch = a_batch(tmp_path)
    ours = make("softmax")
    theirs = TorchTransformer(20, 8, 12, 2, 2, dropout=0.0).double()
    same_weights(ours, theirs)
    loss, reference = Translation().loss(ours, batch, 0.0), theirs.loss(batch)
    assert loss.mean.item() == pytest.approx(reference.item(), abs=1e-9)
    loss.mean.backward()
    reference.backward()
    assert torch.allclose(ours.output_weight.grad, theirs.embedding.weight.grad, atol=1e-9)
    layer = theirs.stacks.encoder.layers[0]
    assert torch.allclose(
        ours.encoder[0].read.project.weight.grad, layer.self_attn.in_proj_weight.grad, atol=1e-9
    )
    assert loss.units == int(batch.layout.real.sum())


def test_the_baseline_translates_alike(tmp_path):
    batch, how = a_batch(tmp_path, 6), Beam(3)
    ours = make("softmax")
    theirs = TorchTransformer(20, 8, 12, 2, 2, dropout=0.0).double().eval()
    same_weights(ours, theirs)
    found = how.search(ours, batch.source, batch.source_layout)
    for n, reference in enumerate(theirs.translate(batch, how)):
        assert found.best()[n] == reference[0].words[:-1]
        assert float(found.scores[n, 0]) == pytest.approx(reference[0].score, abs=1e-9)


def test_metrics_are_per_target_token(tmp_path):
    """Summed `nll` is that of weissenborn2019 eq. 3 and snell2021 eq. 2."""
    batch, model = a_batch(tmp_path), make("softmax")
    found = Translation(0.2).loss(model, batch, 0.0)
    log_p = model.logits(model(*read_by(batch)).states).log_softmax(-1)
    targets = batch.layout.pack(batch.tokens[:, 1:])
    nll = -log_p.gather(1, targets[:, None]).sum()
    smooth = -log_p.mean(1).sum()
    assert found.sums.keys() == {"loss", "nll", "accuracy"}
    assert torch.allclose(found.sums["nll"], nll)
    assert torch.allclose(found.sums["loss"], 0.8 * nll + 0.2 * smooth)
    assert torch.allclose(found.mean * found.units, 0.8 * nll + 0.2 * smooth)
    right = (log_p.argmax(1) == targets).double().sum()
    assert float(found.sums["accuracy"]) == pytest.approx(100 * float(right))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mechanism_learns_to_copy(mechanism, tmp_path):
    """A broken decoder, mask or position shows here."""
    torch.manual_seed(0)
    model = make(mechanism, 9, width=32, hidden=64, layers=1, norm="pre").float()
    assert_copied(model, Translation(0.0), 250, tmp_path)


@pytest.mark.parametrize("mechanism", ["discrete", "two-stream"])
def test_a_killed_run_goes_on_bit_for_bit(mechanism, tmp_path):
    """In the middle of an epoch, with dropout and Gumbel noise; two micro-batches per update."""
    kind, _ = MECHANISMS[mechanism]
    model = {
        "path": f"{kind.__module__}:{kind.__name__}", "width": 8, "hidden": 12, "layers": 1,
        "heads": 2, "normalizer": GUMBEL, "dropout": 0.2,
    }  # fmt: skip
    spec = tiny(
        model, "model.objectives.translation:Translation", epochs=2, clip=1.0,
        batch={"tokens": 60, "micro_tokens": 30}, select={"metric": "nll", "mode": "min"},
        schedule={"name": "inverse_sqrt", "warmup": 4},
    )  # fmt: skip
    whole = resumed_alike(spec, repeated_pairs(tmp_path / "pairs"), 3)
    assert whole.updates > 6
    rows = [row for row in whole.progress.rows if row["split"] == "dev"]
    assert {"loss", "nll", "accuracy"} <= rows[0].keys()
