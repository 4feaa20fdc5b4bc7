"""Do measures of deletion rank explanations as the truth does, those of today among them?

As `model.probes.importance.attribution`, which explains its parts, for eleven methods and of one
truth: the effect of other words in the place of a token.
"""

from __future__ import annotations

import numpy as np
import torch

from model.batches.batching import collate, plan_batches
from model.probes.fields.influence import words_to_try
from model.probes.importance.alti_logit import alti_logit
from model.probes.importance.attnlrp import attnlrp
from model.probes.importance.attribution import (
    CONTROL,
    UNITS,
    agreement_over,
    falls,
    tau_with,
    truths,
)
from model.probes.importance.explanations import Explanation, explanations
from model.probes.importance.gim import gim
from model.probes.importance.translation import evenly_spaced
from model.probes.measure import Measured, Subject, mean_over_examples
from model.probes.next_symbol import as_classifier, beginnings, cut


def all_explanations(steps: int) -> dict[str, Explanation]:
    """The eight of `explanations`, AttnLRP, GIM and ALTI-Logit."""
    return {**explanations(steps), "attnlrp": attnlrp, "gim": gim, "alti_logit": alti_logit}


def explanation_ranks(
    subject: Subject,
    examples: int = 100,
    replacements: int = 64,
    steps: int = 20,
    seed: int = 0,
    tokens: int = 4096,
) -> Measured:
    """How well eleven explanations rank tokens, and whether deletion ranks the eleven alike.

    Args: as of `attribution`, with the same texts and words.

    Returns:
        Scalars, for each method and for `random`, means over examples: `effect_<method>`,
        `comprehensiveness_<method>`, `sufficiency_<method>`. `effect_by_comprehensiveness` and
        `effect_by_sufficiency`: Kendall's tau-b over the methods.
    """
    random = np.random.default_rng(seed)
    subject = subject._replace(model=as_classifier(subject.model))
    split, methods = subject.corpus.split("test"), all_explanations(steps)
    words = words_to_try(len(subject.corpus.vocabulary), replacements, seed).to(subject.device)
    lengths = beginnings(subject.model, split.lengths + 1, np.random.default_rng(seed))
    chosen = evenly_spaced(len(split), examples)
    order = chosen[np.argsort(lengths[chosen], kind="stable")]
    parts: dict[str, list[np.ndarray]] = {}
    for some in plan_batches(lengths, order, {"tokens": tokens}):
        batch = cut(collate(split, some), lengths[some]).to(subject.device)
        effect, size = truths(subject, batch, words)[2], batch.real.sum(dim=1) - 1
        scores = {name: explain(subject.model, batch).abs() for name, explain in methods.items()}
        chance = torch.from_numpy(random.random(batch.tokens.shape)).to(subject.device)
        for name, values in {**scores, CONTROL: chance}.items():
            needed, lacking = falls(subject, batch, values, random)
            of_batch = {
                f"effect_{name}": tau_with(values[:, 1:], effect[:, 1:], size),
                f"comprehensiveness_{name}": needed,
                f"sufficiency_{name}": lacking,
            }
            for metric, found in of_batch.items():
                parts.setdefault(metric, []).append(found.double().cpu().numpy())
    scalars = {
        name: mean_over_examples(np.concatenate(found), UNITS[name.split("_")[0]])
        for name, found in parts.items()
    }
    for measure, sign in (("comprehensiveness", 1), ("sufficiency", -1)):
        agreement = agreement_over(scalars, list(methods), "effect", measure, sign)
        scalars[f"effect_by_{measure}"] = agreement
    return Measured(scalars, {})
