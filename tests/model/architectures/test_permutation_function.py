"""Copying in another order: the function itself, by hand and against a copying model."""

import pytest
import torch

from model.architectures.copying import CopyingModel
from model.architectures.permutation_function import PermutationModel
from model.objectives.copying import copied
from model.probes.copying.outcome import copying
from tests.model.corpora import learned, permutations
from tests.model.specs import brief, part

END = 3


def made(seed: int = 5, length: int = 6) -> PermutationModel:
    torch.manual_seed(seed)
    return PermutationModel(12, 7, 5, length).double()


def outputs(n: int = 4, length: int = 6) -> torch.Tensor:
    random = torch.Generator().manual_seed(2)
    rows = torch.stack([4 + torch.randperm(8, generator=random)[:length] for _ in range(n)])
    return torch.cat([rows, torch.full((n, 1), END)], dim=1)


def before(output: torch.Tensor) -> torch.Tensor:
    return torch.cat([torch.ones_like(output[:, :1]), output[:, :-1]], dim=1)


def test_what_is_read_becomes_the_output_under_pi():
    """y_t = x_pi(t) (snell2021 eq. 22)."""
    model, output = made(), outputs()
    pi = model.permutation.tolist()
    assert sorted(pi) == list(range(7)) and pi[-1] == 6 and pi != list(range(7))
    read: list[torch.Tensor] = []
    model.encoder.register_forward_pre_hook(lambda part, given: read.append(given[0].t().clone()))
    model(output, before(output))
    for x, y in zip(read[0].tolist(), output.tolist(), strict=True):
        assert [x[pi[t]] for t in range(7)] == y


def test_the_prediction_is_that_of_copying_with_the_columns_moved():
    model, output = made(), outputs()
    torch.manual_seed(5)
    plain = CopyingModel(12, 7, 5).double()
    own = dict(model.named_parameters())
    assert all(torch.equal(one, own[name]) for name, one in plain.named_parameters())
    pi = model.permutation
    x = torch.empty_like(output)
    for t in range(7):
        x[:, pi[t]] = output[:, t]
    logits, weights = plain(x, before(output))
    found = model(output, before(output))
    assert torch.equal(found.logits, logits)
    for t in range(7):
        assert torch.equal(found.weights[:, :, t], weights[:, :, pi[t]])
    right, attention = copied(found, output)
    assert torch.equal(right, (logits.argmax(-1) == output)[:, :-1].float())
    for t in range(6):
        assert torch.equal(attention[:, t], weights[:, t, pi[t]].float())


def test_the_permutation_follows_the_seed_and_is_kept_with_the_weights():
    assert torch.equal(made(1).permutation, made(1).permutation)
    assert not torch.equal(made(1).permutation, made(2).permutation)
    other = made(2)
    other.load_state_dict(made(1).state_dict())
    assert torch.equal(other.permutation, made(1).permutation)


def test_another_length_is_told():
    with pytest.raises(ValueError, match=r"of 5 positions and the sequences have 6 symbols; set"):
        made(length=5)(outputs(), before(outputs()))


def test_a_short_permutation_is_learned(tmp_path):
    corpus = permutations(tmp_path / "c", {"train": 4800, "dev": 32, "test": 200}, 6, 3)
    path = "architectures.permutation_function:PermutationModel"
    node = part(path, width=32, hidden=32, length=3)
    found = copying(*learned(brief(node, "model.objectives.copying:Copying"), corpus)).scalars
    assert found["accuracy"]["value"] > 90
    assert found["accuracy"]["n"] == 200
