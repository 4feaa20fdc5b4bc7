"""Copying with several heads: against one head, against the equations, and how heads start."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from model.architectures.copying import CopyingModel
from model.architectures.multihead_copying import MultiheadCopyingModel
from model.build import build
from model.normalizers.gumbel import Gumbel
from model.normalizers.softmax import Softmax
from model.normalizers.sparsemax import Sparsemax
from model.probes.copying.convergence import convergence
from model.probes.measure import Subject
from tests.model.architectures.test_copying import SEQUENCES, copies, loop_lstm
from tests.model.corpora import CPU, learned, values, write_corpus
from tests.model.specs import SOFTMAX, brief

NODE = {
    "path": "model.architectures.multihead_copying:MultiheadCopyingModel",
    "width": 32,
    "hidden": 32,
    "heads": 2,
    "normalizer": SOFTMAX,
}


def made(seed: int = 0, heads: int = 3, **changes) -> MultiheadCopyingModel:
    torch.manual_seed(seed)
    sizes = {"vocabulary_size": 12, "width": 6, "hidden": 5, "normalizer": Softmax()} | changes
    return MultiheadCopyingModel(heads=heads, **sizes)


def loop_head(model: MultiheadCopyingModel, k: int) -> tuple[Tensor, Tensor]:
    """W and b of head k."""
    weight, bias = (part.chunk(model.heads)[k] for part in model.query.parameters())
    return weight, bias


def output(model: MultiheadCopyingModel, context: Tensor, s: Tensor) -> Tensor:
    """N([c, s]) as probabilities (V,)."""
    projected = model.context.weight @ context + model.context.bias
    u = model.combine.weight @ torch.cat([s, projected]) + model.combine.bias
    return (model.output.weight @ u.tanh() + model.output.bias).softmax(dim=0)


def loop_copy(
    model: MultiheadCopyingModel, source: Tensor, before: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """One sequence (T,), a position and a head at a time: p, mean alpha, beta as log-odds."""
    zeros = torch.zeros(model.encoder.hidden, dtype=torch.float64)
    h, *last = loop_lstm(model.encoder, model.embedding.weight[source], zeros, zeros)
    s, _, _ = loop_lstm(model.decoder, model.embedding.weight[before], *last)
    probabilities, attention, beta = [], [], []
    for t in range(len(source)):
        context, mean = torch.zeros_like(h[0]), torch.zeros(len(source), dtype=torch.float64)
        for k in range(model.heads):
            weight, bias = loop_head(model, k)
            scores = [torch.exp((weight @ s[t] + bias) @ h[j]) for j in range(len(source))]
            for j, score in enumerate(scores):
                alpha = score / sum(scores)
                context = context + alpha * h[j]
                mean[j] += float(alpha.detach()) / model.heads
        probabilities.append(output(model, context, s[t]))
        attention.append(mean)
        alone = [output(model, model.heads * h[j], s[t])[source[t]] for j in range(len(source))]
        beta.append(torch.stack([(p / (1 - p)).log() for p in alone]))
    return torch.stack(probabilities), torch.stack(attention), torch.stack(beta)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 3), st.integers(1, 2), st.integers(1, 4))
def test_the_model_equals_its_equations(seed, heads, batch, length):
    """One head after the other, and gradients (snell2021 eq. 3, 17, 18)."""
    model = made(seed, heads).double()
    for parameter in model.parameters():
        parameter.data *= 2
    source, before = torch.randint(0, 12, (2, batch, length))
    found, lexical = model(source, before), model.lexical(source, before)
    for row in range(batch):
        probabilities, attention, beta = loop_copy(model, source[row], before[row])
        assert torch.allclose(found.logits[row].softmax(-1), probabilities)
        assert torch.allclose(found.weights[row], attention)
        assert torch.allclose(lexical[row], beta)
    own = torch.autograd.grad(found.logits.softmax(-1)[-1, -1, 0], model.parameters())
    loop = torch.autograd.grad(probabilities[-1, 0], model.parameters())
    for (name, _), one, two in zip(model.named_parameters(), own, loop, strict=True):
        assert torch.allclose(one, two, atol=1e-10), name


def test_one_head_with_softmax_is_a_copying_model():
    torch.manual_seed(4)
    plain = CopyingModel(12, 6, 5)
    model = made(4, heads=1)
    assert dict(model.named_parameters()).keys() == dict(plain.named_parameters()).keys()
    for name, value in plain.state_dict().items():
        assert torch.equal(value, model.state_dict()[name]), name
    source, before = torch.randint(0, 12, (2, 3, 7))
    for one, two in zip(plain(source, before), model(source, before), strict=True):
        assert torch.allclose(one, two, atol=1e-6)


def test_log_odds_keep_the_order_where_probabilities_are_one():
    model = made(1, heads=1)
    source, before = torch.full((1, 6), 7), torch.arange(6)[None]
    with torch.no_grad():
        model.output.bias[7] += 30
        found = model.lexical(source, before)
    assert (found.sigmoid() == 1).all()
    assert len(found.unique()) == found.numel()


def starts(model: MultiheadCopyingModel) -> list[Tensor]:
    return [torch.cat([part.flatten() for part in loop_head(model, k)]) for k in range(model.heads)]


def body(model: nn.Module) -> dict[str, Tensor]:
    state = model.state_dict()
    return {name: value for name, value in state.items() if not name.startswith("query")}


def same(one: dict[str, Tensor], two: dict[str, Tensor]) -> bool:
    return all(torch.equal(value, two[name]) for name, value in one.items())


def test_the_number_of_heads_changes_nothing_else():
    one, many = made(3, heads=1), made(3, heads=4)
    assert same(body(one), body(many))
    assert torch.equal(starts(one)[0], starts(many)[0])
    assert len({tuple(start.tolist()) for start in starts(many)}) == 4


def test_a_head_starts_as_that_of_a_single_head_model_with_its_seed():
    many = made(3, heads=3, head_seeds=[7, 5, 9], body_seed=2)
    for seed, start in zip((7, 5, 9), starts(many), strict=True):
        assert torch.equal(start, starts(made(seed, heads=1))[0])
        alone = made(0, heads=1, head_seeds=[seed], body_seed=2)
        assert torch.equal(start, starts(alone)[0])
        assert same(body(alone), body(many))
    assert same(body(many), body(made(2, heads=1)))


def test_the_runs_seed_decides_what_has_no_seed_of_its_own():
    one, two = made(3, body_seed=2), made(4, body_seed=2)
    assert same(body(one), body(two))
    assert not any(torch.equal(a, b) for a, b in zip(starts(one), starts(two), strict=True))
    one, two = made(3, head_seeds=[1, 2, 3]), made(4, head_seeds=[1, 2, 3])
    assert torch.equal(one.query.weight, two.query.weight)
    assert not torch.equal(one.output.weight, two.output.weight)


def test_heads_start_as_torch_starts_a_layer():
    for start in starts(made(0, heads=8, hidden=40)):
        assert 0.97 * 40**-0.5 < float(start.detach().abs().max()) <= 40**-0.5
        assert float(start.std()) == pytest.approx((40 * 3) ** -0.5, rel=0.1)


def test_a_model_leaves_the_runs_random_numbers_alone():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    for chosen in ({"body_seed": 1, "heads": 3}, {"heads": 3}, {"heads": 1}):
        build = {"vocabulary_size": 6, "width": 4, "hidden": 5, "normalizer": Softmax()}
        MultiheadCopyingModel(**build, **chosen)
        assert torch.equal(torch.get_rng_state(), before)
    assert torch.initial_seed() == 5


@pytest.mark.parametrize("seeds", [[1, 2], [1, 2, 3, 4], [1, 2, 1], []])
def test_a_seed_for_every_head(seeds):
    with pytest.raises(ValueError, match=r"and heads is 3; give every head a seed of its own\.$"):
        made(head_seeds=seeds)


def test_the_normaliser_is_the_one_it_is_given():
    model = made(2, heads=2, normalizer=Sparsemax(), hidden=30)
    with torch.no_grad():
        model.query.weight *= 30
    source, before = torch.randint(0, 12, (2, 2, 9))
    h, s = model.read(source, before)
    weights = model.attend(h, s)
    assert weights.shape == (2, 2, 9, 9)
    assert (weights == 0).any()
    assert torch.allclose(weights.sum(-1), torch.ones(2, 2, 9))
    discrete = made(2, heads=1, normalizer=Gumbel()).eval()
    alpha = discrete(source, before).weights
    assert set(alpha.unique().tolist()) == {0.0, 1.0}


def test_two_heads_learn_to_copy_and_one_of_them_attends(tmp_path):
    corpus = copies(tmp_path)
    subject, _ = learned(brief(NODE, "model.objectives.copying:Copying"), corpus)
    found = convergence(subject, tokens=100)
    value = values(found)
    assert value["accuracy"] > 95 and value["best_head"] > 0.8
    assert (value["converged"], value["stuck"]) == (1, 0)
    assert found.scalars["accuracy"]["n"] == 200
    torch.manual_seed(0)
    before = values(convergence(Subject(build(NODE, vocabulary_size=16).eval(), corpus, CPU, 0)))
    assert (before["converged"], before["stuck"]) == (0, 1)


def test_the_probe_equals_a_slow_count(tmp_path):
    corpus = write_corpus(tmp_path / "c", {"test": SEQUENCES}, 30, {})
    torch.manual_seed(1)
    model = build(NODE, vocabulary_size=30).double()
    model.embedding.weight.data *= 5
    right, on = [], np.zeros(2)
    for sequence in SEQUENCES:
        source, before = torch.tensor([sequence]), torch.tensor([[1, *sequence[:-1]]])
        with torch.no_grad():
            guessed = model(source, before).logits.argmax(-1)[0].tolist()
            heads = model.attend(*model.read(source, before))[0]
        right += [guess == symbol for guess, symbol in zip(guessed, sequence, strict=True)][:-1]
        on += [sum(float(heads[k, t, t]) for t in range(4)) / 4 / len(SEQUENCES) for k in range(2)]
    accuracy = 100 * np.mean(right)
    for limits in ({}, {"tokens": 11, "converged": accuracy - 1, "stuck": accuracy + 1}):
        found = convergence(Subject(model, corpus, CPU, 0), **limits)
        value = values(found)
        assert value["accuracy"] == pytest.approx(accuracy)
        assert found.arrays["head_attention"] == pytest.approx(on.tolist(), abs=1e-6)
        assert value["best_head"] == pytest.approx(on.max())
        assert value["converged"] == (1 if limits else 0)
        assert value["stuck"] == 1
