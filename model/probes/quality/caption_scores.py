"""BLEU-4, METEOR and CIDEr of captions by beam search, and of captions that ignore the image."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from model.architectures.translation.beam_search import Beam
from model.batches.captions import images_of
from model.batches.corpus import Corpus, Split, read_lines
from model.batches.pairs import EOS
from model.probes.measure import Measured, Scalar, Subject, mean_over_examples, scalar
from model.probes.quality import coco_tools
from model.probes.quality.caption_metrics import bleu, cider

IMAGES = 64
"""Images that are captioned at once."""


def caption_scores(
    subject: Subject, search: Beam, split: str = "test", shuffled: bool = False
) -> Measured:
    """Caption a test set and score the best hypotheses.

    Args:
        subject: a trained `Captioner` and its data.
        search: how to search; its lengths are those of an image's regions, so `length_ratio` is
            best 0 and `length_extra` the longest caption.
        split: the test set.
        shuffled: whether each image gets the caption of another one, by one cycle of all of them
            that the run's seed draws.

    Returns:
        See `scored`.
    """
    images = subject.corpus.split(split)
    captions = describe(subject, images, search)
    if shuffled:
        order = np.random.default_rng(subject.seed).permutation(len(captions))
        others = dict(zip(order.tolist(), np.roll(order, 1).tolist(), strict=True))
        captions = [captions[others[n]] for n in range(len(captions))]
    return scored(subject.corpus, split, captions)


def frequent_caption(subject: Subject, split: str = "test") -> Measured:
    """Score the most frequent caption of the training split as the caption of every image.

    Of several as frequent it is the first in alphabetical order.
    """
    counts = Counter(captions_of(subject.corpus, subject.corpus.split("train")))
    best = min(counts, key=lambda caption: (-counts[caption], caption))
    return scored(subject.corpus, split, [best] * len(subject.corpus.split(split)))


def describe(subject: Subject, split: Split, search: Beam) -> list[str]:
    """The best caption of every image, in words, in the order of the split."""
    model: Any = subject.model
    words, captions = subject.corpus.vocabulary, []
    with torch.no_grad():
        for chosen in np.array_split(np.arange(len(split)), -(-len(split) // IMAGES)):
            images, counts = images_of(split, chosen)
            images = images.to(subject.device)
            regions = model.regions(images, None if counts is None else counts.to(subject.device))
            best = search.search(model, images, regions).best()
            captions += [" ".join(words[token] for token in caption) for caption in best]
    return captions


def captions_of(corpus: Corpus, split: Split) -> list[str]:
    """The captions of all images of a split in words, as the model reads them."""
    captions = []
    for caption in np.split(split.tokens, np.flatnonzero(split.tokens[:-1] == EOS) + 1):
        captions.append(" ".join(corpus.vocabulary[token] for token in caption[:-1]))
    return captions


def scored(corpus: Corpus, split: str, hypotheses: Sequence[str]) -> Measured:
    """Score one caption an image against the references as they were written.

    Returns:
        Scalars `bleu_4`, `cider` and `meteor`, all times 100, the last a text where Java or the
        official package is missing; and `exact`, the percentage of captions that are equal to a
        reference. Arrays in the order of the split: `hypotheses`; `references`, separated by tabs;
        `cider` and `exact` of each image; and `made_by`, what split the words.

    Raises:
        ValueError: the corpus lacks the references, or has another number of them.
    """
    lines = read_lines(corpus, split, "references")
    references = [line.split("\t") for line in lines]
    sizes = np.cumsum([len(those) for those in references])
    flat = coco_tools.split_words([*hypotheses, *(one for those in references for one in those)])
    mine, others = flat[: len(hypotheses)], flat[len(hypotheses) :]
    theirs = [others[end - len(those) : end] for those, end in zip(references, sizes, strict=True)]
    by_image = cider(mine, theirs)
    exact = [100.0 * (own in those) for own, those in zip(mine, theirs, strict=True)]
    missing = coco_tools.lacking()
    n = len(hypotheses)
    meteor: Scalar = {"value": f"needs {missing}", "unit": "x100"}
    if not missing:
        joined = [[" ".join(one) for one in those] for those in theirs]
        meteor = scalar(coco_tools.meteor([" ".join(one) for one in mine], joined), "x100", n=n)
    scalars = {
        "bleu_4": scalar(bleu(mine, theirs), "x100", n=n),
        "cider": mean_over_examples(by_image, "x100"),
        "meteor": meteor,
        "exact": scalar(float(np.mean(exact)), "%", n=n),
    }
    arrays: dict[str, list[Any]] = {
        "hypotheses": list(hypotheses),
        "references": lines,
        "cider": by_image.tolist(),
        "exact": exact,
        "made_by": [f"words split without {missing}" if missing else "words split by Java"],
    }
    return Measured(scalars, arrays)
