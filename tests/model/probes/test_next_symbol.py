"""Language models as classifiers: against the models themselves, and every prefix on its own."""

import numpy as np
import pytest
import torch
from scipy.stats import kendalltau
from sklearn.metrics import average_precision_score

from model.batches.batching import Batch, collate
from model.batches.shortening import shortened
from model.build import build
from model.probes.fields.influence import SAME, influence
from model.probes.importance.attribution import attribution
from model.probes.importance.explanations import explanations
from model.probes.measure import Subject
from model.probes.next_symbol import as_classifier, beginnings, cut, predicting
from tests.model.corpora import sharpened
from tests.model.specs import SOFTMAX

WORDS = torch.arange(3, 9)
TEXT = torch.tensor([1, 4, 7, 5, 3, 8])


def subject_of(spec, corpus, normalizer=None) -> Subject:
    """A language model whose attention is far from even, in double precision."""
    if normalizer is not None:
        spec["model"]["decoder"]["normalizer"] = normalizer
    return sharpened(spec, corpus)


def after(model, text) -> torch.Tensor:
    """The distribution of the symbol after a text, by the language model alone."""
    given = torch.as_tensor(text)[None]
    with torch.no_grad():
        return model(given, torch.ones_like(given, dtype=torch.bool)).logits[0, -1].softmax(-1)


def truth(model, text: torch.Tensor) -> tuple[list[bool], list[float], list[float]]:
    """Of every symbol but BOS: whether it is read, and the largest and mean effect, in loops."""
    with torch.no_grad():
        weights = model(text[None], torch.ones_like(text[None], dtype=torch.bool)).weights
    field = {len(text) - 1}
    for layer in reversed(weights):
        field |= {int(key) for query in field for key in layer[0, :, query].nonzero()[:, 1]}
    before, largest, mean = after(model, text), [], []
    for place in range(1, len(text)):
        moved = []
        for word in WORDS.tolist():
            tried = [*text[:place].tolist(), word, *text[place + 1 :].tolist()]
            moved.append(float((after(model, tried) - before).abs().sum() / 2))
        largest.append(max(moved))
        mean.append(sum(moved) / len(moved))
    return [place in field for place in range(1, len(text))], largest, mean


def test_it_predicts_what_follows_each_text(copies, language_spec):
    model = subject_of(language_spec, copies).model
    seen = as_classifier(model)
    lengths = np.array([4, 7, 3])
    batch = cut(collate(copies.split("test"), np.arange(3)), lengths)
    assert batch.tokens.shape == (3, 7) and batch.padding == 7
    assert (batch.real.sum(dim=1).numpy() == lengths).all()
    found = seen(batch.tokens, batch.real).logits.softmax(-1)
    for row, length in enumerate(lengths):
        torch.testing.assert_close(found[row], after(model, batch.tokens[row, :length]))
    assert predicting(seen, batch.real).tolist() == [3, 6, 2]


def test_a_classifier_stays_one_and_reads_all(keywords, classifier_spec):
    model = build(classifier_spec["model"], vocabulary_size=9).eval()
    assert as_classifier(model) is model
    lengths = np.array([2, 9])
    assert (beginnings(model, lengths, np.random.default_rng(0)) == lengths).all()
    assert predicting(model, torch.ones(2, 3, dtype=torch.bool)).tolist() == [0, 0]


def test_beginnings_leave_a_symbol_to_predict(copies, language_spec):
    model = as_classifier(subject_of(language_spec, copies).model)
    lengths = np.repeat(np.arange(3, 9), 200)
    found = beginnings(model, lengths, np.random.default_rng(0))
    # BOS and two symbols at least, all but the last at most.
    for length in range(4, 9):
        assert sorted(set(found[lengths == length])) == list(range(3, length))
    assert set(found[lengths == 3]) == {3}


def test_the_truth_is_that_of_the_last_symbol(copies, language_spec):
    model = subject_of(language_spec, copies).model
    found = influence(as_classifier(model), TEXT, WORDS)
    field, largest, mean = truth(model, TEXT)
    assert found.field[1:].tolist() == field and not all(field)
    assert found.largest[1:].tolist() == pytest.approx(largest, abs=1e-9)
    assert found.mean[1:].tolist() == pytest.approx(mean, abs=1e-9)


