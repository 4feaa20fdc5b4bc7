"""Does a translator's attention point at the source words that matter?
(kinley2020 section 5.4, table 6.2).

The thesis correlates attention received with gradient importance, once per example. A translation
makes a prediction at every target position, and each has attention and gradients of its own: tau
is taken for each prediction and averaged over those of a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from model.batches.batching import plan_batches
from model.batches.pairs import PairBatch, bucketed, collate_pairs, pair_lengths
from model.probes.kendall import tau_b
from model.probes.measure import Measured, Scalar, Subject, mean_over_examples, rounded, scalar


class PredictionScores(NamedTuple):
    """Scores (B, S) of the source tokens for the predictions at one target position.

    Attributes:
        predicted: (B,), true where the sentence has a target token at this position.
        attention: what each source token receives on the way to the prediction, summed over layers
            and heads: from all real queries of the encoder, and from the decoder's positions up to
            this one.
        cross: the part of it that comes from this very position of the decoder.
        norm: || d y_hat / d h0_j ||_2, y_hat being the probability of the predicted word.
    """

    predicted: Tensor
    attention: Tensor
    cross: Tensor
    norm: Tensor


def prediction_scores(model: Any, batch: PairBatch) -> Iterator[PredictionScores]:
    """The scores for every target position in turn; the references are what stands before it.

    One backward pass serves a position of all sentences: they are independent in evaluation mode.

    Args:
        model: a `Translator`, in evaluation mode.
        batch: B pairs.
    """
    h0 = model.source(batch.source).detach().requires_grad_()
    source, target = batch.source_layout, batch.layout
    states, weights = model(
        batch.source, source, batch.tokens[:, :-1], target, h0=h0, need_weights=True
    )
    y_hat = model.logits(states).softmax(dim=-1).amax(dim=-1)
    queries = source.real[:, None, :, None]
    encoder = torch.stack([(w.detach() * queries).sum(dim=(1, 2)) for w in weights.encoder]).sum(0)
    cross = torch.stack([w.detach().sum(dim=1) for w in weights.cross]).sum(0)  # (B, T, S)
    so_far = encoder[:, None] + cross.cumsum(dim=1)
    last = cross.shape[1] - 1
    for position in range(last + 1):
        asked = y_hat[target.columns == position].sum()
        (gradient,) = torch.autograd.grad(asked, h0, retain_graph=position < last)
        yield PredictionScores(
            target.real[:, position],
            so_far[:, position],
            cross[:, position],
            gradient.norm(dim=-1),
        )


def translation_importance(subject: Subject, sentences: int = 500, tokens: int = 2048) -> Measured:
    """Kendall's tau-b between attention that source tokens receive and their importance.

    EOS and padding are left out. Predictions for which either ranking is all ties have no tau;
    they are counted in `undefined`, and sentences of such predictions alone are left out.

    Args:
        subject: a trained `Translator` and its data.
        sentences: so many of the test split, at equal distances, the same for every run.
        tokens: most tokens of a batch, on the longer side.

    Returns:
        Scalars `tau_norm`, by all attention, and `tau_norm_cross`, by that of the predicting
        position to the encoder alone: mean and standard deviation over sentences of the mean over
        a sentence's predictions; and `undefined_..` of both. Arrays `sentence`, numbers in the
        test split, and `tau_norm` and `tau_norm_cross` of each, NaN as None.
    """
    split = subject.corpus.split("test")
    chosen = evenly_spaced(len(split), sentences)
    lengths = pair_lengths(split)
    names = {"tau_norm": "attention", "tau_norm_cross": "cross"}
    sums = {name: np.zeros(len(split)) for name in names}
    known = {name: np.zeros(len(split), np.int64) for name in names}
    undefined = dict.fromkeys(names, 0)
    order = bucketed(lengths, chosen, tokens)
    for examples in plan_batches(lengths.max(axis=1), order, {"tokens": tokens}):
        batch = collate_pairs(split, examples).to(subject.device)
        words = lengths[examples, 0] - 1
        for scores in prediction_scores(subject.model, batch):
            rows = scores.predicted.cpu().numpy()
            norm = scores.norm.cpu().numpy()[rows]
            for name, field in names.items():
                received = getattr(scores, field).cpu().numpy()[rows]
                tau = tau_b(received, norm, words[rows])
                sums[name][examples[rows]] += np.nan_to_num(tau)
                known[name][examples[rows]] += ~np.isnan(tau)
                undefined[name] += int(np.isnan(tau).sum())
    scalars: dict[str, Scalar] = {}
    arrays: dict[str, list[Any]] = {"sentence": chosen.tolist()}
    for name in names:
        with np.errstate(invalid="ignore"):
            mean = (sums[name] / known[name])[chosen]
        scalars[name] = mean_over_examples(mean, "tau")
        scalars[f"undefined_{name}"] = scalar(undefined[name], "predictions")
        arrays[name] = rounded(mean, 5)
    return Measured(scalars, arrays)


def evenly_spaced(count: int, wanted: int) -> np.ndarray:
    """At most `wanted` of the numbers below `count`, in order and at equal distances."""
    wanted = min(wanted, count)
    return np.arange(wanted) * count // wanted
