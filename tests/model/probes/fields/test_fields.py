"""Fields: against a slow set recursion and the gradient with the routing fixed; of soft weights."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from model.architectures.language_model import NextSymbol
from model.batches.batching import collate
from model.normalizers.gumbel import one_hot_argmax
from model.probes.fields.effective_field import effective_field, field_of_first
from model.probes.fields.rows import rows
from model.probes.fields.weighted_field import best_cut, weighted_fields
from model.probes.measure import Subject
from tests.model.corpora import CPU, uneven, write_corpus
from tests.model.specs import GUMBEL, SOFTMAX, part

NODES = {
    "one_hot": GUMBEL,
    "top_2": part("normalizers.topk:TopK", k=2),
    "sparsemax": part("normalizers.sparsemax:Sparsemax"),
    "softmax": SOFTMAX,
}


ENCODERS = ["transformer:Transformer", "two_stream:TwoStreamTransformer"]


def subject(spec, corpus, normalizer: str, encoder: str) -> Subject:
    """An untrained model whose attention is far from even."""
    return uneven(spec, corpus, NODES[normalizer], encoder)


def slow_field(weights: list[np.ndarray], position: int, layer: int) -> set[int]:
    """r(i, l), united over all keys with a weight, by recursion; weights (H, T, T) a layer."""
    if layer == 0:
        return {position}
    field = slow_field(weights, position, layer - 1)
    for key in np.flatnonzero(weights[layer - 1][:, position].any(axis=0)):
        field |= slow_field(weights, int(key), layer - 1)
    return field


def in_order(s: Subject) -> list[set[int]]:
    """The slow field of every test example, one at a time."""
    fields = []
    for example in range(len(s.corpus.split("test"))):
        batch = collate(s.corpus.split("test"), np.array([example]))
        weights = [w[0].detach().numpy() for w in s.model(batch.tokens, batch.real).weights]
        fields.append(slow_field(weights, 0, len(weights)))
    return fields


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("normalizer", NODES)
def test_the_field_is_that_of_the_set_recursion(keywords, classifier_spec, normalizer, encoder):
    s = subject(classifier_spec, keywords, normalizer, encoder)
    fields = in_order(s)
    lengths = keywords.split("test").lengths
    found = effective_field(s)
    sizes = [len(field - {0}) for field in fields]
    assert found.arrays["field_size"] == sizes
    assert found.arrays["field_fraction"] == pytest.approx(sizes / lengths, abs=1e-5)
    assert found.scalars["field_size"]["value"] == pytest.approx(np.mean(sizes))
    assert found.scalars["field_size"]["std"] == pytest.approx(np.std(sizes, ddof=1))
    assert found.scalars["field_fraction"]["value"] == pytest.approx(np.mean(sizes / lengths))
    if normalizer == "softmax":
        assert sizes == lengths.tolist()
    else:
        assert min(sizes) < max(sizes)
        assert found.scalars["field_fraction"]["value"] < 1


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("normalizer", NODES)
def test_with_the_routing_fixed_only_the_field_has_a_gradient(
    keywords, classifier_spec, normalizer, encoder
):
    s = subject(classifier_spec, keywords, normalizer, encoder)
    batch = collate(keywords.split("test"), np.arange(40))
    weights = [w.detach() for w in s.model(batch.tokens, batch.real).weights]
    h0 = s.model.encoder.embedding(batch.tokens).detach().requires_grad_()
    logits = s.model(batch.tokens, batch.real, h0=h0, routing=weights).logits
    (gradient,) = torch.autograd.grad(logits[:, 0].sum(), h0)
    assert torch.equal(gradient.abs().sum(-1) > 0, field_of_first(weights))


def test_the_field_by_hand():
    """0 reads 2 at the last layer, and 2 reads 1 below; 3 and what only 1 and 3 read stay out."""

    def layer(reads: dict[int, int]) -> Tensor:
        return one_hot_argmax(torch.eye(4)[[reads.get(i, i) for i in range(4)]])[None, None]

    below, last = layer({2: 1, 1: 3}), layer({0: 2, 3: 1})
    assert field_of_first([below, last]).tolist() == [[True, True, True, False]]
    assert field_of_first([last, below]).tolist() == [[True, False, True, False]]


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


@pytest.mark.parametrize("causal", [False, True])
def test_rows_equal_a_slow_loop(tmp_path, causal):
    """Weights of either sign, of which some rows are empty; the last example has no other rows."""
    tests = [[3, 4, 5, 6], [5, 6], [6]]
    corpus = write_corpus(tmp_path / "c", {"test": tests}, 9, {})
    layers = [torch.randn(3, 2, 5, 5).double() for _ in range(2)]
    for layer in layers:
        layer *= torch.rand(3, 2, 5, 1) < 0.6
        layer[2] = 0
        layer[0, 0, 1] = torch.tensor([-3.0, 1, 0, 0, 0])
        layer[0, 1, 0] = 0

    class Given(nn.Module):
        """A model that has these weights for the texts, told apart by their lengths."""

        def forward(self, tokens, real):
            which = [[4, 2, 1].index(n - (not causal)) for n in real.sum(dim=1).tolist()]
            length = tokens.shape[1]
            return NextSymbol(None, [layer[which, :, :length, :length] for layer in layers])

    found = rows(Subject(Given(), corpus, CPU, 0), causal)
    empty, first = [], []
    for example, text in enumerate(tests):
        sizes = [
            (abs(layer[example, h, i, 0]), layer[example, h, i, : 5 - causal].abs().sum())
            for layer in layers for h in range(2) for i in range(len(text) + (not causal))
        ]  # fmt: skip
        empty.append(sum(float(total == 0) for _, total in sizes) / len(sizes))
        shares = [float(one / total) for one, total in sizes if total]
        first.append(sum(shares) / len(shares) if shares else None)
    assert first[2] is None and empty[2] == 1 and 0 < empty[0] < 1
    assert found.arrays["empty"] == pytest.approx(empty, abs=1e-5)
    assert found.arrays["first"][:2] == pytest.approx(first[:2], abs=1e-5)
    assert found.arrays["first"][2] is None
    assert found.scalars["empty"]["value"] == pytest.approx(sum(empty) / 3)
    assert found.scalars["first"]["value"] == pytest.approx(sum(first[:2]) / 2)
    assert [found.scalars[name]["n"] for name in ("empty", "first")] == [3, 2]
