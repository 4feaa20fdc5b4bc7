"""The probes against slow loops, hand-worked cases and models whose answer is known."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import kendalltau
from torch import Tensor, nn

from model.batches.batching import collate
from model.batches.corpus import Corpus
from model.build import build
from model.normalizers.gumbel import one_hot_argmax
from model.probes.fields.flips import routing_flips, tree_differs
from model.probes.fields.receptive_fields import receptive_fields, true_spans
from model.probes.importance.classification import attention_importance, salience, token_scores
from model.probes.measure import Subject
from model.probes.quality.accuracy import accuracy
from model.probes.quality.likelihood import language_modelling
from tests.model.corpora import CPU, learned, values, write_corpus
from tests.model.specs import part


def subject(spec, corpus: Corpus, seed: int = 0) -> Subject:
    torch.manual_seed(seed)
    return Subject(build(spec["model"], vocabulary_size=9).double().eval(), corpus, CPU, 0)


@pytest.mark.parametrize("normalizer", ["gumbel:Gumbel", "softmax:Softmax"])
def test_importance_is_each_examples_own_gradient(keywords, classifier_spec, normalizer):
    """Batched with padding equals one example at a time, by finite differences of y_hat."""
    classifier_spec["model"]["encoder"] |= part(
        "architectures.transformer:Transformer", normalizer=part(f"normalizers.{normalizer}")
    )
    model = subject(classifier_spec, keywords).model
    split = keywords.split("test")
    scores = token_scores(model, collate(split, np.arange(5)))
    for example in range(5):
        batch = collate(split, np.array([example]))
        h0 = model.encoder.embedding(batch.tokens).detach()
        chosen = int(model(batch.tokens, batch.real).logits.argmax())

        def y_hat(h: Tensor, routing=None, batch=batch, chosen=chosen) -> float:
            logits = model(batch.tokens, batch.real, h0=h, routing=routing).logits
            return float(logits.detach().softmax(-1)[0, chosen])

        routing = [w.detach() for w in model(batch.tokens, batch.real).weights]
        embedded = model.encoder.embedding.tokens(batch.tokens).detach()
        for token in range(1, batch.tokens.shape[1]):
            free, held = torch.zeros(16).double(), torch.zeros(16).double()
            for d in range(16):
                step = torch.zeros_like(h0)
                step[0, token, d] = 1e-5
                free[d] = (y_hat(h0 + step) - y_hat(h0 - step)) / 2e-5
                held[d] = (y_hat(h0 + step, routing) - y_hat(h0 - step, routing)) / 2e-5
            assert float(scores.norm[example, token]) == pytest.approx(float(free.norm()), abs=1e-7)
            dot = abs(float(held @ embedded[0, token]))
            assert float(scores.dot[example, token]) == pytest.approx(dot, abs=1e-7)


def test_attention_received_is_summed_over_layers_heads_and_real_queries(keywords, classifier_spec):
    s = subject(classifier_spec, keywords)
    batch = collate(keywords.split("test"), np.arange(6))
    weights = s.model(batch.tokens, batch.real).weights
    received = token_scores(s.model, batch).attention
    for row in range(6):
        for token in range(batch.tokens.shape[1]):
            read = [layer[row, :, batch.real[row], token].detach().sum() for layer in weights]
            assert float(received[row, token]) == pytest.approx(float(sum(read)))


def test_tau_is_scipys_over_the_real_tokens_of_each_example(keywords, classifier_spec):
    s = subject(classifier_spec, keywords)
    measured = attention_importance(s)
    split = keywords.split("test")
    for name in ("tau_norm", "tau_dot"):
        taus = []
        for example in range(len(split)):
            batch = collate(split, np.array([example]))
            scores = token_scores(s.model, batch)
            importance = getattr(scores, name[4:]).detach().numpy()[0, 1:]
            taus.append(kendalltau(scores.attention.numpy()[0, 1:], importance).statistic)
        known = [tau for tau in taus if not math.isnan(tau)]
        found = measured.arrays[name]
        assert [t is None for t in found] == [math.isnan(t) for t in taus]
        assert [t for t in found if t is not None] == pytest.approx(known, abs=1e-5)
        assert measured.scalars[name]["value"] == pytest.approx(np.mean(known), abs=1e-6)
        assert measured.scalars[name]["std"] == pytest.approx(np.std(known, ddof=1), abs=1e-6)
        assert measured.scalars[f"undefined_{name}"]["value"] == len(taus) - len(known)


def test_tau_is_positive_where_attention_is_made_of_importance(keywords, classifier_spec):
    """A model that reads each token by its attention alone: tau must be near 1, not -1."""

    class Reader(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.token = nn.Embedding(9, 4).double()
            self.width = 4

        def embedding(self, tokens: Tensor) -> Tensor:
            return self.token(tokens)

        def forward(self, tokens, real, h0=None, routing=None, need_weights=True):
            from model.architectures.classifier import Prediction

            h = self.token(tokens) if h0 is None else h0
            raw = (torch.arange(tokens.shape[1]) % 5 + 1.0).double() * real
            weights = (raw / raw.sum(-1, keepdim=True))[:, None, None].expand(
                -1, 1, tokens.shape[1], -1
            )
            state = (weights[:, 0] @ h)[:, 0]
            return Prediction(state[:, :2], [weights])

    reader = Reader()
    reader.encoder = reader
    reader.embedding.__func__.tokens = lambda tokens: reader.token(tokens)
    measured = attention_importance(Subject(reader, keywords, CPU, 0))
    assert measured.scalars["tau_norm"]["value"] > 0.99


def test_likelihood_of_a_uniform_model_is_the_logarithm_of_the_vocabulary(copies, language_spec):
    s = subject(language_spec, copies)
    nn.init.zeros_(s.model.output.weight)
    nn.init.zeros_(s.model.output.bias)
    found = language_modelling(s).scalars
    assert found["nll"]["value"] == pytest.approx(math.log(9))
    assert found["excess"]["value"] == pytest.approx(math.log(9) - 1.0)


def test_spans_by_hand():
    assert true_spans(torch.tensor([[0, 1, 1]])).tolist() == [[[1, 0, 0], [0, 1, 0], [0, 1, 1]]]


class Scripted(nn.Module):
    """A language model whose single head looks where it is told: position i at target[i]."""

    def __init__(self, target: list[int]) -> None:
        super().__init__()
        self.weights = one_hot_argmax(torch.eye(len(target))[target])[None, None]

    def forward(self, tokens, real):
        from model.architectures.language_model import NextSymbol

        return NextSymbol(
            torch.zeros(*tokens.shape, 9), [self.weights.expand(len(tokens), -1, -1, -1)]
        )


def test_precision_and_recall_by_hand(tmp_path):
    """One sequence of four symbols with dependencies {0}, {0,1}, {2}; BOS is position 0."""
    columns = {"test": {"span_start": [0, 0, 2, 0]}}
    corpus = write_corpus(tmp_path / "c", {"test": [[3, 4, 5, 6]]}, 9, {}, columns)
    # Fields in symbol positions: {0}, {0,1} and {2,1}.
    model = Scripted([0, 1, 1, 2])
    found = receptive_fields(Subject(model, corpus, CPU, 0))
    expected = {
        "precision": 4 / 5, "recall": 1, "f1": 8 / 9, "precision_macro": (1 + 1 + 0.5) / 3,
        "f1_macro": (1 + 1 + 2 / 3) / 3, "exact": 2 / 3, "field_size": 5 / 3, "span_size": 4 / 3,
    }  # fmt: skip
    assert {name: values(found)[name] for name in expected} == pytest.approx(expected)
    assert found.arrays["span_length"] == [1, 2]
    assert found.arrays["exact"] == [0.5, 1.0]
    assert found.arrays["example_span"] == [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    assert found.arrays["example_field"] == [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    assert found.arrays["example_symbols"] == ["s3", "s4", "s5", "s6"]


def test_only_decisions_behind_the_prediction_count_as_flips():
    before = [one_hot_argmax(torch.eye(3)[[0, 0, 1]])[None, None] for _ in range(2)]
    at = torch.tensor([2])
    same = [w.clone() for w in before]
    assert not tree_differs(before, same, at)
    aside = [w.clone() for w in before]
    aside[1][0, 0, 0] = torch.tensor([0.0, 0, 1])
    assert not tree_differs(before, aside, at)
    # Position 2 reads position 1 at the last layer, so 1's own decision one layer below counts.
    below = [w.clone() for w in before]
    below[0][0, 0, 1] = torch.tensor([0.0, 1, 0])
    assert tree_differs(before, below, at)


def test_flips_never_happen_where_routing_ignores_the_tokens(tmp_path):
    corpus = write_corpus(tmp_path / "c", {"test": [[3, 4, 5, 6, 7]] * 4}, 9, {})
    found = routing_flips(Subject(Scripted([0, 0, 1, 2, 3]), corpus, CPU, 0), causal=True)
    assert found.scalars["flip_rate"]["value"] == 0
    assert found.scalars["flip_rate"]["n"] > 0


def test_flips_happen_where_the_controller_reads_the_tokens(keywords, classifier_spec):
    rates = [routing_flips(subject(classifier_spec, keywords, seed), causal=False).scalars
             for seed in range(3)]  # fmt: skip
    assert max(rate["flip_rate"]["value"] for rate in rates) > 0
    assert all(0 <= rate["outside"]["value"] <= 1 for rate in rates)


def test_a_trained_model_is_measured_as_it_is(keywords, classifier_spec):
    classifier_spec["training"]["epochs"] = 8
    s, _ = learned(classifier_spec, keywords)
    found = accuracy(s).scalars
    assert found["accuracy"]["value"] > 85
    assert found["accuracy"]["n"] == 80
    hits = salience(s).scalars
    assert hits["importance_hit"]["value"] > hits["chance"]["value"] + 0.3
