"""Weighted receptive fields of soft attention, cut where they fit best."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from model.architectures.language_model import NextSymbol
from model.probes.fields.weighted_field import best_cut, weighted_fields
from model.probes.measure import Subject
from tests.model.corpora import write_corpus

levels = st.sampled_from([0.0, 0.001, 0.0025, 0.3, 1.0])


@given(st.lists(st.tuples(levels, st.booleans()), min_size=1, max_size=12))
def test_the_best_cut_is_the_best_of_all_thresholds(pairs):
    values = torch.tensor([value for value, _ in pairs])
    member = torch.tensor([is_member for _, is_member in pairs])
    tried = [0.0]
    for threshold in set(values.tolist()) - {0.0}:
        chosen = values >= threshold
        hits = int((chosen & member).sum())
        tried.append(2 * hits / (int(chosen.sum()) + int(member.sum())))
    found = best_cut(values, member)
    assert found["f1"] == pytest.approx(max(tried))
    if found["f1"]:
        chosen = values >= found["threshold"]
        assert found["precision"] == pytest.approx(float(member[chosen].double().mean()))
        assert found["recall"] == pytest.approx(float(chosen[member].double().mean()))


class TwoHeads(nn.Module):
    """A language model of one layer whose two heads have the weights (2, T, T) that it is given."""

    def __init__(self, weights):
        super().__init__()
        self.weights = weights

    def forward(self, tokens, real):
        logits = torch.zeros(*tokens.shape, 9)
        return NextSymbol(logits, [self.weights.expand(len(tokens), -1, -1, -1)])


def measured(tmp_path, weights):
    """Three predictions of four symbols depend on {0}, {0, 1} and {2}; BOS comes before them."""
    columns = {"test": {"span_start": [0, 0, 2, 0]}}
    corpus = write_corpus(tmp_path / "c", {"test": [[3, 4, 5, 6]]}, 9, {}, columns)
    subject = Subject(TwoHeads(torch.tensor(weights)), corpus, torch.device("cpu"), 0)
    return {name: scalar["value"] for name, scalar in weighted_fields(subject).scalars.items()}


def test_weights_that_leak_are_seen_at_any_size(tmp_path):
    """A dependency of weight .004 counts where all that is no dependency weighs less."""
    bos = [1.0, 0, 0, 0]
    one = [bos, [0.9, 0.1, 0, 0], [0.8, 0.004, 0.196, 0], [0.9, 0.001, 0.002, 0.097]]
    found = measured(tmp_path, [one, [bos] * 4])
    assert found["f1_summed"] == found["f1_averaged"] == pytest.approx(1)
    assert found["f1"] == found["precision"] == found["recall"] == pytest.approx(1)
    assert found["threshold"] == pytest.approx(0.004)


def test_the_best_reading_of_the_heads_counts(tmp_path):
    """Summed weights of more than 1 are clamped to it; averaged, one of them is seen to be less."""
    bos = [1.0, 0, 0, 0]
    one = [bos, bos, [0, 1.0, 0, 0], [0, 0, 1.0, 0]]
    two = [bos, bos, [0, 1.0, 0, 0], [0, 0.5, 0.5, 0]]
    found = measured(tmp_path, [one, two])
    # Members are 4 of 6: the three of a position itself, and {0} of the second, which is certain;
    # {1} of the third is no member and reaches 1 when summed, .75 when averaged.
    assert found["f1_summed"] == pytest.approx(8 / 9)
    assert found["f1_averaged"] == found["f1"] == pytest.approx(1)
