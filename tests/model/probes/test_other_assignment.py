"""Roles by samples and by the softmax, of a model that takes each token's largest role."""

import copy

import pytest
import torch

from model.normalizers.gumbel import Gumbel
from model.normalizers.softmax import Softmax
from model.probes.measure import Measured, Subject
from model.probes.quality.other_assignment import other_assignment
from tests.model.corpora import CPU
from tests.model.translators import make, make_roles, sentences


@pytest.fixture(scope="module")
def pairs():
    return *sentences([5, 3, 4]), *sentences([4, 6, 2])


def states_by(model, pairs, assignment, seed=0):
    """States of three pairs when the probe's model gives roles by an assignment."""
    seen = []

    def probe(subject):
        seen.append(subject.model(*pairs).states)
        return Measured({}, {})

    other_assignment(Subject(model, None, CPU, seed), assignment, probe)
    return seen[0]


@pytest.fixture
def model():
    return make_roles("onehot")


def test_softmax_mixes_the_roles_as_a_model_of_softmax_does(model, pairs):
    soft = make_roles("softmax")
    soft.load_state_dict(model.state_dict())
    assert torch.equal(states_by(model, pairs, Softmax()), soft(*pairs).states)
    assert not torch.equal(
        states_by(model, pairs, Softmax()), states_by(model, pairs, Gumbel(1e-9))
    )


def test_the_seed_of_a_run_decides_its_samples(model, pairs):
    one, again, other = (states_by(model, pairs, Gumbel(0.5), seed) for seed in (1, 1, 2))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


def test_the_run_keeps_its_model(model, pairs):
    before = copy.deepcopy(model)
    states_by(model, pairs, Softmax())
    assert isinstance(model.source_roles.assignment, Gumbel)
    assert not model.source_roles.assignment.training
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, before.state_dict()[name])


@pytest.mark.parametrize("other", [lambda: make_roles("dense"), lambda: make("softmax")])
def test_roles_without_scores_are_refused(other, pairs):
    with pytest.raises(ValueError, match="no roles by their scores"):
        states_by(other(), pairs, Softmax())
