"""Which words translate into which class, by the count table of IBM Model 1
(snell2021 figure 4)."""

from __future__ import annotations

import numpy as np

from model.batches.corpus import Split
from model.probes.learning.ibm_model_1 import count_table, translations
from model.probes.measure import Measured, Subject, scalar

FIRST_WORD = 3
"""Ids below are <pad>, <bos> and <unk>."""


def polarity(subject: Subject, shown: int = 6, least: int = 20, share: float = 0.003) -> Measured:
    """The words that say most of a class, and how often attention could go by them.

    C of snell2021 eq. 13 is made of the training split, where the output is one word, the label;
    the polarity of a word is Trans(1 | word) (snell2021 eq. 14).

    Args:
        subject: the run; only its corpus counts.
        shown: words of each class to list.
        least: texts that such a word must occur in, since Trans of a rare word says little.
        share: of all texts, likewise.

    Returns:
        Scalar `salient_hit`, where the corpus knows its salient words: the share of development
        texts in which one of them is the most polar word toward the text's class.
        Arrays `word`, the most polar words of label 1 and of label 0, and `counts`, C of each for
        labels 1 and 0, per thousand texts.
    """
    words, train = len(subject.corpus.vocabulary), subject.corpus.split("train")
    texts = [text.tolist() for text in np.split(train.tokens, train.offsets[1:-1])]
    labels = train.columns["label"][:, None].tolist()
    counts = count_table(zip(texts, labels, strict=True), words, 2)
    trans = translations(counts)
    occurs = np.bincount(np.concatenate([np.unique(text) for text in texts]), minlength=words)
    often = occurs >= max(least, share * len(texts))
    known = np.flatnonzero(often & (np.arange(words) >= FIRST_WORD))
    ordered = known[np.argsort(-trans[known, 1], kind="stable")]
    chosen = ordered if len(ordered) <= 2 * shown else [*ordered[:shown], *ordered[-shown:]]
    names = [subject.corpus.vocabulary[word] for word in chosen]
    scalars = {}
    dev = subject.corpus.split("dev")
    if "salient" in dev.columns:
        hits = _hits(dev, trans)
        scalars["salient_hit"] = scalar(float(hits.mean()), "fraction", n=len(hits))
    per_thousand = (1000 * counts[chosen] / len(texts))[:, ::-1].round(6)
    return Measured(scalars, {"word": names, "counts": per_thousand.tolist()})


def _hits(split: Split, trans: np.ndarray) -> np.ndarray:
    """Whether the most polar word of each text (N,) is salient."""
    hits = []
    for n, label in enumerate(split.columns["label"]):
        own = slice(split.offsets[n], split.offsets[n + 1])
        most = trans[split.tokens[own], label].argmax()
        hits.append(bool(split.columns["salient"][own][most]))
    return np.array(hits)
