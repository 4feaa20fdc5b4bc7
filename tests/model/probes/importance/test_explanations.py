"""Explanations against slow loops, finite differences and explicit products of matrices."""

import numpy as np
import pytest
import torch

from model.probes.importance.classification import token_scores
from model.probes.importance.explanation_ranks import all_explanations
from model.probes.importance.explanations import (
    attcat,
    explanations,
    gradient_input,
    integrated_gradients,
    occlusion,
    predicted,
    rollout,
    value_norm,
)
from tests.model.probes.importance.untrained import (
    ENCODERS,
    alone,
    both,
    either,
    layers_of,
    model_of,
    states_of,
    texts,
)
from tests.model.specs import GUMBEL, SOFTMAX


@either
@both
def test_a_text_in_a_batch_has_the_scores_that_it_has_alone(
    keywords, classifier_spec, encoder, normalizer
):
    model = model_of(classifier_spec, encoder, normalizer)
    batch = texts(keywords)
    for name, explain in all_explanations(steps=3).items():
        scores = explain(model, batch)
        assert scores.shape == batch.tokens.shape
        assert not scores.requires_grad
        for row in range(len(scores)):
            expected = explain(model, alone(keywords, row))[0, 1:]
            own = scores[row, 1 : len(expected) + 1]
            assert torch.allclose(own, expected, atol=1e-9), name


def test_attention_and_the_norm_of_the_gradient_are_those_of_tau(keywords, classifier_spec):
    model = model_of(classifier_spec, ENCODERS[1], GUMBEL)
    scores, methods = token_scores(model, texts(keywords)), explanations(steps=1)
    assert torch.equal(methods["attention"](model, texts(keywords)), scores.attention)
    assert torch.equal(methods["gradient"](model, texts(keywords)), scores.norm)


@either
@both
def test_rollout_is_the_product_of_the_layers(keywords, classifier_spec, encoder, normalizer):
    model = model_of(classifier_spec, encoder, normalizer)
    batch = texts(keywords)
    weights = [w.detach().numpy() for w in model(batch.tokens, batch.real).weights]
    found = rollout(model, batch)
    for row in range(len(found)):
        flow = np.eye(batch.tokens.shape[1])
        for layer in weights:
            heads = sum(layer[row]) / len(layer[row])
            flow = (0.5 * heads + 0.5 * np.eye(len(flow))) @ flow
        assert found[row].numpy() == pytest.approx(flow[0])
        assert float(found[row].sum()) == pytest.approx(1)


@either
@both
def test_value_norms_are_the_slow_loop(keywords, classifier_spec, encoder, normalizer):
    model = model_of(classifier_spec, encoder, normalizer)
    for example in range(4):
        batch = alone(keywords, example)
        states, weights = states_of(model, batch)
        length = batch.tokens.shape[1]
        expected = np.zeros(length)
        for layer, state, w in zip(layers_of(model), states, weights, strict=True):
            x = layer.attend.enter(state)[0].detach()
            for j in range(length):
                for i in range(length):
                    only = torch.zeros_like(w[:, :, :1])
                    only[..., j] = w[:, :, i : i + 1, j]
                    read = layer.values(x[None], only) - layer.values.output.bias
                    expected[j] += float(read.detach().norm())
        assert value_norm(model, batch)[0].numpy() == pytest.approx(expected, abs=1e-7)


@either
def test_gradient_times_input_by_finite_differences(keywords, classifier_spec, encoder):
    model = model_of(classifier_spec, encoder)
    for example in range(4):
        batch = alone(keywords, example)
        label = int(predicted(model, batch))
        h0 = model.encoder.embedding(batch.tokens).detach()
        words = model.encoder.embedding.tokens(batch.tokens).detach()

        def y(h, batch=batch, label=label) -> float:
            logits = model(batch.tokens, batch.real, h0=h).logits
            return float(logits.detach().softmax(-1)[0, label])

        found = gradient_input(model, batch)[0]
        for token in range(1, batch.tokens.shape[1]):
            step = torch.zeros_like(h0)
            step[0, token] = 1e-6 * words[0, token]
            slope = (y(h0 + step) - y(h0 - step)) / 2e-6
            assert float(found[token]) == pytest.approx(slope, abs=1e-7)


@pytest.mark.parametrize(
    ("encoder", "normalizer"),
    [(ENCODERS[0], SOFTMAX), (ENCODERS[1], SOFTMAX), (ENCODERS[1], GUMBEL)],
)
def test_integrated_gradients_are_complete(keywords, classifier_spec, encoder, normalizer):
    """They sum to what y changes by, where routing is soft or made by the other stream."""
    model = model_of(classifier_spec, encoder, normalizer)
    batch = texts(keywords)
    label = predicted(model, batch)[:, None]
    words = model.encoder.embedding.tokens(batch.tokens).detach()
    words[:, 0] = 0
    text = model.encoder.embedding(batch.tokens).detach()
    y, nothing = (
        model(batch.tokens, batch.real, h0=h).logits.detach().softmax(-1).gather(1, label)[:, 0]
        for h in (text, text - words)
    )
    scores = integrated_gradients(model, batch, steps=300)
    total = (scores * batch.real)[:, 1:].sum(dim=1)
    assert torch.allclose(total, y - nothing, atol=1e-3)
    assert (y - nothing).abs().max() > 0.05


@either
@both
def test_occlusion_is_the_slow_loop(keywords, classifier_spec, encoder, normalizer, monkeypatch):
    monkeypatch.setattr("model.probes.importance.explanations.TOGETHER", 40)
    model = model_of(classifier_spec, encoder, normalizer)
    batch = texts(keywords)
    found = occlusion(model, batch)
    for row in range(len(found)):
        text = alone(keywords, row)
        y = model(text.tokens, text.real).logits.detach().softmax(-1)[0]
        for token in range(1, text.tokens.shape[1]):
            hidden = text.tokens.clone()
            hidden[0, token] = 2
            less = model(hidden, text.real).logits.detach().softmax(-1)[0]
            expected = float(y.max() - less[y.argmax()])
            assert float(found[row, token]) == pytest.approx(expected, abs=1e-12)


@either
@both
def test_attcat_is_the_sum_of_its_layers(keywords, classifier_spec, encoder, normalizer):
    """Every layer's part by finite differences along the state, run on from there by hand."""
    model = model_of(classifier_spec, encoder, normalizer)
    for example in range(3):
        batch = alone(keywords, example)
        states, weights = states_of(model, batch)
        label = int(predicted(model, batch))

        def y(first: int, h: torch.Tensor, weights=weights, label=label, batch=batch) -> float:
            mask = torch.zeros(1, 1, 1, h.shape[1])
            for layer, w in list(zip(layers_of(model), weights, strict=True))[first:]:
                h = layer(h, mask, None, True)[0] if hasattr(layer, "routing") else layer(h, w)
            logits = model.output(model.encoder.norm(h)[:, 0])
            return float(logits.detach().softmax(-1)[0, label])

        expected = np.zeros(batch.tokens.shape[1])
        for depth, (state, w) in enumerate(zip(states, weights, strict=True)):
            received = w[0].mean(dim=(0, 1))
            for token in range(len(expected)):
                step = torch.zeros_like(state)
                step[0, token] = 1e-6 * state[0, token]
                slope = (y(depth, state + step) - y(depth, state - step)) / 2e-6
                expected[token] += float(received[token]) * slope
        assert attcat(model, batch)[0].numpy() == pytest.approx(expected, abs=1e-7)
