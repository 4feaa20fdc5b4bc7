"""How well the weighted receptive fields of soft attention match known dependencies
(discrete2020 section 7.1)."""

from __future__ import annotations

import torch
from torch import Tensor

from model.batches.batching import Batch
from model.layers.receptive_field import receptive_field
from model.probes.fields.receptive_fields import true_spans
from model.probes.measure import Measured, Subject, scalar


def weighted_fields(subject: Subject, tokens: int = 4096) -> Measured:
    """Cut the weighted fields of the test split into sets and compare these with `span_start`.

    discrete2020 eq. 1 has no heads, so its field is read in three ways: with their weights summed,
    as `model.layers.receptive_field` does, averaged, or joined as independent chances are
    (`probabilistic`). Each is cut at the threshold with the best F1 of all thresholds, on the very
    split that is measured, and the best of the three counts: no cut of these fields does better.
    Positions and targets are those of `model.probes.fields.receptive_fields`, and so is the micro
    average.

    Args:
        subject: a trained `LanguageModel` and its data.
        tokens: most tokens in a batch.

    Returns:
        Scalars `precision`, `recall`, `f1` and `threshold` of the best reading, and `f1_<reading>`.
    """

    def of_batch(batch: Batch) -> dict[str, Tensor]:
        weights = subject.model(batch.tokens[:, :-1], batch.real[:, :-1]).weights
        real = batch.real[:, 2:]
        span = true_spans(batch.columns["span_start"][:, 1:-1])
        fields = {
            "summed": receptive_field(weights),
            "averaged": receptive_field([z.mean(dim=1, keepdim=True) for z in weights]),
            "probabilistic": receptive_field(weights, union="probabilistic"),
        }
        values = {name: field[:, 1:, 1:][real].flatten() for name, field in fields.items()}
        return {"member": span[real].flatten().bool(), **values}

    fields = subject.gathered(tokens, of_batch)
    member = fields.pop("member")
    cuts = {name: best_cut(values, member) for name, values in fields.items()}
    best = max(cuts.values(), key=lambda cut: cut["f1"])
    scalars = best | {f"f1_{name}": cut["f1"] for name, cut in cuts.items()}
    return Measured({name: scalar(value, "fraction") for name, value in scalars.items()}, {})


def best_cut(values: Tensor, member: Tensor) -> dict[str, float]:
    """The set {values >= threshold > 0} with the best F1 against the true set.

    Args:
        values: (N,) how strongly each candidate is in the field, 0 if not at all.
        member: (N,) whether it should be.

    Returns:
        `precision`, `recall`, `f1` and `threshold`; all 0 where no candidate is in the field.
    """
    inside = values > 0
    if not inside.any():
        return dict.fromkeys(("precision", "recall", "f1", "threshold"), 0.0)
    order = values[inside].argsort(descending=True)
    ranked, hits = values[inside][order], member[inside][order].double().cumsum(0)
    last = torch.cat([ranked[1:] < ranked[:-1], ranked.new_ones(1, dtype=torch.bool)])
    sizes, total = torch.arange(1, len(ranked) + 1, device=hits.device), member.sum()
    f1 = 2 * hits / (sizes + total)
    at = int(torch.where(last, f1, -1.0).argmax())
    return {
        "precision": float(hits[at] / sizes[at]),
        "recall": float(hits[at] / total),
        "f1": float(f1[at]),
        "threshold": float(ranked[at]),
    }
