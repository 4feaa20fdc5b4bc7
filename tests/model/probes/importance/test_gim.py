"""GIM by finite differences of a model whose constants stay, and where its correction vanishes."""

import pytest
import torch

from model.probes.importance.attnlrp import attnlrp
from model.probes.importance.gim import gim
from tests.model.probes.importance.untrained import ENCODERS, alone, biased, either, model_of, texts
from tests.model.specs import GUMBEL, SOFTMAX, part

norms = pytest.mark.parametrize("norm", ["pre", "post"])
SPARSE = part("normalizers.sparsemax:Sparsemax")


class Held:
    """A model of one text, written out; what GIM holds constant is what it was at first."""

    def __init__(self, model, temperature: float) -> None:
        self.model, self.temperature = model, temperature
        self.kept: list[torch.Tensor] = []

    def at_first(self, x):
        if self.first:
            self.kept.append(x)
        self.place += 1
        return self.kept[self.place - 1]

    def norm(self, norm, x):
        deviation = self.at_first((x.var(dim=-1, correction=0, keepdim=True) + norm.eps).sqrt())
        return (x - x.mean(dim=-1, keepdim=True)) / deviation * norm.weight + norm.bias

    def product(self, a, b):
        return (a @ self.at_first(b) + self.at_first(a) @ b) / 2

    def weights(self, f, scores):
        soft = self.temperature * f(scores / self.temperature)
        return self.at_first(f(scores)) + soft - self.at_first(soft)

    def scores(self, routing, x):
        q, k = (linear(x).unflatten(-1, (routing.heads, -1)).transpose(0, 1)
                for linear in (routing.query, routing.key))  # fmt: skip
        return self.product(q / q.shape[-1] ** 0.5, k.mT)

    def layer(self, layer, h, weights, discrete):
        """A layer's output; its weights are a function of what it reads."""
        x = self.norm(layer.attend.norm, h) if layer.attend.pre else h
        v = layer.values.value(x).unflatten(-1, (layer.values.heads, -1)).transpose(0, 1)
        a = weights(x)
        read = self.at_first(a) @ v if discrete else self.product(a, v)
        h = h + layer.values.output(read.transpose(0, 1).flatten(1))
        h = h if layer.attend.pre else self.norm(layer.attend.norm, h)
        y = self.norm(layer.transform.norm, h) if layer.attend.pre else h
        h = h + layer.feed_forward(y)
        return h if layer.attend.pre else self.norm(layer.transform.norm, h)

    def __call__(self, discrete: bool, label: int, h, g):
        self.first, self.place, encoder = not self.kept, 0, self.model.encoder
        softmax = torch.nn.Softmax(dim=-1)
        for place, layer in enumerate(getattr(encoder, "model_stream", None) or encoder.layers):
            if hasattr(encoder, "controller"):
                routes, f = encoder.controller[place], encoder.normalizers[place]
                x = self.norm(routes.attend.norm, g) if routes.attend.pre else g
                a = self.weights(f, self.scores(routes.routing, x))
                h = self.layer(layer, h, lambda _, a=a: a, discrete)
                g = self.layer(
                    routes, g, lambda x, r=routes.routing: self.weights(softmax, self.scores(r, x)),
                    False,
                )  # fmt: skip
            else:
                of = layer.routing, layer.normalizer
                h = self.layer(
                    layer, h, lambda x, of=of: self.weights(of[1], self.scores(of[0], x)), discrete
                )
        last = (
            h[:1] if isinstance(encoder.norm, torch.nn.Identity) else self.norm(encoder.norm, h[:1])
        )
        return float(self.model.output(last)[0, label])


@norms
@either
@pytest.mark.parametrize("normalizer", [SOFTMAX, SPARSE, GUMBEL], ids=["soft", "sparse", "gumbel"])
def test_gim_by_finite_differences(keywords, classifier_spec, encoder, normalizer, norm):
    model = biased(model_of(classifier_spec, encoder, normalizer, norm=norm))
    embeddings = [model.encoder.embedding]
    if encoder == ENCODERS[1]:
        embeddings.append(model.encoder.controller_embedding)
    for example in range(2):
        batch = alone(keywords, example)
        with torch.no_grad():
            label = int(model(batch.tokens, batch.real).logits.argmax())
            starts = [embedding(batch.tokens)[0] for embedding in embeddings]
            held = Held(model, 2.0)

            def y(h, g=None, held=held, label=label):
                return held(normalizer is GUMBEL, label, h, g)

            whole = float(model(batch.tokens, batch.real).logits[0, label])
            assert y(*starts) == pytest.approx(whole)
            expected = []
            for token in range(batch.tokens.shape[1]):
                steps = [torch.zeros_like(start) for start in starts]
                for step, embedding in zip(steps, embeddings, strict=True):
                    word, unknown = embedding.tokens(torch.tensor([batch.tokens[0, token], 2]))
                    step[token] = 1e-5 * (word - unknown)
                up, down = (
                    y(*(start + sign * step for start, step in zip(starts, steps, strict=True)))
                    for sign in (1, -1)
                )
                expected.append((up - down) / 2e-5)
        assert gim(model, batch)[0].numpy() == pytest.approx(expected, abs=1e-7)


@either
def test_the_correction_vanishes_where_attention_is_an_argmax(keywords, classifier_spec, encoder):
    """The softmax's derivative at a temperature changes what soft attention is credited with."""
    batch = texts(keywords)
    soft = model_of(classifier_spec, encoder, SOFTMAX)
    assert not torch.allclose(gim(soft, batch), gim(soft, batch, temperature=1), atol=1e-6)
    discrete = model_of(classifier_spec, encoder, GUMBEL)
    corrected = gim(discrete, batch)
    assert torch.equal(corrected, gim(discrete, batch, temperature=1))
    discrete.encoder.embedding.token.weight.data[2] = 0  # <unk>, so that e_j is all there is
    assert torch.allclose(gim(discrete, batch), attnlrp(discrete, batch), atol=1e-12)
