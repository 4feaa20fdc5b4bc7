"""ALTI-Logit against every term of the residual stream, carried to the logit by hand."""

import numpy as np
import pytest
import torch

from model.probes.importance.alti_logit import alti_logit
from tests.model.probes.importance.untrained import (
    alone,
    biased,
    both,
    either,
    layers_of,
    model_of,
    states_of,
)


def linear_part(norm, x, at):
    """Layer norm of x (..., D) without its bias, at the deviation of another state."""
    deviation = (at.var(correction=0) + norm.eps).sqrt()
    return (x - x.mean(dim=-1, keepdim=True)) / deviation * norm.weight


def share(norm, pre: bool, parts, rest):
    """C_i. (T,) of parts (T, D) and what else is in their sum, by the L1 norms."""
    z = parts.sum(dim=0) + rest
    if not pre:
        parts, z = linear_part(norm, parts, z), norm(z)
    near = [max(0.0, float(z.abs().sum() - (z - part).abs().sum())) for part in parts]
    return np.array(near) / sum(near)


def parts_of(layer, h, w, i: int):
    """What query i reads of every token (T, D), without the output's bias."""
    x, rows = layer.attend.enter(h[None]), []
    for j in range(len(h)):
        only = torch.zeros_like(w[:, :, :1])
        only[..., j] = w[:, :, i : i + 1, j]
        rows.append((layer.values(x, only) - layer.values.output.bias)[0, 0])
    return torch.stack(rows)


@pytest.mark.parametrize("norm", ["pre", "post"])
@either
@both
def test_updates_of_the_logit_are_complete(keywords, classifier_spec, encoder, normalizer, norm):
    """With all other terms they sum to the logit, and each goes to its tokens by ALTI."""
    model = biased(model_of(classifier_spec, encoder, normalizer, norm=norm))
    pre = norm == "pre"
    for example in range(3):
        batch = alone(keywords, example)
        states, weights = states_of(model, batch)
        with torch.no_grad():
            logits = model(batch.tokens, batch.real).logits[0]
            label, length = int(logits.argmax()), batch.tokens.shape[1]
            terms = {"start": states[0][0, 0]}
            mixes = [np.eye(length)]
            for depth, (layer, state, w) in enumerate(
                zip(layers_of(model), states, weights, strict=True)
            ):
                h, bias = state[0], layer.values.output.bias
                read = [parts_of(layer, h, w, i) for i in range(length)]
                own = torch.eye(length).double()[:, :, None] * h
                mix = [share(layer.attend.norm, pre, r + o, bias)
                       for r, o in zip(read, own, strict=True)]  # fmt: skip
                mixes.append(np.stack(mix) @ mixes[-1])
                terms |= {(depth, j): part for j, part in enumerate(read[0])}
                terms[f"output bias {depth}"] = bias
                h = middle = h + torch.stack(read).sum(dim=1) + bias
                if not pre:
                    terms = {n: linear_part(layer.attend.norm, t, h[0]) for n, t in terms.items()}
                    terms[f"norm bias {depth}"] = layer.attend.norm.bias
                    middle = layer.attend.norm(h)
                terms[f"feed-forward {depth}"] = layer.feed_forward(
                    layer.transform.enter(middle[None])
                )[0, 0]
                last = middle[0] + terms[f"feed-forward {depth}"]
                if not pre:
                    n = layer.transform.norm
                    terms = {name: linear_part(n, term, last) for name, term in terms.items()}
                    terms[f"second norm bias {depth}"] = n.bias
            if pre:
                n = model.encoder.norm
                terms = {name: linear_part(n, term, last) for name, term in terms.items()}
                terms["norm bias"] = n.bias
            updates = {name: float(model.output.weight[label] @ t) for name, t in terms.items()}
            bias = float(model.output.bias[label])
        assert sum(updates.values()) + bias == pytest.approx(float(logits[label]))
        expected = np.zeros(length)
        for name, update in updates.items():
            if isinstance(name, tuple):
                expected += update * mixes[name[0]][name[1]]
        assert mixes[-1].sum(axis=1) == pytest.approx(1)
        assert alti_logit(model, batch)[0].numpy() == pytest.approx(expected, abs=1e-9)
