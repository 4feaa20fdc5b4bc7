"""AttnLRP against the paper's rules, one operation after another, and its conservation."""

import pytest
import torch

from model.probes.importance.attnlrp import attnlrp, rules, slopes
from tests.model.probes.importance.untrained import (
    ENCODERS,
    alone,
    biased,
    both,
    either,
    model_of,
    texts,
)
from tests.model.specs import GUMBEL, SOFTMAX, part

norms = pytest.mark.parametrize("norm", ["pre", "post"])
SPARSE = part("normalizers.sparsemax:Sparsemax")


def share(relevance, z):
    """R / z, and 0 where nothing is to be shared out."""
    return torch.where(z == 0, 0, relevance / torch.where(z == 0, 1, z))


def through_linear(layer, x, relevance):
    """The first rule, `eq. 8`."""
    return x * (share(relevance, layer(x)) @ layer.weight)


def through_product(a, b, relevance):
    """Proposition 3.3, of a product of matrices."""
    shared = share(relevance, a @ b) / 2
    return a * (shared @ b.mT), b * (a.mT @ shared)


def through_norm(norm, x, relevance):
    """Proposition 3.4: x is centred by a matrix, divided by a constant, and scaled."""
    width = x.shape[-1]
    centre = torch.eye(width).double() - 1 / width
    scale = norm.weight / (x.var(dim=-1, correction=0, keepdim=True) + norm.eps).sqrt()
    return x * ((share(relevance, norm(x)) * scale) @ centre)


def through_weights(normalizer, scores, relevance):
    """Proposition 3.1, and for others than the softmax what it follows from."""
    weights = normalizer(scores)
    if "Softmax" in type(normalizer).__name__:
        return scores * (relevance - weights * relevance.sum(dim=-1, keepdim=True))
    jacobian = torch.stack([torch.autograd.functional.jacobian(normalizer, row) for row in scores])
    return scores * (jacobian.mT @ share(relevance, weights)[..., None])[..., 0]


def through_layer(layer, h, relevance):
    """What the input h (T, D) of a layer gets of the relevance of its output."""
    pre = layer.attend.pre
    x = layer.attend.norm(h) if pre else h
    q, k, v = (linear(x) for linear in (layer.routing.query, layer.routing.key, layer.values.value))
    heads, size = layer.values.heads, x.shape[1] // layer.values.heads
    per_head = [slice(size * head, size * (head + 1)) for head in range(heads)]
    scores = [q[:, at] / size**0.5 @ k[:, at].T for at in per_head]
    read = [layer.normalizer(s) @ v[:, at] for s, at in zip(scores, per_head, strict=True)]
    context = torch.cat(read, dim=1)
    after = h + layer.values.output(context)
    middle = after if pre else layer.attend.norm(after)
    y = layer.transform.norm(middle) if pre else middle
    first, relu, _, second = layer.feed_forward
    last = middle + second(relu(first(y)))

    if not pre:
        relevance = through_norm(layer.transform.norm, last, relevance)
    shared = share(relevance, last)
    inner = through_linear(second, relu(first(y)), shared * (last - middle))
    inner = through_linear(first, y, inner)
    inner = through_norm(layer.transform.norm, middle, inner) if pre else inner
    relevance = shared * middle + inner
    if not pre:
        relevance = through_norm(layer.attend.norm, after, relevance)
    shared = share(relevance, after)
    of_context = through_linear(layer.values.output, context, shared * (after - h))
    parts = [torch.zeros_like(x) for _ in range(3)]
    for s, at in zip(scores, per_head, strict=True):
        weights = layer.normalizer(s)
        of_weights, parts[2][:, at] = through_product(weights, v[:, at], of_context[:, at])
        of_scores = through_weights(layer.normalizer, s, of_weights)
        parts[0][:, at], of_keys = through_product(q[:, at] / size**0.5, k[:, at].T, of_scores)
        parts[1][:, at] = of_keys.T
    linears = (layer.routing.query, layer.routing.key, layer.values.value)
    inner = sum(through_linear(layer, x, part) for layer, part in zip(linears, parts, strict=True))
    inner = through_norm(layer.attend.norm, h, inner) if pre else inner
    return shared * h + inner


@norms
@pytest.mark.parametrize("normalizer", [SOFTMAX, SPARSE], ids=["softmax", "sparsemax"])
def test_relevance_follows_the_rules_of_the_paper(keywords, classifier_spec, normalizer, norm):
    model = biased(model_of(classifier_spec, ENCODERS[0], normalizer, norm=norm))
    for example in range(3):
        batch = alone(keywords, example)
        with torch.no_grad():
            states = [model.encoder.embedding(batch.tokens)[0]]
            for layer in model.encoder.layers:
                states.append(layer(states[-1][None], torch.zeros(1), None, True)[0][0])
            logits = model(batch.tokens, batch.real).logits[0]
            last = model.encoder.norm(states[-1])
            relevance = torch.zeros_like(last)
            picked = torch.where(logits == logits.max(), logits, 0)
            relevance[0] = through_linear(model.output, last[0], picked)
            if norm == "pre":
                relevance = through_norm(model.encoder.norm, states[-1], relevance)
            for layer, h in zip(reversed(model.encoder.layers), states[-2::-1], strict=True):
                relevance = through_layer(layer, h, relevance)
            words = model.encoder.embedding.tokens(batch.tokens)[0]
            expected = (share(relevance, states[0]) * words).sum(dim=-1)
        assert torch.allclose(attnlrp(model, batch)[0], expected, atol=1e-9)
        assert expected.abs().max() > 1e-3


@norms
@either
def test_relevance_is_conserved_where_weights_are_discrete(
    keywords, classifier_spec, encoder, norm
):
    """Without biases, what positions and tokens get is the logit."""
    model = model_of(classifier_spec, encoder, GUMBEL, norm=norm)
    model.output.bias.data.zero_()
    batch = texts(keywords)
    hooks = list(rules(model, batch))
    ((_, slope),) = slopes(model, batch)
    for hook in hooks:
        hook.remove()
    h0 = model.encoder.embedding(batch.tokens)
    logits = model(batch.tokens, batch.real).logits.amax(dim=-1)
    assert torch.allclose((slope * h0).sum(dim=(1, 2)), logits, atol=1e-9)


@either
@both
def test_the_model_is_left_as_it_was(keywords, classifier_spec, encoder, normalizer):
    model, batch = model_of(classifier_spec, encoder, normalizer), texts(keywords)
    before = model(batch.tokens, batch.real).logits
    for hook in list(rules(model, batch)):
        assert torch.allclose(model(batch.tokens, batch.real).logits, before, atol=1e-12)
        hook.remove()
    attnlrp(model, batch)
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())
