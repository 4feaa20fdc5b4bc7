"""Explanations against the truth, and against what deletion says of them.

Which tokens a prediction with discrete attention depends on is known
(`model.probes.fields.influence`); so is how well a method ranks them, and whether comprehensiveness
and sufficiency (`model.probes.importance.deletion`) rank the methods as the truth does.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from model.batches.batching import Batch, collate, plan_batches
from model.probes.fields.influence import field_and_flips, words_to_try
from model.probes.importance.deletion import PERCENT, kept_parts, places, shortened
from model.probes.importance.explanations import explanations
from model.probes.importance.translation import evenly_spaced
from model.probes.kendall import tau_b
from model.probes.measure import Measured, Scalar, Subject, mean_over_examples, scalar

CONTROL = "random"
"""The ranking by chance, which is no method."""


def attribution(
    subject: Subject,
    examples: int = 100,
    replacements: int = 512,
    steps: int = 20,
    seed: int = 0,
    tokens: int = 4096,
) -> Measured:
    """How well explanations find the tokens that a prediction depends on.

    A token is in the truth if it is in the effective field or if a word in its place changes the
    prediction. The larger a score, whatever its sign, the earlier its token in the ranking. A text
    has no average precision where all tokens are in the truth, as with soft attention, or none.

    Args:
        subject: a trained `Classifier` and its data.
        examples: so many of the test split, at equal distances.
        replacements: words tried in the place of a token outside the field; the truth is exact if
            the vocabulary has no more.
        steps: of integrated gradients.
        seed: draws the words, the control, and the order of ties.
        tokens: most tokens in a batch.

    Returns:
        Scalars, for each method of `explanations` and for `random`: `ap_<method>`, the average
        precision; `comprehensiveness_<method>` and `sufficiency_<method>` as `deletion` has them;
        all means over examples. `truth` and `flips`, shares of tokens that are in the truth, and
        that are in it outside the field. `tau_comprehensiveness` and `tau_sufficiency`: Kendall's
        tau-b over the methods between the mean average precision and comprehensiveness, or
        sufficiency with its sign turned, so that 1 says that they agree.
    """
    random = np.random.default_rng(seed)
    split, methods = subject.corpus.split("test"), explanations(steps)
    words = words_to_try(len(subject.corpus.vocabulary), replacements, seed).to(subject.device)
    found: dict[str, list[np.ndarray]] = {}
    lengths = split.lengths + 1
    chosen = evenly_spaced(len(split), examples)
    order = chosen[np.argsort(lengths[chosen], kind="stable")]
    for part in plan_batches(lengths, order, {"tokens": tokens}):
        batch = collate(split, part).to(subject.device)
        inner = batch.real.clone()
        inner[:, 0] = False
        field, flips = _truth(subject, batch, words)
        truth = (field | flips) & inner
        of_batch = {
            "truth": truth.sum(1) / inner.sum(1),
            "flips": (flips & inner).sum(1) / inner.sum(1),
        }
        scores = {name: explain(subject.model, batch).abs() for name, explain in methods.items()}
        scores[CONTROL] = torch.from_numpy(random.random(inner.shape)).to(subject.device)
        for name, values in scores.items():
            of_batch[f"ap_{name}"] = average_precision(values, truth, inner)
            needed, lacking = _drops(subject, batch, values, random)
            of_batch[f"comprehensiveness_{name}"] = needed
            of_batch[f"sufficiency_{name}"] = lacking
        for name, values in of_batch.items():
            found.setdefault(name, []).append(values.double().cpu().numpy())
    units = {"comprehensiveness": "probability", "sufficiency": "probability"}
    scalars = {
        name: mean_over_examples(np.concatenate(parts), units.get(name.split("_")[0], "fraction"))
        for name, parts in found.items()
    }
    for measure, sign in (("comprehensiveness", 1), ("sufficiency", -1)):
        scalars[f"tau_{measure}"] = _agreement(scalars, list(methods), measure, sign)
    return Measured(scalars, {})


def average_precision(scores: Tensor, truth: Tensor, inner: Tensor) -> Tensor:
    """The mean, over the tokens of the truth, of the precision of all that score no less.

    Args:
        scores: (B, T).
        truth: (B, T) booleans, within `inner`.
        inner: (B, T), true at the tokens that are ranked.

    Returns:
        (B,); NaN where the truth has no token, or all.
    """
    above = (scores[:, None] >= scores[:, :, None]) & inner[:, None]
    precision = (above & truth[:, None]).sum(-1) / above.sum(-1).clamp(min=1)
    size = truth.sum(-1)
    mean = (precision * truth).sum(-1) / size
    return mean.masked_fill((size == 0) | (size == inner.sum(-1)), torch.nan)


def _truth(subject: Subject, batch: Batch, words: Tensor) -> tuple[Tensor, Tensor]:
    """Field and flips (B, T) of every text of a batch, false at padding."""
    both = torch.zeros(2, *batch.tokens.shape, dtype=torch.bool, device=batch.tokens.device)
    for row, length in enumerate(batch.real.sum(dim=1).tolist()):
        found = field_and_flips(subject.model, batch.tokens[row, :length], words)
        both[:, row, :length] = torch.stack(found)
    return both[0], both[1]


def _drops(
    subject: Subject, batch: Batch, scores: Tensor, random: np.random.Generator
) -> tuple[Tensor, Tensor]:
    """Comprehensiveness and sufficiency (B,) of a ranking, means over `PERCENT`."""
    place = places(scores.cpu().numpy(), batch.real.cpu().numpy(), random)
    with torch.no_grad():
        whole = _probabilities(subject, batch.tokens, batch.real)
        label = whole.argmax(dim=-1, keepdim=True)
        drops = [
            (whole - _probabilities(subject, *shortened(batch, kept))).gather(1, label)[:, 0]
            for percent in PERCENT
            for kept in kept_parts(place, percent)
        ]
    return torch.stack(drops[0::2]).mean(dim=0), torch.stack(drops[1::2]).mean(dim=0)


def _probabilities(subject: Subject, tokens: Tensor, real: Tensor) -> Tensor:
    logits: Tensor = subject.model(tokens, real, need_weights=False).logits
    return logits.double().softmax(dim=-1)


def _agreement(scalars: dict[str, Scalar], methods: list[str], measure: str, sign: int) -> Scalar:
    """Kendall's tau-b over the methods between average precision and a measure times a sign."""
    precision, other = (
        np.array([[scalars[f"{name}_{method}"]["value"] for method in methods]], dtype=float)
        for name in ("ap", measure)
    )
    (tau,) = tau_b(precision, sign * other, np.array([len(methods)]))
    return scalar(None if np.isnan(tau) else float(tau), "tau", n=len(methods))
