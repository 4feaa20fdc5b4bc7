"""Logistic regression on bags of words in the place of the proxy (snell2021 appendix A.10)."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix

from model.batches.batching import BOS
from model.batches.corpus import Split
from model.probes.checkpoint_ranks import Record
from model.probes.learning.agreement import agreement
from model.probes.learning.agreements import Ways
from model.probes.measure import Measured, Subject, scalar

STRENGTHS = tuple(10.0**power for power in range(-4, 7))
"""C, the inverse strengths of the L2 penalty that are tried: ten orders of magnitude."""


def logistic_proxy(
    subject: Subject, uniform: Record | None = None, proxy: Record | None = None
) -> Measured:
    """How the words' weights of a logistic regression agree with the probe under uniform attention.

    It is fitted on the training split with the C of the highest validation accuracy (the smallest
    of the best). Nothing of the trained model is used. As in `model.probes.learning.agreements`,
    the probe is read at the checkpoint that agrees most.

    Args:
        subject: the run; only its corpus counts.
        uniform: the record of a run with uniform attention.
        proxy: of a run of the bag-of-words proxy; its last checkpoint counts.

    Returns:
        Scalars `accuracy` (%) in validation, `c`, and A as fractions: `uniform_log` with u =
        beta_log, `uniform_proxy` with u = beta_px; without a value where a record is not given.
    """
    words = len(subject.corpus.vocabulary)
    splits = {name: subject.corpus.split(name) for name in ("train", "dev")}
    weights, c, accuracy = _fitted(splits, words)
    agreed: dict[str, float | None] = {"uniform_log": None, "uniform_proxy": None}
    count = None
    if uniform is not None:
        dev = uniform.splits["dev"]
        ways, count = Ways(agreement, dev.lengths, "dev"), len(dev.lengths)
        us = {"uniform_log": beta(splits["dev"], dev.examples, weights)}
        if proxy is not None:
            us["uniform_proxy"] = proxy.splits["dev"].rows("beta", len(proxy.steps) - 1)
        agreed |= {name: float(ways.of(u, uniform, "beta").rows.mean()) for name, u in us.items()}
    return Measured(
        {
            "accuracy": scalar(accuracy, "%", n=len(splits["dev"])),
            "c": scalar(c, "1"),
            **{name: scalar(value, "fraction", n=count) for name, value in agreed.items()},
        },
        {},
    )


def bags(split: Split, words: int) -> csr_matrix:
    """Counts over the length (N, V) of each text with <bos> at both ends (snell2021 eq. 52)."""
    lengths = split.lengths
    examples = np.repeat(np.arange(len(split)), lengths)
    rows = np.concatenate([examples, np.arange(len(split))])
    columns = np.concatenate([split.tokens, np.full(len(split), BOS)])
    shares = np.concatenate([1 / (lengths[examples] + 2), 2 / (lengths + 2)])
    return coo_matrix((shares, (rows, columns)), (len(split), words)).tocsr()


def beta(split: Split, examples: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """What each word says of the right class: its weight (V,), with the sign of the class.

    Args:
        split: with the column `label`.
        examples: (N,) numbers of its examples.
        weights: (V,).

    Returns:
        (N, L + 2), <bos> at both ends of a text, 0 behind it.
    """
    lengths = split.lengths[examples]
    toward = 2.0 * split.columns["label"][examples] - 1
    inside = np.arange(lengths.max()) < lengths[:, None]
    where = (split.offsets[examples][:, None] + np.arange(lengths.max()))[inside]
    values = np.zeros((len(examples), lengths.max() + 2))
    values[:, 0] = weights[BOS]
    values[:, 1:-1][inside] = weights[split.tokens[where]]
    values[np.arange(len(examples)), lengths + 1] = weights[BOS]
    return values * toward[:, None]


def _fitted(splits: dict[str, Split], words: int) -> tuple[np.ndarray, float, float]:
    """The weights (V,) of the best regression, its C and its validation accuracy (%)."""
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

    made = {name: bags(split, words) for name, split in splits.items()}
    labels = {name: np.asarray(split.columns["label"]) for name, split in splits.items()}
    best, reached = None, -1.0
    for c in STRENGTHS:
        # The proxy has no bias either.
        tried = LogisticRegression(C=c, fit_intercept=False, max_iter=1000)
        tried.fit(made["train"], labels["train"])
        accuracy = float(tried.score(made["dev"], labels["dev"]))
        if accuracy > reached:
            best, reached = tried, accuracy
    assert best is not None
    return best.coef_[0], float(best.C), 100 * reached
