"""Does attention point at what matters? Attention against gradient importance
(kinley2020 section 5.4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from model.batches.batching import Batch
from model.probes.kendall import tau_b
from model.probes.measure import Measured, Subject, mean_over_examples, rounded, scalar


class TokenScores(NamedTuple):
    """Scores (B, T) of the tokens of a batch; <cls> and padding have no meaning in them.

    Attributes:
        attention: what each token receives, summed over layers, heads and real queries.
        norm: || d y_hat / d h0_j ||_2, the importance of the thesis.
        dot: | sum_d (d y_hat / d e_jd) e_jd | with the attention held fixed, the importance of
            the authors' code; e is the model stream's token embedding.
    """

    attention: Tensor
    norm: Tensor
    dot: Tensor


def token_scores(model: nn.Module, batch: Batch) -> TokenScores:
    """Attention received by, and importance of, each token for y_hat, the predicted probability.

    One backward pass serves a whole batch: in evaluation mode the examples are independent, so
    the gradient of the sum of their y_hat is each example's own. The model is a `Classifier`.
    Attention is the normalizer's weights as they are in use (one-hot under Gumbel; in two streams
    the controller's), summed over layers, heads and real queries.
    """
    encoder: Any = model.encoder
    h0 = encoder.embedding(batch.tokens).detach().requires_grad_()
    prediction = model(batch.tokens, batch.real, h0=h0)
    gradient = _gradient(prediction.logits, h0)
    fixed = [w.detach() for w in prediction.weights]
    held = model(batch.tokens, batch.real, h0=h0, routing=fixed)
    embedded = encoder.embedding.tokens(batch.tokens).detach()
    queries = batch.real[:, None, :, None]
    return TokenScores(
        attention=sum((w * queries).sum(dim=(1, 2)) for w in fixed),
        norm=gradient.norm(dim=-1),
        dot=(_gradient(held.logits, h0) * embedded).sum(-1).abs(),
    )


def attention_importance(subject: Subject, tokens: int = 8192) -> Measured:
    """Kendall's tau-b between attention received and importance, per test example.

    <cls> and padding are left out. Examples in which either ranking is all ties have no tau; they
    are counted in `undefined` and left out of the mean.

    Returns:
        Scalars `tau_norm` and `tau_dot`: mean and standard deviation over examples. Arrays of the
        same names: each example's tau in the order of the test split, NaN as None.
    """
    split = subject.corpus.split("test")
    taus = {name: np.full(len(split), np.nan) for name in ("tau_norm", "tau_dot")}
    for batch in subject.batches(tokens):
        scores = token_scores(subject.model, batch)
        attention, *importances = (values.detach().cpu().numpy()[:, 1:] for values in scores)
        lengths = batch.real.sum(dim=1).cpu().numpy() - 1
        for tau, importance in zip(taus.values(), importances, strict=True):
            tau[batch.examples] = tau_b(attention, importance, lengths)
    scalars = {}
    for name, tau in taus.items():
        scalars[name] = mean_over_examples(tau, "tau")
        scalars[f"undefined_{name}"] = scalar(int(np.isnan(tau).sum()), "examples")
    return Measured(scalars, {name: rounded(tau, 5) for name, tau in taus.items()})


def salience(subject: Subject, tokens: int = 8192) -> Measured:
    """How often the top token is one known to decide the class (the column `salient`).

    Returns:
        Fractions of test examples whose most important token (`importance_hit`, by gradient norm)
        and most attended token (`attention_hit`) are salient, and the fraction of salient tokens,
        which is what a random choice would hit (`chance`).
    """
    important, attended, chance = [], [], []
    for _, (attention, norm, _), columns in _per_example(subject, tokens):
        salient = columns["salient"]
        important.append(salient[norm.argmax()])
        attended.append(salient[attention.argmax()])
        chance.append(salient.mean())
    return Measured(
        {
            "importance_hit": scalar(float(np.mean(important)), "fraction", n=len(important)),
            "attention_hit": scalar(float(np.mean(attended)), "fraction", n=len(attended)),
            "chance": scalar(float(np.mean(chance)), "fraction", n=len(chance)),
        },
        {},
    )


def _per_example(
    subject: Subject, tokens: int
) -> Iterator[tuple[int, tuple[np.ndarray, ...], dict[str, np.ndarray]]]:
    """Number, token scores and per-token columns of every test example, its own tokens only."""
    for batch in subject.batches(tokens):
        scores = [values.detach().cpu().numpy() for values in token_scores(subject.model, batch)]
        real = batch.real.cpu().numpy()
        columns = {n: c.cpu().numpy() for n, c in batch.columns.items() if c.ndim == 2}
        for row, example in enumerate(batch.examples):
            inner = np.flatnonzero(real[row])[1:]
            yield (
                int(example),
                tuple(values[row, inner] for values in scores),
                {name: column[row, inner] for name, column in columns.items()},
            )


def _gradient(logits: Tensor, h0: Tensor) -> Tensor:
    """Gradient (B, T, D) at h0 of every example's predicted probability."""
    y_hat = logits.softmax(dim=-1).amax(dim=-1)
    return torch.autograd.grad(y_hat.sum(), h0)[0]
