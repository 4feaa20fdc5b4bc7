"""What a copying model learns first: words, or where to look (004, sections 3.2 and 3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from model.batches.batching import in_order
from model.objectives.copying_dynamics import Dynamics, dynamics
from model.probes.measure import Measured, Subject, scalar


def copying_dynamics(
    subject: Subject,
    history: Sequence[Mapping[str, Any]],
    known: float = 0.5,
    tokens: int = 512,
) -> Measured:
    """How far attention and the lexical probe find the symbol to copy, and which does so first.

    Args:
        subject: a trained `MultiheadCopyingModel` and its data.
        history: of a run with the objective `CopyingDynamics`, whose batches are new to the model.
        known: fraction of symbols from which on something counts as known.
        tokens: most tokens in a batch.

    Returns:
        Scalars `attended`, `lexical` and `agreement`, fractions of the test split's symbols (see
        `Dynamics`); `attended_at` and `lexical_at`, the first update recorded with more than
        `known` (None without one); `lexical_first`, 1 where the latter is the earlier or the only
        one, else 0, None where nothing is known by the end. Arrays `step` and, one value a recorded
        row, `attended_curve`, `lexical_curve` and `agreement_curve`.
    """
    found: dict[str, list[torch.Tensor]] = {name: [] for name in Dynamics._fields}
    for batch in in_order(subject.corpus.split("test"), tokens, subject.device):
        of_batch = dynamics(subject.model, batch.tokens[:, 1:], batch.tokens[:, :-1])  # type: ignore[arg-type]
        for name, value in of_batch._asdict().items():
            found[name].append(value.mean(dim=1).double())
    examples = len(subject.corpus.split("test"))
    scalars = {
        name: scalar(float(torch.cat(values).mean()), "fraction", n=examples)
        for name, values in found.items()
    }
    rows = [row for row in history if row["split"] == "train"]
    at = {
        name: next((row["step"] for row in rows if row[name] > known), None)
        for name in ("attended", "lexical")
    }
    first = None
    if at["lexical"] is not None or at["attended"] is not None:
        never = float("inf")
        first = float((at["lexical"] or never) < (at["attended"] or never))
    scalars |= {f"{name}_at": scalar(step, "updates") for name, step in at.items()}
    scalars["lexical_first"] = scalar(first, "fraction")
    return Measured(
        scalars,
        {
            "step": [row["step"] for row in rows],
            **{f"{name}_curve": [row[name] for row in rows] for name in Dynamics._fields},
        },
    )
