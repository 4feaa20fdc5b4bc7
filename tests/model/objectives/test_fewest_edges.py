"""The fewest edges under a bound on the loss: the Lagrangian by hand, and a tiny training."""

import math

import pytest
import torch

from model.architectures.constrained_language_model import ConstrainedLanguageModel
from model.architectures.language_model import LanguageModel
from model.architectures.transformer import Transformer
from model.batches.batching import Batch
from model.normalizers.edge_gates import EdgeGates
from model.objectives.fewest_edges import FewestEdges, open_share


def make_model(bias: float = 1.0, layers: int = 2) -> ConstrainedLanguageModel:
    torch.manual_seed(0)
    decoder = Transformer(7, 8, 16, layers, 2, EdgeGates(bias), max_length=16)
    return ConstrainedLanguageModel(7, decoder)


def make_batch() -> Batch:
    """Two sequences, the second of which ends with two padding tokens."""
    tokens = torch.tensor([[1, 3, 4, 5, 3, 4], [1, 5, 4, 3, 0, 0]])
    return Batch(tokens, tokens > 0, {}, torch.zeros(2).numpy(), 2)


def test_the_share_counts_causal_edges_of_real_queries():
    openness = [torch.rand(2, 3, 4, 4).tril() for _ in range(2)]
    real = torch.tensor([[True] * 4, [True, True, False, False]])
    total, edges = 0.0, 0
    for layer in openness:
        for b in range(2):
            for h in range(3):
                for i in range(4 if b == 0 else 2):
                    total += sum(float(layer[b, h, i, j]) for j in range(i + 1))
                    edges += i + 1
    assert float(open_share(openness, real)) == pytest.approx(total / edges, rel=1e-6)


def test_the_multiplier_follows_the_moving_average():
    model, batch = make_model(), make_batch()
    objective = FewestEdges(bound=1.5, beta=0.1, rate=0.5, memory=0.9)
    excess, pressure = 0.0, 0.0
    for _ in range(3):
        loss = objective.loss(model, batch, epoch=0)
        nll, share = (float(loss.sums[name]) / loss.units for name in ("loss", "edges"))
        excess = 0.9 * excess + 0.1 * (nll - 1.5)
        pressure -= 0.5 * excess
        assert loss.mean.item() == pytest.approx(nll + 0.1 * math.exp(pressure) * share, rel=1e-5)
    assert float(model.excess) == pytest.approx(excess, rel=1e-5)
    assert float(model.pressure) == pytest.approx(pressure, rel=1e-5)
    assert excess > 0 > pressure


def test_an_evaluation_changes_no_state_and_judges_the_loss_alone():
    model, batch = make_model(), make_batch()
    objective = FewestEdges(bound=1.5)
    objective.loss(model, batch, epoch=0)
    before = {name: one.clone() for name, one in model.state_dict().items()}
    model.eval()
    with torch.no_grad():
        loss = objective.loss(model, batch, epoch=math.inf)
    assert loss.sums.keys() == {"loss"}
    after = model.state_dict()
    assert all(torch.equal(one, after[name]) for name, one in before.items())


def test_edges_go_while_the_loss_stays_at_its_bound():
    """Each symbol of a cycle follows from the one before: most edges are not needed."""
    cycle = torch.tensor(
        [[1, *((start + step) % 3 + 3 for step in range(9))] for start in range(3)]
    )
    batch = Batch(cycle, cycle > 0, {}, torch.zeros(3).numpy(), 0)
    model, bound = make_model(bias=3.0, layers=1), 0.2
    objective = FewestEdges(bound, beta=0.1, rate=0.5, memory=0.8)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    shares = []
    for _ in range(450):
        optimizer.zero_grad()
        loss = objective.loss(model, batch, epoch=0)
        loss.mean.backward()
        optimizer.step()
        shares.append(float(loss.sums["edges"]) / loss.units)
    with torch.no_grad():
        nll = float(objective.loss(model.eval(), batch, math.inf).sums["loss"]) / loss.units
        kept = model(cycle[:, :-1], cycle[:, :-1] > 0).weights[0]
    assert shares[0] > 0.8 and shares[-1] < 0.4
    assert nll < 1.5 * bound
    assert (kept > 0).double().sum() < 0.4 * kept.numel() / 2


def test_the_state_of_the_constraint_is_the_only_addition():
    model = make_model()
    plain = LanguageModel(7, Transformer(7, 8, 16, 2, 2, EdgeGates(), max_length=16))
    assert model.state_dict().keys() - plain.state_dict().keys() == {"excess", "pressure"}
