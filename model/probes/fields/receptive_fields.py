"""How well a language model's receptive fields match known dependencies
(discrete2020 section 7.1)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from model.batches.batching import Batch
from model.layers.receptive_field import receptive_field
from model.normalizers.gumbel import one_hot_argmax
from model.probes.measure import Measured, Subject, scalar


def receptive_fields(subject: Subject, tokens: int = 4096) -> Measured:
    """Compare receptive fields on the test split with the column `span_start`.

    The field of the prediction made at position i is r(i, L); its true dependency is the span from
    span_start[i] to i. BOS, an attention sink, is left out of both, and so is the first target,
    which has nothing to depend on. Precision and recall count field members over all predictions
    (micro) or average the predictions' own (macro), under the argmax of every head.
    (`model.probes.fields.weighted_field` reads the weights of soft attention instead.)

    Args:
        subject: a trained `LanguageModel` and its data.
        tokens: most tokens in a batch.

    Returns:
        Scalars of all these, the mean sizes of field and span, and the fraction of fields that
        equal their span. Arrays: that fraction by span length; and of the first test sequence its
        symbols, its spans and its weighted field, row by row.
    """
    counts = []
    shown: dict[str, list[Any]] = {}
    for batch in subject.batches(tokens):
        with torch.no_grad():
            weights = subject.model(batch.tokens[:, :-1], batch.real[:, :-1]).weights
        field = receptive_field([one_hot_argmax(w) for w in weights])[:, 1:, 1:]
        span = true_spans(batch.columns["span_start"][:, 1:-1])
        real = batch.real[:, 2:]
        counts.append(_overlap(field, span)[real])
        if 0 in batch.examples:
            shown = _example(subject, batch, span, receptive_field(weights)[:, 1:, 1:])
    hits, sizes, spans = torch.cat(counts).double().unbind(-1)
    precision, recall = hits.sum() / sizes.sum(), hits.sum() / spans.sum()
    exact = ((hits == sizes) & (hits == spans)).double()
    lengths = spans.unique()
    scalars = {
        "precision": scalar(float(precision), "fraction"),
        "recall": scalar(float(recall), "fraction"),
        "f1": scalar(float(2 * precision * recall / (precision + recall)), "fraction"),
        "precision_macro": scalar(float((hits / sizes).mean()), "fraction"),
        "recall_macro": scalar(float((hits / spans).mean()), "fraction"),
        "f1_macro": scalar(float((2 * hits / (sizes + spans)).mean()), "fraction"),
        "field_size": scalar(float(sizes.mean()), "tokens", float(sizes.std()), len(sizes)),
        "span_size": scalar(float(spans.mean()), "tokens", float(spans.std()), len(spans)),
        "exact": scalar(float(exact.mean()), "fraction", n=len(exact)),
    }
    by_length: dict[str, list[Any]] = {
        "span_length": [int(length) for length in lengths],
        "exact": [round(float(exact[spans == length].mean()), 5) for length in lengths],
        "count": [int((spans == length).sum()) for length in lengths],
    }
    return Measured(scalars, by_length | shown)


def true_spans(start: Tensor) -> Tensor:
    """Dependencies (B, T, T) from their starts (B, T): row i is 1 from start[i] to i."""
    position = torch.arange(start.shape[1], device=start.device)
    return ((position >= start[..., None]) & (position <= position[:, None])).float()


def _overlap(field: Tensor, span: Tensor) -> Tensor:
    """Sizes (B, T, 3) of the overlap of fields and spans (B, T, T), of the field, of the span."""
    return torch.stack([(field * span).sum(-1), field.sum(-1), span.sum(-1)], dim=-1)


def _example(
    subject: Subject, batch: Batch, span: Tensor, weighted: Tensor
) -> dict[str, list[Any]]:
    row = int((torch.from_numpy(batch.examples) == 0).nonzero()[0])
    symbols = [subject.corpus.vocabulary[t] for t in batch.tokens[row, 1:].tolist()]
    field = [[round(v, 4) for v in line] for line in weighted[row].tolist()]
    return {
        "example_symbols": symbols,
        "example_span": [[int(v) for v in line] for line in span[row].tolist()],
        "example_field": field,
    }
