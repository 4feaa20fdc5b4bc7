"""The truth against brute force, average precision against scikit-learn, and the evaluator."""

import numpy as np
import pytest
import torch
from scipy.stats import kendalltau
from sklearn.metrics import average_precision_score

from model.architectures.classifier import Prediction
from model.batches.batching import collate
from model.probes.fields.influence import SAME, influence, words_to_try
from model.probes.importance.attribution import CONTROL, attribution, average_precision
from model.probes.importance.deletion import deletion
from model.probes.importance.explanations import explanations
from model.probes.kendall import tau_b
from model.probes.measure import Subject
from tests.model.corpora import learned, uneven, values
from tests.model.specs import GUMBEL, SOFTMAX

ENCODERS = ["transformer:Transformer", "two_stream:TwoStreamTransformer"]
METHODS = list(explanations(1))


def subject(spec, corpus, encoder: str, normalizer=GUMBEL) -> Subject:
    """An untrained model whose attention is far from even."""
    return uneven(spec, corpus, normalizer, encoder)


def brute_force(model, text: list[int]) -> tuple[set[int], np.ndarray]:
    """The field of a text, and how far each word moves the prediction in the place of a token."""

    def run(tokens: list[int]):
        given = torch.tensor([tokens])
        with torch.no_grad():
            return model(given, torch.ones_like(given, dtype=torch.bool))

    before = run(text)
    field = {0}
    for layer in reversed(before.weights):
        field |= {int(key) for query in field for key in layer[0, :, query].nonzero()[:, 1]}
    moved = np.zeros((len(text), 6))
    for token in range(1, len(text)):
        for word in range(3, 9):
            after = run([*text[:token], word, *text[token + 1 :]])
            moved[token, word - 3] = float(
                (after.logits.softmax(-1) - before.logits.softmax(-1)).abs().max()
            )
    return field, moved


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("together", [16384, 150])
def test_the_truth_is_found_by_all_replacements(
    keywords, classifier_spec, encoder, together, monkeypatch
):
    monkeypatch.setattr("model.probes.fields.influence.TOGETHER", together)
    model = subject(classifier_spec, keywords, encoder).model
    split = keywords.split("test")
    flips = 0
    for example in range(8):
        text = collate(split, np.array([example])).tokens[0]
        found = influence(model, text, words_to_try(9, 100, seed=0))
        field, moved = brute_force(model, text.tolist())
        assert set(found.field.nonzero()[:, 0].tolist()) == field
        assert found.largest.numpy() == pytest.approx(moved.max(axis=1), abs=1e-9)
        assert found.mean.numpy() == pytest.approx(moved.mean(axis=1), abs=1e-9)
        outside = {token for token in range(len(text)) if moved[token].max() > SAME} - field
        assert set(found.matters.nonzero()[:, 0].tolist()) == field | outside
        flips += len(outside)
    assert flips > 0


def test_fewer_words_are_drawn_by_the_seed_and_find_no_more(keywords, classifier_spec):
    every = words_to_try(9, 100, seed=0)
    assert sorted(every.tolist()) == [3, 4, 5, 6, 7, 8]
    assert words_to_try(1000, 20, seed=1).tolist() == words_to_try(1000, 20, seed=1).tolist()
    assert words_to_try(1000, 20, seed=1).tolist() != words_to_try(1000, 20, seed=2).tolist()
    model = subject(classifier_spec, keywords, ENCODERS[1]).model
    text = collate(keywords.split("test"), np.array([3])).tokens[0]
    some, all_of_them = (influence(model, text, words).largest for words in (every[:1], every))
    assert (some <= all_of_them + 1e-9).all()