def test_rollout_is_the_last_row_of_the_product(copies, language_spec):
    model = subject_of(language_spec, copies, SOFTMAX).model
    batch = Batch(TEXT[None], torch.ones(1, 6, dtype=torch.bool), {}, np.zeros(1), 0)
    with torch.no_grad():
        weights = model(batch.tokens, batch.real).weights
    product = torch.eye(6, dtype=torch.double)
    for layer in weights:
        product = (layer[0].mean(dim=0) + torch.eye(6)) / 2 @ product
    found = explanations(1)["rollout"](as_classifier(model), batch)
    torch.testing.assert_close(found[0], product[-1])


def test_the_gradient_is_that_of_the_symbol_after_the_text(copies, language_spec):
    """Against finite differences of the probability, along one direction an embedding."""
    model = subject_of(language_spec, copies, SOFTMAX).model
    real = torch.ones(1, 6, dtype=torch.bool)
    h0 = model.decoder.embedding(TEXT[None]).detach()
    label = int(after(model, TEXT).argmax())

    def probability(h: torch.Tensor) -> float:
        with torch.no_grad():
            return float(model(TEXT[None], real, h0=h).logits[0, -1].softmax(-1)[label])

    expected = []
    for place in range(6):
        slope = torch.zeros(h0.shape[-1], dtype=torch.double)
        for dimension in range(h0.shape[-1]):
            step = torch.zeros_like(h0)
            step[0, place, dimension] = 1e-6
            slope[dimension] = (probability(h0 + step) - probability(h0 - step)) / 2e-6
        expected.append(float(slope.norm()))
    batch = Batch(TEXT[None], real, {}, np.zeros(1), 0)
    found = explanations(1)["gradient"](as_classifier(model), batch)
    assert found[0].tolist() == pytest.approx(expected, abs=1e-6)


def test_each_beginning_is_scored_as_it_is_alone(copies, language_spec):
    s = subject_of(language_spec, copies)
    split, methods = copies.split("test"), explanations(2)
    # The corpus has 64 test sequences of six symbols; all are measured.
    seen = as_classifier(s.model)
    lengths = beginnings(seen, split.lengths + 1, np.random.default_rng(0))
    expected: dict[str, list[float]] = {"field": []}
    for example, length in enumerate(lengths):
        text = collate(split, np.array([example])).tokens[0, :length]
        field, largest, mean = truth(s.model, text)
        expected["field"].append(np.mean(field))
        batch = Batch(text[None], torch.ones(1, length, dtype=torch.bool), {}, np.zeros(1), 0)
        matters = [read or far > SAME for read, far in zip(field, largest, strict=True)]
        for name, explain in methods.items():
            scores = explain(seen, batch)[0, 1:].abs().numpy()
            for kind, known in (("field", field), ("matters", matters)):
                if any(known) and not all(known):
                    precision = average_precision_score(known, scores)
                    expected.setdefault(f"{kind}_{name}", []).append(precision)
            tau = kendalltau(scores, mean).statistic
            expected.setdefault(f"effect_{name}", []).append(tau)
    found = attribution(s, examples=64, steps=2, tokens=50).scalars
    for name, values in expected.items():
        known = [value for value in values if not np.isnan(value)]
        assert found[name]["value"] == pytest.approx(np.mean(known), abs=2e-3), name


def test_texts_get_shorter_where_tokens_are_taken_out():
    tokens = torch.tensor([[1, 5, 6, 7], [1, 8, 9, 0]])
    batch = Batch(tokens, tokens > 0, {}, np.zeros(2), 1)
    kept = np.array([[True, False, True, True], [True, False, True, False]])
    found, real = shortened(batch, kept)
    assert found.tolist() == [[1, 6, 7], [1, 9, 0]]
    assert real.tolist() == [[True, True, True], [True, True, False]]
