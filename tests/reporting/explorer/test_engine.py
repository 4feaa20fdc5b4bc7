"""What the page computes, against the models themselves."""

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Page

from model.layers.receptive_field import receptive_field
from model.probes.fields.flips import tree_differs
from tests.reporting.conftest import Open
from tests.reporting.explorer.conftest import Models
from tests.reporting.explorer.pages import WORDS, changes, nodes, of_torch, sentences

KEYS = [(kind, name) for kind, name, _ in nodes()]
DISCRETE = [("next", "Gumbel"), ("class", "Gumbel"), ("class", "two_stream"), ("class", "shared")]
COUNTS = {1: 1, 2: 10, 13: 40, 24: 20}
"""How many sentences of each length are computed."""
RUN = """async ([task, model, view, all]) => {
  const found = [];
  for (const tokens of all) {
    const asked = { ask: "run", task, model, view, tokens, at: 0 };
    const { weights, fields, logProbabilities } = await ask(asked);
    found.push({
      weights: weights.map((heads) => heads.map((rows) => [...rows])),
      field: [...fields], logProbabilities: [...logProbabilities],
    });
  }
  return found;
}"""


@pytest.mark.parametrize(("kind", "name"), KEYS)
def test_routing_fields_and_predictions_are_those_of_torch(
    opened: Open, models: Models, kind: str, name: str
) -> None:
    page = opened()
    views = (0, 1) if kind == "views" else (0,)
    for view, (length, count) in itertools.product(views, COUNTS.items()):
        tokens = sentences(count, length, seed=length)
        found = page.evaluate(RUN, [kind, name, view, tokens.tolist()])
        predicted, weights = of_torch(models[kind, name].double(), tokens, view)
        shape = weights[0].shape[1:]
        for example, one in enumerate(found):
            np.testing.assert_allclose(
                one["logProbabilities"], predicted[example].flatten(), rtol=0, atol=1e-9
            )
            for ours, theirs in zip(one["weights"], weights, strict=True):
                given = np.array(ours).reshape(shape)
                np.testing.assert_allclose(given, theirs[example], rtol=0, atol=1e-6)
                np.testing.assert_array_equal(given.argmax(-1), theirs[example].argmax(-1))
                np.testing.assert_array_equal(given > 0, theirs[example] > 0)
        field = receptive_field(weights) > 0
        np.testing.assert_array_equal([one["field"] for one in found], field.flatten(1).int())


@pytest.mark.parametrize(("kind", "name"), DISCRETE)
def test_what_the_page_says_cannot_change_a_prediction_does_not(
    opened: Open, models: Models, kind: str, name: str
) -> None:
    """10,000 triples in all: a sentence, a token outside the field, another word."""
    model, random = models[kind, name].double(), np.random.default_rng(0)
    tokens = sentences(2500, 9, seed=5)
    at = random.integers(1, 9, len(tokens)) if kind == "next" else np.zeros(len(tokens), int)
    _, before = of_torch(model, tokens)
    field = receptive_field(before)[torch.arange(len(tokens)), torch.from_numpy(at)] > 0
    places, changed = [], tokens.clone()
    for example, position in enumerate(at):
        seen = range(1, position + 1 if kind == "next" else 9)
        free = [j for j in seen if not field[example, j]]
        places.append(int(random.choice(free)) if free else 0)
        others = [word for word in range(3, len(WORDS)) if word != tokens[example, places[-1]]]
        changed[example, places[-1]] = int(random.choice(others))
    kept = [example for example, place in enumerate(places) if place]
    assert len(kept) > 1000
    predicted, _ = of_torch(model, tokens)
    after, routed = of_torch(model, changed)
    rows = torch.arange(len(tokens))
    if kind == "next":
        predicted, after = (one[rows, torch.from_numpy(at)] for one in (predicted, after))
    asked = [[tokens[i].tolist(), int(at[i]), places[i], int(changed[i, places[i]])] for i in kept]
    outside, flips, same = np.array(changes(opened(), kind, name, asked)).T
    assert outside.all()
    np.testing.assert_array_equal(flips, tree_differs(before, routed, torch.from_numpy(at))[kept])
    # Without a flip nothing changes, here and in torch; with flips most predictions do.
    assert same[~flips].all() and not same[flips].all()
    assert torch.equal(predicted[kept][~flips], after[kept][~flips])


def test_a_word_within_the_field_may_change_it_without_a_flip(opened: Open) -> None:
    tokens = sentences(300, 6, seed=3)
    asked = [[one.tolist(), 5, 5, 3 + (int(one[5]) - 2) % (len(WORDS) - 3)] for one in tokens]
    outside, flips, same = np.array(changes(opened(), "next", "Gumbel", asked)).T
    assert not outside.any() and not same.any() and not flips.all()


def answers(page: Page, question: dict[str, object]) -> Any:
    return page.evaluate("(question) => ask(question)", question)


def test_a_search_tries_every_word(opened: Open) -> None:
    tokens = sentences(1, 8, seed=1)[0].tolist()
    question = {"task": "class", "model": "Gumbel", "view": 0, "tokens": tokens}
    question |= {"at": 0, "place": 4}
    words = list(range(3, len(WORDS)))
    page = opened()
    found = answers(page, {"ask": "search", "words": words, **question})
    single = [answers(page, {"ask": "counterfactual", "word": word, **question}) for word in words]
    assert [one["word"] for one in found] == words
    assert [one["flips"] for one in found] == [one["flips"] for one in single]
    (own,) = (one for one in found if one["word"] == tokens[4])
    assert own["same"] and own["flips"] == []
