"""Copying with several heads: against one head, and how heads start."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from model.architectures.copying import CopyingModel
from model.architectures.multihead_copying import MultiheadCopyingModel
from model.build import build
from model.normalizers.gumbel import Gumbel
from model.normalizers.softmax import Softmax
from model.normalizers.sparsemax import Sparsemax
from model.probes.copying.convergence import convergence
from model.probes.measure import Subject
from tests.model.architectures.test_copying import SEQUENCES, copies, loop_head
from tests.model.compare import close
from tests.model.corpora import CPU, learned, values, write_corpus
from tests.model.specs import COPYING, SOFTMAX, brief

NODE = COPYING | {"heads": 2, "normalizer": SOFTMAX}


def made(seed: int = 0, heads: int = 3, **changes) -> MultiheadCopyingModel:
    torch.manual_seed(seed)
    sizes = {"vocabulary_size": 12, "width": 6, "hidden": 5, "normalizer": Softmax()} | changes
    return MultiheadCopyingModel(heads=heads, **sizes)


def test_one_head_with_softmax_is_a_copying_model():
    torch.manual_seed(4)
    plain = CopyingModel(12, 6, 5)
    model = made(4, heads=1)
    assert close(model.state_dict(), plain.state_dict(), atol=0)
    source, before = torch.randint(0, 12, (2, 3, 7))
    assert close(plain(source, before), model(source, before), atol=1e-5)


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