def test_average_precision_is_scikit_learns():
    """With ties, and tokens that are not ranked."""
    random = np.random.default_rng(0)
    scores = random.integers(0, 5, (40, 12)) / 4
    inner = np.arange(12) < random.integers(4, 13, 40)[:, None]
    truth = (random.random((40, 12)) < 0.4) & inner
    truth[0], truth[1] = False, inner[1]
    found = average_precision(*(torch.from_numpy(part) for part in (scores, truth, inner)))
    assert found[:2].isnan().all()
    for row in range(2, 40):
        expected = average_precision_score(truth[row, inner[row]], scores[row, inner[row]])
        assert float(found[row]) == pytest.approx(expected)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_each_text_is_scored_as_it_is_alone(keywords, classifier_spec, encoder):
    """The precision of what matters has one word to try, as with all everything does."""
    s = subject(classifier_spec, keywords, encoder)
    split, methods = keywords.split("test"), explanations(steps=4)
    (word,) = words_to_try(9, 1, seed=0).tolist()
    truths = ("matters", "field", "effect")
    expected = {f"{truth}_{name}": [] for truth in truths for name in methods}
    shares = []
    for example in range(0, 80, 8):
        batch = collate(split, np.array([example]))
        field, moved = brute_force(s.model, batch.tokens[0].tolist())
        effect = moved[1:, word - 3]
        read = np.array([token in field for token in range(1, len(moved))])
        matters = read | (effect > SAME)
        shares.append([matters.mean(), read.mean()])
        for name, explain in methods.items():
            scores = explain(s.model, batch)[0, 1:].abs().numpy()
            for kind, truth in (("matters", matters), ("field", read)):
                if any(truth) and not all(truth):
                    precision = average_precision_score(truth, scores)
                    expected[f"{kind}_{name}"].append(precision)
            expected[f"effect_{name}"].append(kendalltau(scores, effect).statistic)
    found = attribution(s, examples=10, replacements=1, steps=4, tokens=60).scalars
    shown = [found["matters"]["value"], found["field"]["value"]]
    assert shown == pytest.approx(np.mean(shares, axis=0))
    for name, values_of in expected.items():
        known = [value for value in values_of if not np.isnan(value)]
        assert found[name]["n"] == len(known) > 0, name
        assert found[name]["value"] == pytest.approx(np.mean(known), abs=2e-3), name


def test_comprehensiveness_and_sufficiency_are_those_of_deletion(keywords, classifier_spec):
    """With soft weights, whose rankings have no ties; and then there is no truth to find."""
    s = subject(classifier_spec, keywords, ENCODERS[0], SOFTMAX)
    expected = values(deletion(s))
    found = values(attribution(s, examples=80, replacements=2, steps=2))
    for measure in ("comprehensiveness", "sufficiency"):
        assert found[f"{measure}_attention"] == pytest.approx(expected[measure])
        assert found[f"{measure}_gradient"] == pytest.approx(expected[f"{measure}_gradient"])
        assert found[f"field_by_{measure}"] is None
        assert found[f"effect_by_{measure}"] is not None
    assert found["matters"] == found["field"] == 1
    for name in [*METHODS, CONTROL]:
        assert found[f"matters_{name}"] is None
        assert found[f"field_{name}"] is None


def test_methods_are_ranked_by_their_means(keywords, classifier_spec):
    classifier_spec["training"]["epochs"] = 4
    trained, _ = learned(classifier_spec, keywords)
    measured = attribution(trained, examples=40, steps=4)
    assert measured == attribution(trained, examples=40, steps=4)
    assert not measured.arrays
    found = values(measured)
    eight = np.array([8])
    needed, lacking, effect = (
        np.array([[found[f"{name}_{method}"] for method in METHODS]], dtype=float)
        for name in ("comprehensiveness", "sufficiency", "effect")
    )
    by_needed, by_lacking = tau_b(effect, needed, eight)[0], tau_b(effect, -lacking, eight)[0]
    assert found["effect_by_comprehensiveness"] == pytest.approx(by_needed)
    assert found["effect_by_sufficiency"] == pytest.approx(by_lacking)
    assert found["effect_occlusion"] > found[f"effect_{CONTROL}"] + 0.2
    assert found["comprehensiveness_occlusion"] > found[f"comprehensiveness_{CONTROL}"]


class Pointer(torch.nn.Module):
    """Reads word 3 if it comes first, else the second word: the others can never matter."""

    def __init__(self) -> None:
        super().__init__()
        self.says = torch.nn.Parameter(torch.linspace(-2, 2, 9).double())

    def forward(self, tokens, real, need_weights=True):
        at = torch.where(tokens[:, 1] == 3, 1, 2)
        weights = torch.zeros(len(tokens), 1, tokens.shape[1], tokens.shape[1])
        weights[torch.arange(len(tokens)), 0, 0, at] = 1
        told = self.says[tokens.gather(1, at[:, None])[:, 0]]
        return Prediction(torch.stack([told, -told], dim=1), [weights])


def test_a_flip_by_hand():
    """The first word is outside the field and decides what is read; the third does not matter."""
    words, first_of = words_to_try(9, 9, 0), torch.tensor([1, 5, 6, 7])
    found = influence(Pointer(), first_of, words)
    assert found.field.tolist() == [True, False, True, False]
    assert found.matters.tolist() == [True, True, True, False]
    assert (found.mean > 0).tolist() == [False, True, True, False]
    found = influence(Pointer(), torch.tensor([1, 3, 6, 7]), words)
    assert found.field.tolist() == [True, True, False, False]
    assert found.matters.tolist() == [True, True, False, False]
