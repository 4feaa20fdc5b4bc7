"""Explanations against the truth, and against what deletion says of them.

What a prediction with discrete attention depends on is known (`model.probes.fields.influence`); so
is how well a method ranks the tokens, and whether comprehensiveness and sufficiency
(`model.probes.importance.deletion`) rank the methods as the truth does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from model.batches.batching import Batch, collate, plan_batches
from model.batches.shortening import shortened
from model.probes.fields.influence import influence, words_to_try
from model.probes.importance.deletion import PERCENT, kept_parts, places
from model.probes.importance.explanations import explanations
from model.probes.importance.translation import evenly_spaced
from model.probes.kendall import tau_b
from model.probes.measure import Measured, Scalar, Subject, mean_over_examples, scalar
from model.probes.next_symbol import as_classifier, beginnings, cut

CONTROL = "random"
"""The ranking by chance, which is no method."""

UNITS = {"effect": "tau", "comprehensiveness": "probability", "sufficiency": "probability"}
"""By the beginning of a metric's name; of the others, fractions."""


def attribution(
    subject: Subject,
    examples: int = 100,
    replacements: int = 64,
    steps: int = 20,
    seed: int = 0,
    tokens: int = 4096,
) -> Measured:
    """How well explanations find the tokens that a prediction depends on.

    Three truths. A token matters if it is in the effective field or if a word in its place changes
    the prediction; it is read if it is in the field; its effect is how far words in its place move
    the predicted distribution on average. The larger a score, whatever its sign, the earlier its
    token in the ranking. Where all tokens are in the truth, as in the field of soft attention, or
    none, a text has no average precision.

    Args:
        subject: a trained `Classifier` and its data; or a `LanguageModel`, which classifies what
            follows the beginning of a sequence, of a length that is drawn.
        examples: so many of the test split, at equal distances.
        replacements: words tried in the place of a token; the truth is exact if the vocabulary has
            no more.
        steps: of integrated gradients.
        seed: draws the words, the control, and the order of ties.
        tokens: most tokens in a batch.

    Returns:
        Scalars, for each method of `explanations` and for `random`, all means over examples:
        `matters_<method>` and `field_<method>`, the average precision of the ranking;
        `effect_<method>`, its Kendall's tau-b with the effect; `comprehensiveness_<method>` and
        `sufficiency_<method>` as `deletion` has them. `matters` and `field`, the shares of such
        tokens. `<truth>_by_<measure>`: Kendall's tau-b over the methods between one of the first
        three and one of the last two, sufficiency with its sign turned, so that 1 says that they
        agree.
    """
    random = np.random.default_rng(seed)
    subject = subject._replace(model=as_classifier(subject.model))
    split, methods = subject.corpus.split("test"), explanations(steps)
    words = words_to_try(len(subject.corpus.vocabulary), replacements, seed).to(subject.device)
    found: dict[str, list[np.ndarray]] = {}
    lengths = beginnings(subject.model, split.lengths + 1, np.random.default_rng(seed))
    chosen = evenly_spaced(len(split), examples)
    order = chosen[np.argsort(lengths[chosen], kind="stable")]
    for part in plan_batches(lengths, order, {"tokens": tokens}):
        batch = cut(collate(split, part), lengths[part]).to(subject.device)
        inner = batch.real.clone()
        inner[:, 0] = False
        matters, field, effect = truths(subject, batch, words)
        scores = {name: explain(subject.model, batch).abs() for name, explain in methods.items()}
        scores[CONTROL] = torch.from_numpy(random.random(inner.shape)).to(subject.device)
        size = inner.sum(dim=1)
        of_batch = {"matters": matters.sum(dim=1) / size, "field": field.sum(dim=1) / size}
        for name, values in scores.items():
            needed, lacking = falls(subject, batch, values, random)
            of_batch |= {
                f"matters_{name}": average_precision(values, matters, inner),
                f"field_{name}": average_precision(values, field, inner),
                f"effect_{name}": tau_with(values[:, 1:], effect[:, 1:], size),
                f"comprehensiveness_{name}": needed,
                f"sufficiency_{name}": lacking,
            }
        for name, values in of_batch.items():
            found.setdefault(name, []).append(values.double().cpu().numpy())
    scalars = {
        name: mean_over_examples(np.concatenate(parts), UNITS.get(name.split("_")[0], "fraction"))
        for name, parts in found.items()
    }
    for truth in ("matters", "field", "effect"):
        for measure, sign in (("comprehensiveness", 1), ("sufficiency", -1)):
            agreement = agreement_over(scalars, list(methods), truth, measure, sign)
            scalars[f"{truth}_by_{measure}"] = agreement
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


def truths(subject: Subject, batch: Batch, words: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Which tokens (B, T) of a batch matter, which are read, and their effect.

    All is 0 at <cls> (or BOS) and padding.
    """
    found = torch.zeros(3, *batch.tokens.shape, dtype=torch.double, device=batch.tokens.device)
    for row, length in enumerate(batch.real.sum(dim=1).tolist()):
        of_text = influence(subject.model, batch.tokens[row, :length], words)
        parts = (of_text.matters, of_text.field, of_text.mean)
        for kept, values in zip(found, parts, strict=True):
            kept[row, 1:length] = values[1:].double()
    return found[0] > 0, found[1] > 0, found[2]


def tau_with(scores: Tensor, effect: Tensor, lengths: Tensor) -> Tensor:
    """Kendall's tau-b (B,) of scores and effects, both (B, T)."""
    return torch.from_numpy(
        tau_b(scores.cpu().numpy(), effect.cpu().numpy(), lengths.cpu().numpy())
    )


def falls(
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


def agreement_over(
    scalars: Mapping[str, Scalar], methods: Sequence[str], truth: str, measure: str, sign: int
) -> Scalar:
    """Kendall's tau-b over the methods between a truth and a measure times a sign."""
    true, said = (
        np.array([[scalars[f"{name}_{method}"]["value"] for method in methods]], dtype=float)
        for name in (truth, measure)
    )
    (tau,) = tau_b(true, sign * said, np.array([len(methods)]))
    return scalar(None if np.isnan(tau) else float(tau), "tau", n=len(methods))
