"""What co-occurrence says of how to copy: the count table, and the proxy
(snell2021 section 3.3, 4)."""

from __future__ import annotations

import numpy as np
import torch

from model.batches.corpus import Split
from model.probes.learning.ibm_model_1 import alignment, count_table, translations
from model.probes.measure import Measured, Subject, scalar

FIRST_SYMBOL = 4
"""Ids below are <pad>, <bos>, <unk> and the end symbol."""


def copying_proxy(subject: Subject) -> Measured:
    """How much the count table and the trained proxy know of which symbol becomes which.

    The symbol that a symbol of a copy comes from is itself. Alignment is the share of the right
    position in the probabilities that the symbols of the input give to one symbol of the copy
    (snell2021 eq. 16); without any knowledge it is 1 / T.

    Args:
        subject: a trained `LexicalProxy` and its data, permutations to be copied.

    Returns:
        Scalars `ibm_translation` and `proxy_translation`, the probability that a symbol gives to
        itself, a mean over symbols; `ibm_alignment`, `proxy_alignment` and `uniform_alignment`,
        means over the test split.
        Arrays `symbol`, and `counts`, C of the train split divided by its number of sequences, a
        row for each input symbol.
    """
    train, test = (_sequences(subject.corpus.split(name)) for name in ("train", "test"))
    names = subject.corpus.vocabulary[FIRST_SYMBOL:]
    size = len(names)
    counts = count_table(zip(train, train, strict=True), size, size)
    with torch.no_grad():
        theta = subject.model.of_words()  # type: ignore[operator]
    proxy = theta[FIRST_SYMBOL:, FIRST_SYMBOL:].double().cpu().numpy()
    scalars = {}
    for name, trans in (("ibm", translations(counts)), ("proxy", proxy)):
        of_itself = float(trans.diagonal().mean())
        right = float(np.mean([alignment(trans, x, x).diagonal().mean() for x in test]))
        scalars[f"{name}_translation"] = scalar(of_itself, "fraction", n=size)
        scalars[f"{name}_alignment"] = scalar(right, "fraction", n=len(test))
    scalars["uniform_alignment"] = scalar(1 / test.shape[1], "fraction")
    per_sequence = (counts / len(train)).round(6)
    return Measured(scalars, {"symbol": names, "counts": per_sequence.tolist()})


def _sequences(split: Split) -> np.ndarray:
    """The sequences (N, T) without the end symbol, their symbols counted from 0."""
    sequences: np.ndarray = split.tokens.reshape(len(split), -1)[:, :-1] - FIRST_SYMBOL
    return sequences
