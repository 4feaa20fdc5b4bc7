"""What is recorded of attention and the lexical probe while copying is learned, and the probe."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from model.architectures.copying import Copied
from model.batches.batching import collate
from model.build import build
from model.objectives.copying import Copying
from model.objectives.copying_dynamics import CopyingDynamics, dynamics
from model.probes.copying.dynamics import copying_dynamics
from model.probes.learning.agreement import agreement
from model.probes.measure import Subject
from tests.model.architectures.test_copying import copies
from tests.model.corpora import CPU, learned, values, write_corpus
from tests.model.specs import COPYING, GUMBEL, brief

NODE = COPYING | {"heads": 1, "normalizer": GUMBEL}


class Fixed(nn.Module):
    """Gives the attention and the lexical probe that it is told."""

    def __init__(self, alpha: Tensor, beta: Tensor) -> None:
        super().__init__()
        self.alpha, self.beta = alpha, beta

    def forward(self, source: Tensor, before: Tensor) -> Copied:
        return Copied(self.alpha, self.alpha)

    def lexical(self, source: Tensor, before: Tensor) -> Tensor:
        return self.beta


@pytest.mark.parametrize("symbols", [1, 2, 19, 20, 21, 41])
def test_the_record_equals_a_slow_count(symbols):
    """The end symbol is no place to look, and not asked for (snell2021 eq. 7)."""
    random = torch.Generator().manual_seed(symbols)
    shape = (3, symbols + 1, symbols + 1)
    alpha, beta = (torch.rand(shape, generator=random) for _ in range(2))
    for value in (alpha, beta):
        value[0] += torch.eye(symbols + 1)
    # Near the best, sometimes among the highest of more than 20.
    beta[1] = alpha[1] + 0.05 * beta[1]
    alpha[:, :, -1] = beta[:, :, -1] = 9
    source = torch.zeros(shape[:2], dtype=torch.long)
    found = dynamics(Fixed(alpha, beta), source, source)
    for n in range(3):
        a, b = alpha[n, :-1, :-1].numpy(), beta[n, :-1, :-1].numpy()
        agreed = agreement(a, b, np.full(symbols, symbols))
        for t in range(symbols):
            assert found.attended[n, t] == (max(range(symbols), key=lambda j: a[t][j]) == t)
            assert found.lexical[n, t] == (max(range(symbols), key=lambda j: b[t][j]) == t)
            assert found.agreement[n, t] == agreed[t]
    if symbols > 2:
        assert 0 < found.agreement.mean() < 1


def test_the_objective_is_that_of_copying_and_probes_without_noise(tmp_path):
    corpus = copies(tmp_path)
    batch = collate(corpus.split("train"), np.arange(7))
    torch.manual_seed(2)
    model = build(NODE, vocabulary_size=16)
    found = []
    for objective in (Copying(), CopyingDynamics(probed=3)):
        torch.manual_seed(0)
        model.train()
        model.zero_grad()
        loss = objective.loss(model, batch, epoch=0)
        loss.mean.backward()
        assert model.training
        found.append((loss, [parameter.grad.clone() for parameter in model.parameters()]))
    (plain, by_plain), (ours, by_ours) = found
    assert torch.equal(plain.mean, ours.mean)
    assert all(torch.equal(one, two) for one, two in zip(by_plain, by_ours, strict=True))
    for name, value in plain.sums.items():
        assert torch.equal(value, ours.sums[name])
    assert ours.sums.keys() - plain.sums.keys() == {"attended", "lexical", "agreement"}
    model.eval()
    alone = dynamics(model, batch.tokens[:3, 1:], batch.tokens[:3, :-1])
    for name, value in alone._asdict().items():
        assert float(ours.sums[name]) / 7 == pytest.approx(float(value.mean()))
    again = CopyingDynamics(probed=3).loss(model, batch, epoch=0)
    assert not model.training
    assert torch.equal(again.sums["attended"], ours.sums["attended"])


def row(step: int, attended: float, lexical: float, split: str = "train") -> dict:
    return {"split": split, "step": step, "attended": attended, "lexical": lexical,
            "agreement": 0.3}  # fmt: skip


@pytest.mark.parametrize(
    ("history", "at", "first"),
    [
        ([row(1, 0.2, 0.5), row(2, 0.5, 0.6), row(3, 0.7, 0.4)], (3, 2), 1),
        ([row(1, 0.6, 0.5), row(2, 0.5, 0.6)], (1, 2), 0),
        ([row(1, 0.6, 0.6)], (1, 1), 0),
        ([row(1, 0.2, 0.6)], (None, 1), 1),
        ([row(1, 0.6, 0.2)], (1, None), 0),
        ([row(1, 0.2, 0.2), row(1, 0.9, 0.9, "dev")], (None, None), None),
    ],
)
def test_which_is_known_first(tmp_path, history, at, first):
    tokens = {"test": [[4, 5, 6, 3], [6, 4, 5, 3]]}
    corpus = write_corpus(tmp_path / "c", tokens, 7, {})
    eye = torch.eye(4).expand(2, 4, 4)
    found = copying_dynamics(Subject(Fixed(eye, 1 - eye), corpus, CPU, 0), history)
    value = values(found)
    assert (value["attended_at"], value["lexical_at"]) == at
    assert value["lexical_first"] == first
    assert (value["attended"], value["lexical"], value["agreement"]) == (1, 0, 0)
    trained = [one for one in history if one["split"] == "train"]
    assert found.arrays == {
        "step": [one["step"] for one in trained],
        "attended_curve": [one["attended"] for one in trained],
        "lexical_curve": [one["lexical"] for one in trained],
        "agreement_curve": [0.3] * len(trained),
    }


def test_discrete_attention_learns_to_copy_and_is_followed(tmp_path):
    corpus = copies(tmp_path)
    # At a constant rate the last updates' noise decides, and a CPU's rounding: .88 to .96.
    objective = "model.objectives.copying_dynamics:CopyingDynamics"
    found = copying_dynamics(*learned(brief(NODE, objective, schedule={"name": "cosine"}), corpus))
    value = values(found)
    assert min(value[name] for name in ("attended", "lexical", "agreement")) > 0.9
    assert 1 < value["lexical_at"] < 150
    assert 1 < value["attended_at"] < 150
    assert len(found.arrays["attended_curve"]) == 150
    assert found.arrays["attended_curve"][0] < 0.4
